// What step times are without this model: predictions that a sceptic holds ours against.
//
// Both predict the share of the peak rate that a step makes of the model's work,
//
//   share = FLOPs of the model / (accelerators x peak rate of the format x step time)
//
// from other measured steps, and the step time from that:
//
//   constant rate:   the median share of the steps of the same accelerator; of all, where there are
//                    none
//   nearest steps:   the geometric mean of the three steps that differ least, in doublings of
//                    accelerators, parameters, sequence, micro-batch and degrees; another
//                    accelerator or kind of model counts as four doublings, another format as two
//
// FLOPs are those of an MFU: forward and backward of all products and of full attention, nothing
// recomputed. Nothing is fitted here.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "estimate/scenario.h"
#include "units/quantity.h"

namespace orrery {

struct BaselineStep {
  std::string accelerator, precision, kind;
  std::vector<double> doublings;  // log2 of what the distance is made of
  double log_work = 0;            // log of the step time at the peak rate
  double log_share = 0;           // of the measured step
};
BaselineStep baseline_step(const Scenario& scenario, Seconds measured);

// log(predicted) of a step from those that were measured. Precondition: there are any.
double constant_rate(std::span<const BaselineStep> steps, std::span<const std::size_t> measured,
                     const BaselineStep& step);
double nearest_steps(std::span<const BaselineStep> steps, std::span<const std::size_t> measured,
                     const BaselineStep& step);

}  // namespace orrery
