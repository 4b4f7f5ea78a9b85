// Predictions, one after another, that share prices.
//
// Pricing a scenario reads the catalog and computes the costs of its blocks; both are the same for
// all plans of a model on a cluster. Kept are the prices of the scenarios that were asked for last,
// each with the blocks of all plans so far. A prediction is the same to the bit as that of
// predict() without kept prices. Thread-safe.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "estimate/predicted_step.h"

namespace orrery {

class KeptPrices {
 public:
  static constexpr std::size_t kUsualScenarios = 16;
  // `catalog` must outlive this.
  explicit KeptPrices(const Catalog& catalog, std::size_t scenarios = kUsualScenarios)
      : catalog_(catalog), most_(scenarios) {}

  // Errors: as predict().
  Result<PredictedStep> predict(Scenario scenario);

 private:
  Result<std::shared_ptr<PricedScenario>> prices_of(Scenario scenario);

  const Catalog& catalog_;
  std::size_t most_;
  std::mutex mutex_;
  std::optional<TrainingConditions> conditions_;
  std::list<std::pair<std::string, std::shared_ptr<PricedScenario>>> kept_;  // last used first
};

}  // namespace orrery
