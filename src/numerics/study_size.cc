#include "numerics/study_size.h"

#include <fmt/format.h>

namespace orrery {

Result<void> check_bytes(double bytes) {
  constexpr double kMostBytes = 8.0 * (1U << 30U);
  if (bytes <= kMostBytes) return {};
  return unsupported(fmt::format("the tensors would take {:.3g} GB at once, more than {:.2g} GB",
                                 bytes / 1e9, kMostBytes / 1e9),
                     "", "choose smaller sizes");
}

Result<void> check_work(double operations, std::string_view what) {
  constexpr double kMostOperations = 1e12;
  if (operations <= kMostOperations) return {};
  return unsupported(
      fmt::format("{:.0e} {} are more than {:.0e}", operations, what, kMostOperations), "",
      "choose smaller sizes or fewer seeds");
}

}  // namespace orrery
