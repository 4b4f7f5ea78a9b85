// One step of a workload, predicted once: everything that is said about a step is a function of it.
//
//   predict = complete the plan, refuse what cannot run, load costs, price, lower, simulate
//
// Figures and derivations (estimate.h), assumptions (assumptions.h), forward passes
// (forward_pass.h), spans and the graph's file (step_timeline.h) and Chakra traces (step_chakra.h)
// take a PredictedStep and repeat nothing of this. What needs every operator as a node of its own
// asks `simulated` for the expanded graph; it takes as long as the folded one, to the picosecond.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "cost/step/training_conditions.h"
#include "estimate/scenario.h"
#include "lower/simulated_step.h"
#include "model/division.h"
#include "outcome/result.h"

namespace orrery {

// A scenario and the prices that all of its plans share. Thread-safe.
struct PricedScenario {
  PricedScenario(Scenario asked, CostContext context, BlockGraphs graphs = BlockGraphs::kept);

  const Scenario scenario;  // its training is complete
  CostCache cache;          // refers to `scenario`
};

// Prices under these training conditions. Errors: costs that the catalog lacks.
Result<std::shared_ptr<PricedScenario>> priced(Scenario scenario, const Catalog& catalog,
                                               const TrainingConditions& conditions);

struct PredictedStep {
  std::shared_ptr<PricedScenario> priced;
  std::vector<std::string> defaults;  // what completed training and plan, one line each
  StepCosts costs;                    // of the completed plan; refer to `priced`
  SimulatedStep folded;

  [[nodiscard]] const Model& model() const { return priced->scenario.model; }
  [[nodiscard]] const Cluster& cluster() const { return priced->scenario.cluster; }
  [[nodiscard]] const Training& training() const { return priced->scenario.training; }
  [[nodiscard]] const Plan& plan() const { return costs.plan; }
  // How the plan divides the model, by the prices of the step: where its tables lie follows from
  // it. Refers to `priced`.
  [[nodiscard]] Division division() const;
};

// Model FLOPs of one sequence of the step's workload (model/model.h). Where rows are made of
// documents, of their tokens only: attention counts the pairs of tokens within each, the sum of
// squares instead of the square of the sum, and padding counts nothing.
Flops model_flops_of_a_sequence(const PredictedStep& step, AttentionCount count);

// What was used so far of entries that lie over the built-in catalog, in words.
std::vector<std::string> own_entries(const Catalog& catalog);

// Errors: every reason why the plan cannot run, at once; costs that the catalog lacks; a step that
// is longer than 53 days. A plan that does not fit in memory is no error. A step of more ticks than
// are exact is priced again, in the shortest tick in which it is exact (lower/cost_context.h).
Result<PredictedStep> predict(Scenario scenario, const Catalog& catalog);
// Under other training conditions than the catalog's, which is what their calibration asks.
Result<PredictedStep> predict(Scenario scenario, const Catalog& catalog,
                              const TrainingConditions& conditions);
// With prices that the caller makes of the scenario, whose training is complete by then, or has
// kept (estimate/kept_prices.h).
using ScenarioPricing = std::function<Result<std::shared_ptr<PricedScenario>>(Scenario)>;
Result<PredictedStep> predict(Scenario scenario, const ScenarioPricing& pricing);
// What becomes of a step of more ticks than are exact.
enum class LongStep { priced_again, refused };
// One of many plans of a scenario; `plan` must be complete and valid.
Result<PredictedStep> predict(std::shared_ptr<PricedScenario> priced, const Plan& plan,
                              LongStep longer = LongStep::priced_again);

}  // namespace orrery
