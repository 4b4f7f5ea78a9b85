// How the parts of a recorded run's time are called and coloured, in the terminal and in HTML: as
// the lines of a predicted step, so that both look alike.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyze/temporal_breakdown.h"
#include "lower/step_category.h"
#include "report/drawing/table.h"

namespace orrery {

struct RecordedPart {
  std::string_view key;    // "exposed_communication": in JSON with "_s"
  std::string_view label;  // "exposed communication"
  Category colour;         // whose colour it has
  std::int64_t ns = 0;
};
inline constexpr std::size_t kRecordedParts = 7;
// Add up to the window.
std::array<RecordedPart, kRecordedParts> parts_of(const TemporalBreakdown& breakdown);

// 1234567 ns -> "1.23 ms".
std::string time_text(std::int64_t ns);
double seconds(std::int64_t ns);

// "launch_delay" -> "launch delay".
std::string spaced(std::string_view key);
// A bar of a page, as long as `ns` of `longest`.
Cell page_bar(double share, Category colour);
Cell page_bar(std::int64_t ns, std::int64_t longest, Category colour);
// A part of a bar of several.
BarSegment page_segment(Seconds time, Seconds longest, std::string_view label, Category colour);

// Of what got slower, what got faster and what did neither.
Ink ink_of_change(Seconds change);

// A name from a recording, fit for a line: arguments and template arguments of kernels are cut
// ("void at::native::vectorized_elementwise_kernel<4, ...>(...)" -> what comes before them).
std::string short_name(std::string_view name);
// "  and 7 more names; --rows shows more, --json all"; empty where all are shown.
std::string and_more(std::size_t all, std::size_t shown, std::string_view what);

}  // namespace orrery
