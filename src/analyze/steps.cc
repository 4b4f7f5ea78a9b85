#include "analyze/steps.h"

#include <charconv>
#include <string_view>

namespace orrery {

std::vector<RecordedStep> recorded_steps(const RecordedTrace& trace) {
  static constexpr std::string_view kMark = "ProfilerStep#";
  std::vector<RecordedStep> steps;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    // Recordings of 2021 call the mark an operator.
    if (trace.kind[e] != EventKind::annotation && trace.kind[e] != EventKind::cpu_operator) {
      continue;
    }
    const std::string_view text = trace.name_of(e);
    if (!text.starts_with(kMark)) continue;
    auto number = static_cast<std::int64_t>(steps.size());
    std::from_chars(text.data() + kMark.size(), text.data() + text.size(), number);
    steps.push_back({.number = number, .event = e, .window = {trace.start_ns[e], trace.end_ns(e)}});
  }
  return steps;
}

}  // namespace orrery
