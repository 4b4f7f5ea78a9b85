// The parameters of matrix products in one number format on one accelerator, from products that
// were repeated alone (kernel_measurements.h).
//
// Products in 16 bits determine all of them. Narrower products share the parameters of streaming,
// launching, splitting and heating, and differ in the rate of their matrix units; the quantisation
// of their inputs, which is timed with them, has parameters of its own.
#pragma once

#include <span>

#include "calibrate/cross_validated_fit.h"
#include "calibrate/kernel_measurements.h"

namespace orrery {

struct GemmFit {
  GemmParameters parameters;  // the caller fills `fit` and `source`
  CalibratedPart part;
};

// `wide`: the fit in 16 bits that a narrow format shares, or nullptr. All rows of one format.
Result<GemmFit> fit_gemm(const Accelerator& accelerator, std::span<const MeasuredGemm> rows,
                         const GemmParameters* wide, int folds);

// The clock under the power cap of a long run, from products in the sizes of a training step: its
// only parameter is the sustained fraction of a calibration with known products.
struct SustainedFit {
  double fraction = 1;
  CalibratedPart part;
};
Result<SustainedFit> fit_sustained(const Accelerator& accelerator,
                                   const KernelCalibration& calibration,
                                   std::span<const MeasuredGemm> rows, int folds);

// Four significant digits, as the catalog holds them.
double catalog_digits(double x);

}  // namespace orrery
