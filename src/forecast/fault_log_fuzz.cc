// seeds: tests/seeds/fault_log
// Any text is a log of faults with possible times or an error in one line; what is read can be
// fitted or is refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "forecast/fault_fit.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const auto log = parse_fault_log({reinterpret_cast<const char*>(data), size}, "log");
  if (!log) {
    if (log.error().text().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  if (log->faults.empty()) std::abort();
  Seconds last;
  for (const Fault& fault : log->faults) {
    if (!(fault.start >= last) || (fault.end && *fault.end < fault.start)) std::abort();
    last = fault.start;
  }
  const auto fitted = fit(*log, {});
  if (fitted && (!check(fitted->rates) ||
                 !(fitted->nodes_down <= static_cast<double>(fitted->nodes) + 1e-6))) {
    std::abort();
  }
  return 0;
}
