// The critical path of a rank in the document of `orrery trace analyze --json`, of either
// construction: that of the run's graph (replay/step_path.h) or HTA's (analyze/critical_path.h).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyze/run_analysis.h"
#include "report/traces/analysis_tables.h"
#include "report/traces/recorded_style.h"

namespace orrery {

// A long recording has very many operators; the rest is summed.
inline constexpr std::size_t kMostRows = 1000;

using PathTimes = ByName<PathBound, kPathBounds, Seconds, kEventPathBounds>;

struct TimeWindow {
  Seconds start;
  Seconds end;
};

inline TimeWindow window_since(std::int64_t origin_ns, Interval window) {
  return {time_of(window.start - origin_ns), time_of(window.end - origin_ns)};
}

enum class PathConstruction { replay, hta };

struct PathContext {
  PathConstruction construction = PathConstruction::replay;
  std::int64_t origin_ns = 0;  // the first event of the run

  // Empty for a path that is constructed as HTA does, which has no such figure.
  template <class T>
  [[nodiscard]] std::optional<T> unless_hta(T value) const {
    return construction == PathConstruction::hta
               ? std::nullopt
               : std::optional<T>(std::in_place, std::move(value));
  }
};

inline PathTimes path_times(std::span<const std::int64_t> ns) {
  PathTimes out;
  for (const std::int64_t t : ns) out.values.push_back(time_of(t));
  return out;
}

inline std::vector<PathStretch> stretches_of(const StepPath& path) {
  std::vector<PathStretch> out;
  for (const std::size_t i : longest_stretches(path, kMostRows)) out.push_back(path.stretches[i]);
  return out;
}

template <>
inline constexpr auto kResults<TimeWindow> = table<TimeWindow>(
    "window", "a span of time, since the first event of the run",
    field<&TimeWindow::start>("start_s", "begin"), field<&TimeWindow::end>("end_s", "end"));

template <>
inline constexpr auto kResults<RankShare> = table<RankShare>(
    "rank_on_path", "What of a critical path belongs to one rank.",
    field<&RankShare::rank>("whose"), nanoseconds<&RankShare::total_ns>("total_s", "on the path"));

template <>
inline constexpr auto kResults<PathShare> = table<PathShare>(
    "event_on_path", "What of a critical path belongs to one name.",
    field("name", "of the event", [](auto& r) { return words(r.name); }),
    field<&PathShare::bound>("bound_by", "by what"),
    optional_field("rank", "whose; not of hta",
                   [](auto& r, const PathContext& c) { return c.unless_hta(r.rank); }),
    field<&PathShare::count>("operations; hta: edges"),
    nanoseconds<&PathShare::total_ns>("total_s", "on the path"));

template <>
inline constexpr auto kResults<PathStretch> = table<PathStretch>(
    "stretch", "A part of a critical path on one thread or stream.",
    field<&PathStretch::rank>("whose"),
    field<&PathStretch::on>("thread or stream, with its number"),
    field<&PathStretch::cause>("why it began when the stretch before ended"),
    nanoseconds<&PathStretch::begin_ns>("start_s", "since the step began, replayed"),
    field("duration_s", "of the stretch", [](auto& r) { return time_of(r.end_ns - r.begin_ns); }),
    field<&PathStretch::operations>("in it"),
    field("longest", "name with most of its time", [](auto& r) { return words(r.longest); }),
    field<&PathStretch::bound>("bound_by", "what that is"));

template <>
inline constexpr auto kResults<StepPath> = table<StepPath>(
    "path", "chain of operations that determined when the step ended",
    field("construction", "whose: replay (the run's graph, across ranks) or hta",
          [](auto&, const PathContext& c) { return c.construction; }),
    field("of", "annotation or recording", [](auto& r) { return words(r.of); }),
    field("window", "what of the recording it is the path of",
          [](auto& r, const PathContext& c) {
            return window_since(c.origin_ns, {r.start_ns, r.end_ns});
          }),
    nanoseconds<&StepPath::length_ns>("length_s", "of the path; replay: of the replayed step"),
    optional_field("recorded_s", "of the step or recording; null: simulated only; not of hta",
                   [](auto& r, const PathContext& c) {
                     return c.unless_hta(r.recorded_ns ? std::optional(time_of(*r.recorded_ns))
                                                       : std::nullopt);
                   }),
    field<&StepPath::operations>("nodes", "operations on it; hta: points"),
    field("bound_by_s", "parts of the length, which they add up to",
          [](auto& r, const PathContext& c) {
            const bool hta = c.construction == PathConstruction::hta;
            return path_times(std::span(r.by_bound_ns).first(hta ? kEventPathBounds : kPathBounds));
          }),
    optional_field(
        "on_other_ranks_s", "of these, on other ranks; not of hta",
        [](auto& r, const PathContext& c) { return c.unless_hta(path_times(r.on_others_ns)); }),
    optional_field("ranks", "that the path touches, the longest first; not of hta",
                   [](auto& r, const PathContext& c) { return c.unless_hta(std::span(r.ranks)); }),
    field("events", "by name, longest first, at most 1,000",
          [](auto& r) { return first(r.names, kMostRows); }),
    optional_field(
        "stretches",
        "the longest 1,000 parts of the path on one thread or stream, in order; not of hta",
        [](auto& r, const PathContext& c) { return c.unless_hta(stretches_of(r)); }),
    optional_field("all_stretches", "how many there are; not of hta",
                   [](auto& r, const PathContext& c) { return c.unless_hta(r.stretches.size()); }));

}  // namespace orrery
