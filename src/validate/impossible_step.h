// Is a measured step time one that a machine can have?
//
//   u = model FLOPs of the step / (step time x accelerators x peak of the precision)
//
// u above 1 is more than the peak; below a thousandth, no training run: either way the unit is
// likely wrong (milliseconds for seconds). A throughput stated beside the step time must agree with
// it within a factor of two: tokens / step time, tokens / (step time x accelerators). TFLOP/s are
// not judged: some sources count work that was not done, and come out above the peak.
#pragma once

#include <string>

#include "estimate/estimate.h"
#include "validate/measured_row.h"

namespace orrery {

// Why the step time of a row cannot be, with the row's name; empty if it can, or is not stated.
std::string impossible_step(const MeasuredRow& row, const Scenario& scenario);

}  // namespace orrery
