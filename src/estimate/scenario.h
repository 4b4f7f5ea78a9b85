// A question: the step of which model is predicted, on which cluster, under which plan.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "lower/kernel_times.h"
#include "model/model.h"
#include "plan/plan.h"
#include "plan/software.h"

namespace orrery {

struct Scenario {
  Model model;
  Cluster cluster;
  Training training;
  Plan plan;
  SoftwareProfile software = {};  // initially the default of plan/software.h
  bool software_stated = false;   // otherwise the default is among what is assumed
  // Fields of the plan that nobody stated and that take the value of the software.
  std::vector<std::string> plan_by_software = {};
  std::shared_ptr<KernelTimes> kernel_times = nullptr;  // instead of those of the cost model
};

}  // namespace orrery
