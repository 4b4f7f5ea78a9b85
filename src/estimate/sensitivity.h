// What ten percent more of each resource of a cluster would gain.
#pragma once

#include <string>
#include <vector>

#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

class Catalog;
struct PredictedStep;

// The share by which a resource grows; a latency becomes 1 / (1 + kMoreOfAResource) of itself.
inline constexpr double kMoreOfAResource = 0.1;

struct Sensitivity {
  std::string resource;  // of estimate/setting.h: "network"
  Seconds step_time;     // with more of it
  double saved = 0;      // of the step time; 0.03 is 3 %
};

// Of every resource that the cluster has, the greatest saving first. Errors: those of a prediction.
Result<std::vector<Sensitivity>> sensitivities(const PredictedStep& step, const Catalog& catalog);

}  // namespace orrery
