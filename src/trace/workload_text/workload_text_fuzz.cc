// Any bytes as a text workload: an error, or a workload whose trace is sound.
// seeds: tests/seeds/workload_text
// parser: src/trace/workload_text/workload_text.cc src/trace/workload_text/workload_chakra.cc
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "outcome/invariant.h"
#include "trace/chakra/chakra_check.h"
#include "trace/workload_text/workload_chakra.h"
#include "trace/workload_text/workload_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto workload = orrery::parse_workload(text, "fuzz");
  if (!workload) {
    ORRERY_INVARIANT(!workload.error().message.empty());
    return 0;
  }
  if (workload->accelerators > 100'000) return 0;  // a group of that many ranks is only long
  const auto order = orrery::chakra_order(orrery::chakra_from(*workload, 0), "fuzz",
                                          orrery::AbsentDependencies::report);
  ORRERY_INVARIANT(order.has_value());
  return 0;
}
