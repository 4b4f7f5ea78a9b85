// A question: the step of which model is predicted, on which cluster, under which plan.
#pragma once

#include "cluster/cluster.h"
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
};

}  // namespace orrery
