// What the JSON documents of recorded runs share: how names, moments and what was not recorded are
// written.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/results.h"
#include "report/drawing/text_style.h"
#include "trace/recorded_run.h"

namespace orrery {

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
