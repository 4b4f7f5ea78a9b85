// Functions that a user writes in Python: times of kernels, and the judge of a search.
//
//   def kernel_time(kernel):
//       """Seconds of one kernel; kernel.predicted_s is what the cost model says."""
//
// is asked about each distinct kernel, and must always give the same answer. docs/python.md lists
// the keys of `kernel`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "document/value.h"
#include "lower/kernel_times.h"
#include "python/user_functions.h"
#include "report/plans/plan_text.h"
#include "search/search.h"

namespace orrery {

// A kernel as the function sees it.
struct AskedKernel {
  const Kernel& kernel;
  Seconds predicted;
  const std::string& accelerator;
};
std::optional<Value> kernel_key(const AskedKernel& asked, std::string_view key);
Value kernel_json(const AskedKernel& asked);

// Times from any function of one kernel; thread-safe if it is. Errors of `function`, and times that
// are not above 0, end up in outcome() with the kernel they are of; `file` is where it is from.
std::shared_ptr<KernelTimes> kernel_times(
    std::function<Result<double>(const AskedKernel&)> function, std::string file);

// From a file, in one interpreter: few kernels are distinct. Errors: the file cannot be read or
// loaded, or defines no kernel_time.
Result<std::shared_ptr<KernelTimes>> python_kernel_times(const std::string& file,
                                                         Interpreters where,
                                                         const PythonLimits& limits);

// The judge of a search: `objective(step)` says what a plan is worth, the smaller the better, and
// `constraint(step)` whether it is allowed. A file defines one of them or both; without an
// objective the step time is minimised. `step` has the keys of `orrery estimate --json`. `count`
// interpreters. Errors: the file cannot be read or loaded, or defines neither.
Result<Judge> python_judge(const std::string& file, int count, Interpreters where,
                           const PythonLimits& limits, const Subject& subject);

}  // namespace orrery
