// The parameters of attention kernels on one accelerator.
//
// Each fit starts from a calibration with known products and memory, and takes floor, bandwidth and
// cache from it. It determines the share of peak on long sequences and the ramp of a query block,
// by kernel, direction and head dimension; for prefill also the kernels that were timed with it.
#pragma once

#include <span>

#include "calibrate/cross_validated_fit.h"
#include "calibrate/kernel_measurements.h"

namespace orrery {

// Backward over forward share of peak where only one direction is known: flash-attention 2 on
// h100-sxm, of which both were published (mean over head dimensions 64 and 128).
inline constexpr double kBackwardShare = 0.888;

struct PrefillFit {
  PrefillParameters parameters;  // the caller fills `source` and `fit`
  CalibratedPart part;
};
// All rows of one format.
Result<PrefillFit> fit_prefill(const Accelerator& accelerator, const KernelCalibration& calibration,
                               std::span<const MeasuredAttention> rows, int folds);

struct AttentionFit {
  std::vector<AttentionParameters> parameters;  // with `source`; the caller fills `fit`
  CalibratedPart part;
};
// Rows of one kernel and one head dimension. If only one direction was published, kBackwardShare
// gives the share of the other.
enum class Clock { burst, sustained };  // at which the rows were measured
Result<AttentionFit> fit_attention(const Accelerator& accelerator,
                                   const KernelCalibration& calibration,
                                   std::span<const MeasuredAttention> rows, Clock clock, int folds);

// Reads and writes of the score matrix in unfused attention.
struct ScoreFit {
  double passes = 0;
  CalibratedPart part;
};
Result<ScoreFit> fit_scores(const Accelerator& accelerator, const KernelCalibration& calibration,
                            std::span<const MeasuredAttention> rows, int folds);

// The share of peak bandwidth of kernels limited by it.
struct MemoryFit {
  double fraction = 0;
  CalibratedPart part;
};
// Uses only rows that exceed the cache.
Result<MemoryFit> fit_memory(const Accelerator& accelerator, const KernelCalibration& calibration,
                             std::span<const MeasuredLayerOperation> rows, int folds);

}  // namespace orrery
