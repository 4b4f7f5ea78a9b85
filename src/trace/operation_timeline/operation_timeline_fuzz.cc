// Any bytes as an operation timeline: an error with a text, or operations in order.
// seeds: tests/seeds/operation_timeline
// parser: src/trace/operation_timeline/operation_timeline.cc
#include <cstddef>
#include <cstdint>
#include <string>

#include "outcome/invariant.h"
#include "trace/operation_timeline/operation_timeline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto timeline = orrery::parse_operation_timeline(text, "fuzz");
  const auto part =
      orrery::parse_operation_timeline(text, "fuzz", orrery::Incomplete::use_what_is_whole);
  ORRERY_INVARIANT(!timeline || !timeline->negative_durations.empty() ||
                   part->operations.size() == timeline->operations.size());
  if (!timeline) {
    ORRERY_INVARIANT(!timeline.error().message.empty());
    return 0;
  }
  for (const orrery::TimedOperation& o : timeline->operations) {
    ORRERY_INVARIANT(o.end >= o.start);
    ORRERY_INVARIANT(o.stage < timeline->stages);
    ORRERY_INVARIANT(o.data_parallel_rank < timeline->data_parallel_ranks);
  }
  return 0;
}
