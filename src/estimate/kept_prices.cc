#include "estimate/kept_prices.h"

#include <fmt/format.h>

#include <algorithm>

#include "estimate/spec.h"

namespace orrery {
namespace {

// Everything that prices, and what is said of them, depend on.
std::string key_of(const Scenario& scenario, const Catalog& catalog) {
  Scenario without_plan = scenario;
  without_plan.plan = {};
  std::string key = to_json(specification(without_plan, catalog));
  key += scenario.software_stated ? "software stated" : "usual software";
  for (const std::string& field : scenario.plan_by_software) key += ", usual " + field;
  // The scenario that is kept keeps the address from being used again.
  key += fmt::format(", {}", static_cast<const void*>(scenario.kernel_times.get()));
  for (const auto* list : {&scenario.model.assumed, &scenario.cluster.assumed}) {
    for (const std::string& assumed : *list) key += "\n" + assumed;
  }
  return key;
}

}  // namespace

Result<PredictedStep> KeptPrices::predict(Scenario scenario) {
  ORRERY_TRY(PredictedStep out, orrery::predict(std::move(scenario), [this](Scenario s) {
               return prices_of(std::move(s));
             }));
  for (std::string& own : own_entries(catalog_)) out.defaults.push_back(std::move(own));
  return out;
}

Result<std::shared_ptr<PricedScenario>> KeptPrices::prices_of(Scenario scenario) {
  std::string key = key_of(scenario, catalog_);
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(kept_, [&](const auto& entry) { return entry.first == key; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return found->second;
  }
  if (!conditions_) {
    ORRERY_TRY(conditions_, load_training_conditions(catalog_));
  }
  ORRERY_TRY(auto made, priced(std::move(scenario), catalog_, *conditions_));
  kept_.emplace_front(std::move(key), made);
  if (kept_.size() > most_) kept_.pop_back();
  return made;
}

}  // namespace orrery
