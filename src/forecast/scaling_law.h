// How the loss of a language model falls with its size and its training, and which batch is worth
// having: facts of catalog/scaling-laws and catalog/critical-batches.
//
//   L = (E + A / N^a + B / D^b)^p       N parameters, D tokens
//
// is the law of Chinchilla (p = 1; arXiv 2203.15556, equation 10; arXiv 2404.10102) and that of
// Kaplan (E = 0, p = a_D, a = a_N / a_D, b = 1; arXiv 2001.08361, equation 1.5). With the compute
// C = 6 N D the least loss has (minimum along C, both papers; p changes nothing)
//
//   N = G (C / 6)^(b / (a + b)),   D = C / (6 N),   G = (a A / (b B))^(1 / (a + b)),
//
// and the least compute of a loss has shares b / (a + b) and a / (a + b) of L^(1/p) - E in the terms
// of the parameters and of the tokens.
//
//   critical batch = c D^x / L^y tokens,   tokens at a batch = least tokens x (1 + extra batch /
//   critical batch)
//
// where `extra` is what defines the critical batch: 1 for gradient noise (arXiv 1812.06162: tokens
// and steps are both twice their least), 0.2 for arXiv 2410.21676 (steps a fifth above linear
// scaling). The tokens of a law are those of runs at critical batches: up to there a larger batch
// costs nothing, and beyond it the tokens grow by (1 + extra batch / critical) / (1 + extra).
//
// Left out: data that repeat, quality of data, experts (routed_law.h), schedules of the learning
// rate.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "document/provenance.h"
#include "model/model.h"

namespace orrery {

struct LossTerm {
  double coefficient = 0;
  double exponent = 0;
  bool operator==(const LossTerm&) const = default;
};
Fields<LossTerm> fields_of(const LossTerm*);

struct FittedRange {
  double least = 0;
  double most = 0;
  bool operator==(const FittedRange&) const = default;
};
Fields<FittedRange> fields_of(const FittedRange*);

enum class CountedParameters { all, without_embeddings };

struct CriticalBatch {
  std::string name;
  std::string title;
  double tokens = 0;  // c
  double tokens_exponent = 0;
  double loss_exponent = 0;
  double extra = 1;
  Provenance provenance;
  bool operator==(const CriticalBatch&) const = default;

  // In tokens.
  [[nodiscard]] double at(double trained_tokens, double loss) const;
  // Of the tokens, beyond the critical batch; 0 up to there.
  [[nodiscard]] double extra_share(double batch, double critical) const;
};
Fields<CriticalBatch> fields_of(const CriticalBatch*);

// A size and what it is trained on.
struct Allocation {
  double parameters = 0;
  double tokens = 0;
  double loss = 0;
  [[nodiscard]] double compute() const { return 6 * parameters * tokens; }  // FLOPs
};

struct ScalingLaw {
  std::string name;
  std::string title;
  double irreducible = 0;
  LossTerm parameters, tokens;
  double power = 1;
  CountedParameters counts = CountedParameters::all;
  std::string critical_batch;
  FittedRange trained_parameters, trained_tokens;
  Provenance provenance;
  bool operator==(const ScalingLaw&) const = default;

  [[nodiscard]] double loss(double parameters_of_model, double trained) const;
  // The least loss of that compute.
  [[nodiscard]] Allocation best_of(double compute) const;
  // The least compute of that loss. Errors: the law never reaches it.
  [[nodiscard]] Result<Allocation> cheapest(double loss) const;
  // Until a model of that size reaches that loss. Errors: as cheapest(); the model is too small,
  // with the size that would do.
  [[nodiscard]] Result<double> tokens_to(double loss, double parameters_of_model) const;
  // The smallest and the largest model that reach the loss within the compute. Errors: as
  // cheapest(); too little compute, with the least.
  [[nodiscard]] Result<std::vector<Allocation>> sizes_within(double loss, double compute) const;
  // Whether it lies within what the law was fitted to; and the sentence where it does not.
  [[nodiscard]] bool covers(const Allocation& allocation) const;
  [[nodiscard]] std::string extrapolated() const;
};
Fields<ScalingLaw> fields_of(const ScalingLaw*);

inline constexpr std::string_view kUsualLaw = "chinchilla-replicated";

// Errors: constants that are not above 0.
Result<void> check(const ScalingLaw& law);
Result<void> check(const CriticalBatch& batch);
// From the catalog. Errors: unknown name; an entry that breaks check().
Result<ScalingLaw> load_scaling_law(const Catalog& catalog, std::string_view name);
Result<CriticalBatch> load_critical_batch(const Catalog& catalog, std::string_view name);

// What a law counts of a model: of its experts the active ones.
double counted_parameters(const Model& model, CountedParameters counts);

// A loss, a compute or both.
struct SizeQuestion {
  std::string law{kUsualLaw};
  std::optional<double> loss;
  std::optional<double> compute;
};

struct SizeChoice {
  std::string choice;  // "least compute", "smallest model", "largest model", "least loss"
  Allocation size;
  double critical_batch = 0;  // tokens
};

struct SizeAnswer {
  std::string law;
  std::vector<SizeChoice> choices;
  std::vector<std::string> assumed;  // sentences
};

// Errors: as the functions of the law; unknown names; sizes that no model has.
Result<SizeAnswer> sizes_of(const SizeQuestion& question, const Catalog& catalog);

// Errors: not a number of 1 to 1e40.
Result<double> parse_compute(std::string_view text);

}  // namespace orrery
