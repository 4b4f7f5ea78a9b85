// Times of kernels from a source other than the cost model: a user's function, a table of
// measurements.
#pragma once

#include <string>

#include "graph/operation.h"
#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

class KernelTimes {
 public:
  KernelTimes() = default;
  KernelTimes(const KernelTimes&) = delete;
  KernelTimes& operator=(const KernelTimes&) = delete;
  virtual ~KernelTimes() = default;

  // What a kernel takes for which the cost model says `predicted`: of a product or attention the
  // whole shape, however many pieces it is cut into; of memory-bound kernels one launch. The same
  // arguments give the same time. Thread-safe. Once it fails it gives `predicted`.
  virtual Seconds time(const Kernel& kernel, Seconds predicted, const std::string& accelerator) = 0;

  // Errors: the first one of time().
  [[nodiscard]] virtual Result<void> outcome() const = 0;

  // Where the times are from, as a line among what is assumed.
  [[nodiscard]] virtual std::string source() const = 0;
};

}  // namespace orrery
