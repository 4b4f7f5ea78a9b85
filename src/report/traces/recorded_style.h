// What the reports of recorded runs share: how the parts of a run's time are called and coloured,
// as the lines of a predicted step are, so that both look alike; and how names, moments and what
// was not recorded are written.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/temporal_breakdown.h"
#include "document/results.h"
#include "lower/step_category.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"
#include "trace/recorded_run.h"

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
// 1.2345 s -> "1234.500": of columns in milliseconds.
std::string milliseconds(Seconds time);

// A bar of a page, as long as `ns` of `longest`.
Cell page_bar(double share, Category colour);
Cell page_bar(std::int64_t ns, std::int64_t longest, Category colour);
// A part of a bar of several.
BarSegment page_segment(Seconds time, Seconds longest, std::string_view label, Category colour);

// Whether a time changed by less than half a nanosecond, the unit of recordings.
bool is_unchanged(Seconds change);

// Of what got slower, what got faster and what did neither.
Ink ink_of_change(Seconds change);

// A name from a recording, fit for a line: arguments and template arguments of kernels are cut
// ("void at::native::vectorized_elementwise_kernel<4, ...>(...)" -> what comes before them).
std::string short_name(std::string_view name);
// "  and 7 more names; --rows shows more, --json all"; empty where all are shown.
std::string and_more(std::size_t all, std::size_t shown, std::string_view what);

// Whose the times of a recording are.
enum class TimesOfRun { recorded, simulated };
inline TimesOfRun times_of(RunSource source) {
  return is_simulated(source) ? TimesOfRun::simulated : TimesOfRun::recorded;
}

// A name that came from outside.
inline std::string words(std::string_view text) { return printable(text); }
inline std::vector<std::string> words(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(printable(text));
  return out;
}

inline Seconds time_of(std::int64_t ns) { return Seconds(static_cast<double>(ns) * 1e-9); }

// A count, or none.
inline std::optional<std::int64_t> if_recorded(std::int64_t n) {
  return n == kNotRecorded ? std::nullopt : std::optional(n);
}

template <class T>
std::span<const T> first(const std::vector<T>& rows, std::size_t most) {
  return std::span(rows).first(std::min(most, rows.size()));
}

// The times of all enumerators, from the first on.
template <class E, std::size_t kCount, class Times>
ByName<E, kCount, Seconds> by_name(const Times& ns) {
  ByName<E, kCount, Seconds> out;
  for (std::size_t i = 0; i < kCount; ++i) out.values.push_back(time_of(ns[i]));
  return out;
}

}  // namespace orrery
