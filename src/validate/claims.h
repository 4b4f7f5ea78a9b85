// What papers claim of strategies of training, beside what is predicted for their configuration.
//
// A claim has the headline of its paper, a class, and either the reason why it is not predicted or
//
//   specification   of the paper's configuration (estimate/spec.h)
//   than            fields of it that differ in the paper's baseline, for ratios
//   figure          what is compared:
//     mfu, tflops        of the specification; TFLOP/s per accelerator
//     causal_tflops      the same of the pairs of tokens that a causal mask leaves alone
//     longest            tokens of the longest sequence that fits, in steps of an eighth
//     tokens             tokens/s per accelerator
//     speedup            step time of the baseline / step time, both per token
//     states_ratio       bytes of weights, gradients and optimizer states of the fullest rank, of
//                        the baseline / of the specification
//     memory_ratio       bytes of the fullest rank at its peak, likewise
//     replica_bytes_ratio  bytes that a step sends between replicas, of the baseline / of the
//                        specification
//     context_bytes_ratio  bytes that a context-parallel rank sends in a step, over a link that
//                        works in both directions those of the busier one, of the baseline / of the
//                        specification
//
// With p the prediction, c the published value and b the band, a claim holds if
//
//   strict        |p / c - 1| <= b
//   loose         1 / (1 + b) <= p / c <= 1 + b; of a ratio p > 1, and (p - 1) / (c - 1) in place
//                 of p / c, so that c has to be above 1
//   upper bound   p <= c (1 + b)
//
// Informational claims are shown and not judged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "document/fields.h"
#include "document/value.h"
#include "outcome/result.h"

namespace orrery {

enum class ClaimType { strict, upper_bound, loose, informational };
template <>
inline constexpr char kWordSeparator<ClaimType> = ' ';  // "upper bound"
enum class ClaimFigure {
  mfu,
  tflops,
  causal_tflops,
  longest,
  tokens,
  speedup,
  states_ratio,
  memory_ratio,
  context_bytes_ratio,
  replica_bytes_ratio
};

struct Claim {
  std::string strategy;
  std::string source;  // "arXiv 2405.07719"
  std::string headline;
  ClaimType type = ClaimType::informational;
  std::string not_predicted;  // why; else the fields below
  std::optional<ClaimFigure> figure;
  double published = 0;
  double band = 0;            // relative, stated beforehand
  std::string configuration;  // what of it was assumed, in words
};

struct JudgedClaim {
  Claim claim;
  std::optional<double> predicted;
  std::optional<bool> holds;  // of claims that are judged
};

// Errors, by the strategy of the claim: a claim that cannot be read or judged, a `than` that is no
// map or that its figure does not use, a specification that cannot be predicted.
Result<std::vector<JudgedClaim>> judged_claims(const Document& claims, const Catalog& catalog);

}  // namespace orrery
