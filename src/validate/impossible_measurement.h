// Is what a row measured something that a machine can have?
//
//   u = model FLOPs of the step / (step time x accelerators x peak of the precision)
//
// u above 1 is more than the peak; below a thousandth, no training run: either way the unit is
// likely wrong (milliseconds for seconds). Memory in use is at most what the accelerator has, read
// as GB or GiB. TFLOP/s are at most 4/3 of the peak: some sources count a recomputation that was
// not done. What is stated beside the step time must agree with it:
//   within a factor of two    tokens and sequences per second, in all or per accelerator
//   within a factor of ten    TFLOP/s and utilization, for sources count attention, recomputation
//                             and the peak itself differently
// a whole number one more if it is too small, for some tables cut off what follows the point.
// The precision of a row must be one that the accelerator has. Of a run that ended out of memory
// nothing else is judged.
#pragma once

#include <string>

#include "estimate/scenario.h"
#include "measured/measured_row.h"

namespace orrery {

// Why what a row measured cannot be, with the row's name; empty if it can, or is not stated.
std::string impossible_measurement(const MeasuredRow& row, const Scenario& scenario);

}  // namespace orrery
