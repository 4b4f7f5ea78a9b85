// How the parts of a recorded run's time are called and coloured, in the terminal and in HTML: as
// the lines of a predicted step, so that both look alike.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyze/critical_path.h"
#include "analyze/temporal_breakdown.h"
#include "lower/step_category.h"
#include "report/drawing/text_style.h"

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

// A name from a recording, fit for a line: arguments and template arguments of kernels are cut
// ("void at::native::vectorized_elementwise_kernel<4, ...>(...)" -> what comes before them).
std::string short_name(std::string_view name);
// Of a row of a critical path: kernels are shortened, events of the host are not.
std::string path_name(const RecordedTrace& trace, const PathRow& row);

}  // namespace orrery
