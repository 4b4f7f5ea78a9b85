// Measurements of kernels as a kind of calibration: one file of catalog/kernels per accelerator.
//
// These are fitted for each accelerator in the tables, in this order, as far as there are rows:
// memory-bound kernels, products in 16 bits, narrower products, prefill attention, attention by
// kernel and head dimension, unfused attention, the clock of a long run. Other parameters are kept
// from the accelerator's entry in the catalog or, if it has none, from that of its nearest
// relative.
#pragma once

#include "calibrate/calibration.h"

namespace orrery {

MeasurementKind kernel_measurements();

}  // namespace orrery
