#include "estimate/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "estimate/predicted_step.h"
#include "estimate/setting.h"

namespace orrery {

Result<std::vector<Sensitivity>> sensitivities(const PredictedStep& step, const Catalog& catalog) {
  std::vector<Sensitivity> out;
  const Seconds now = step.folded.time.seconds();
  for (const Resource& resource : resources()) {
    // Capacity changes no time, and one level has no network around it.
    if (resource.name == "memory") continue;
    if (resource.name == "network" && step.cluster().levels.size() < 2) continue;
    Scenario more = step.priced->scenario;
    more.plan = step.plan();
    const double factor =
        resource.less_is_better ? 1 / (1 + kMoreOfAResource) : 1 + kMoreOfAResource;
    ORRERY_RETURN_IF_ERROR(change(more, fmt::format("{}={}x", resource.name, factor)));
    ORRERY_TRY(const PredictedStep faster, predict(std::move(more), catalog));
    const Seconds then = faster.folded.time.seconds();
    out.push_back({std::string(resource.name), then, 1 - then / now});
  }
  std::ranges::stable_sort(out, std::greater{}, &Sensitivity::saved);
  return out;
}

}  // namespace orrery
