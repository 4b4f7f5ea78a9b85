// seeds: tests/seeds/times
// Stated times: never crash; what is read is written and read again unchanged, and scales to passes
// that take time or to an error.
#include <cstdint>
#include <string_view>

#include "outcome/invariant.h"
#include "schedule/stated_times.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto document = parse_yaml(text, "times")) (void)read_stated_times(*document);
  const auto stated = parse_stated_times(text);
  if (!stated) return 0;
  ORRERY_INVARIANT(parse_stated_times(to_text(*stated)) == *stated);
  for (const TimesOf of : {TimesOf::virtual_stage, TimesOf::device}) {
    const auto scaled = scaled_times(*stated, {4, 8, 2}, of);
    if (!scaled) continue;
    for (const StageTimes& s : scaled->times.stage) {
      ORRERY_INVARIANT(s.forward > Picoseconds(0) && s.backward > Picoseconds(0));
    }
  }
  return 0;
}
