// A step, lowered and run: the one way in which a step gets its time.
#pragma once

#include <vector>

#include "lower/step_graph.h"
#include "lower/step_window.h"
#include "outcome/result.h"
#include "simulate/simulate.h"

namespace orrery {

// The graph of a step, and when each of its nodes runs.
struct SimulatedStep {
  StepGraph step;
  Timeline timeline;
  std::vector<StepWindow> windows;  // by device
  Picoseconds time;                 // from the beginning of one step to that of the next
};
// Errors: as step_graph; kernel times that failed.
Result<SimulatedStep> simulated(const StepCosts& costs, Folding folding);

}  // namespace orrery
