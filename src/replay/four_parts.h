// The time of a device, or of the threads of a host, in four parts, which add up to the window they
// are of exactly.
//
//   exposed compute         computing kernels run, communication does not
//   overlapped              both
//   exposed communication   communication runs, no computing kernel does
//   other                   neither: copies, fills, idle
//
// O(n log n) once for n kernels, O(log n + kernels in the window) for each window.
#pragma once

#include <cstdint>
#include <vector>

#include "units/quantity.h"

namespace orrery {

struct FourParts {
  Seconds exposed_compute;
  Seconds overlapped;
  Seconds exposed_communication;
  Seconds other;

  [[nodiscard]] Seconds total() const {
    return exposed_compute + overlapped + exposed_communication + other;
  }
};

// A kernel, or a stretch in which a thread works.
struct WorkSpan {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool communicates = false;
};

class PartsOverTime {
 public:
  PartsOverTime() = default;
  explicit PartsOverTime(const std::vector<WorkSpan>& spans);
  [[nodiscard]] FourParts between(std::int64_t start_ns, std::int64_t end_ns) const;

 private:
  // What runs from a moment on, up to the next change.
  struct Change {
    std::int64_t at_ns = 0;
    std::int32_t computing = 0;
    std::int32_t communicating = 0;
  };
  std::vector<Change> changes_;
};

}  // namespace orrery
