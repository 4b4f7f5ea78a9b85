// Where in a simulated graph the step of a device begins and ends, and how long a step takes.
#pragma once

#include <span>
#include <vector>

#include "lower/step_graph.h"
#include "simulate/simulate.h"

namespace orrery {

// The part of the timeline that is a device's step: all of it, or, where the optimizer waits for no
// other device, from the first thing it does to its last.
struct StepWindow {
  Picoseconds from, until;
};
std::vector<StepWindow> windows(const StepCosts& step, const StepGraph& graph,
                                const Timeline& timeline);

// Whether what runs on a stream is part of its device's window: all but transfers.
bool in_window(const Stream& stream);

// From the beginning of one step to that of the next: the longest window. That is the makespan
// where devices wait for each other's optimizer; where they do not, steps follow each other on
// every device at once.
Picoseconds step_time(std::span<const StepWindow> windows);

}  // namespace orrery
