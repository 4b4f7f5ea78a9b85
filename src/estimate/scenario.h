// A question: the step of which model is predicted, on which cluster, under which plan.
#pragma once

#include <memory>

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
  bool zero_stated = true;        // otherwise the software's is
  std::shared_ptr<KernelTimes> kernel_times = nullptr;  // instead of those of the cost model
};

}  // namespace orrery
