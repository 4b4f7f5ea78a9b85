// What papers claim of strategies of training, beside what is predicted for their configuration.
//
// A claim has the headline of its paper, a class, and either the reason why it is not predicted or
//
//   specification   of the paper's configuration (estimate/spec.h)
//   than            fields of it that differ in the paper's baseline, for ratios
//   figure          what is compared:
//     mfu, tflops        of the specification; TFLOP/s per accelerator
//     tokens             tokens/s per accelerator
//     speedup            step time of the baseline / step time, both per token
//     states             bytes of weights, gradients and optimizer states of the fullest rank, GB
//     states_ratio       of the baseline over the specification's
//     memory_ratio       the same of peak memory
//
// A strict claim holds if prediction / published - 1 is within the band, an upper bound if the
// prediction is no better, a loose one if a gain is a gain and within the band (a ratio's, of what
// it is above 1: both are above 1, and their gains differ by a factor of at most 1 + band).
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
enum class ClaimFigure { mfu, tflops, tokens, speedup, states, states_ratio, memory_ratio };

struct Claim {
  std::string strategy;
  std::string source;  // "arXiv 2405.07719"
  std::string headline;
  ClaimType type = ClaimType::informational;
  std::string not_predicted;  // why; else the fields below
  std::optional<ClaimFigure> figure;
  double published = 0;
  double band = 0;
  std::string configuration;  // what of it was assumed, in words
};

struct JudgedClaim {
  Claim claim;
  std::optional<double> predicted;
  std::optional<bool> holds;  // of claims that are judged
};

// Errors: a claim that cannot be read or whose specification cannot be predicted, by its strategy.
Result<std::vector<JudgedClaim>> judged_claims(const Document& claims, const Catalog& catalog);

}  // namespace orrery
