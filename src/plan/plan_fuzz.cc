// seeds: tests/seeds/plan
// Plan text: never crashes; what is read is written and read again unchanged.
#include <cstdint>

#include "outcome/invariant.h"
#include "plan/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto plan = orrery::parse_plan({reinterpret_cast<const char*>(data), size});
  if (plan) ORRERY_INVARIANT(orrery::parse_plan(orrery::to_text(*plan)) == *plan);
  return 0;
}
