// What a plan changes in its numerics against training in bf16, how far each change deviates, and what
// it saves: a front of step time against deviation.
//
// Deviations are relative_rms of small experiments with normal numbers (products.h):
//
//   products    of 32 x 32 results, K = 4,096, with the operands in each format that the accelerator
//               has: fp8 as e4m3 with one scale a tensor, mxfp8 as e4m3 in blocks of 32
//   gradients   reduced round a ring of the ranks that replicate parameters (at most 256 of them), if
//               in less than fp32
//
// Step times of other formats are predictions of the same plan. Left out: the tensors of the model,
// which are not known here (`orrery numerics` takes them), attention (`orrery numerics attention`),
// rounding between operators, and whether a run converges.
#pragma once

#include <string>
#include <vector>

#include "outcome/enum_names.h"
#include "outcome/result.h"
#include "units/number_format.h"
#include "units/quantity.h"

namespace orrery {

class Catalog;
struct Plan;
struct PredictedStep;
struct Training;

// The numeric changes that a plan makes against training in bf16, in words; products first.
std::vector<std::string> numeric_changes(const Training& training, const Plan& plan);

// Of a deviation over that of bf16: up to 1/2, 2, 32, and beyond.
enum class DeviationClass { below_bf16, like_bf16, above_bf16, far_above_bf16 };
DeviationClass class_of(double times_bf16);

struct NumericChange {
  std::string what;       // one of numeric_changes()
  double deviation = 0;   // relative_rms
  double times_bf16 = 0;  // that of what bf16 training does
  DeviationClass deviation_class = DeviationClass::like_bf16;
};

struct FormatChoice {
  NumberFormat format = NumberFormat::bf16;
  bool chosen = false;  // by the plan
  Seconds step_time;
  double saved = 0;  // of the step time in bf16
  double deviation = 0;
  double times_bf16 = 1;
  DeviationClass deviation_class = DeviationClass::like_bf16;
  bool on_front = false;  // no other format is faster and deviates less
};

struct PlanNumerics {
  std::vector<NumericChange> changes;  // that the plan makes
  std::vector<FormatChoice> formats;   // that the accelerator has, the fastest first
};
// Errors: those of a prediction. Formats in which the plan cannot run are left out.
Result<PlanNumerics> plan_numerics(const PredictedStep& step, const Catalog& catalog, int threads);

}  // namespace orrery
