// The critical path of a rank in the document of `orrery trace analyze --json`, of either
// construction: that of the run's graph (replay/step_path.h) or HTA's (analyze/critical_path.h).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
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

struct PathEvent {
  std::string name;
  PathBound bound = PathBound::host;
  std::optional<std::int64_t> rank;
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
};

enum class PathConstruction { replay, hta };
// A critical path of either construction; what HTA's has not is left out.
struct PathDocument {
  PathConstruction construction = PathConstruction::replay;
  std::string of;
  TimeWindow window;
  Seconds length;
  std::optional<std::optional<Seconds>> recorded;
  std::int64_t nodes = 0;
  PathTimes bound_by;
  std::optional<PathTimes> on_others;
  std::optional<std::span<const RankShare>> ranks;
  std::vector<PathEvent> events;
  std::optional<std::vector<PathStretch>> stretches;
  std::optional<std::size_t> all_stretches;
};

inline PathTimes path_times(std::span<const std::int64_t> ns) {
  PathTimes out;
  for (const std::int64_t t : ns) out.values.push_back(time_of(t));
  return out;
}

inline PathDocument path_document(const StepPath& path, PathConstruction construction,
                                  std::int64_t origin_ns) {
  PathDocument out;
  const bool hta = construction == PathConstruction::hta;
  out.construction = construction;
  out.of = words(path.of);
  out.window = window_since(origin_ns, {path.start_ns, path.end_ns});
  out.length = time_of(path.length_ns);
  out.nodes = path.operations;
  out.bound_by =
      path_times(std::span(path.by_bound_ns).first(hta ? kEventPathBounds : kPathBounds));
  for (const PathShare& row : first(path.names, kMostRows)) {
    out.events.push_back({words(row.name), row.bound, hta ? std::nullopt : std::optional(row.rank),
                          row.count, row.total_ns});
  }
  if (hta) return out;
  out.recorded = path.recorded_ns ? std::optional(time_of(*path.recorded_ns)) : std::nullopt;
  out.on_others = path_times(path.on_others_ns);
  out.ranks = path.ranks;
  out.stretches.emplace();
  for (const std::size_t i : longest_stretches(path, kMostRows)) {
    out.stretches->push_back(path.stretches[i]);
  }
  out.all_stretches = path.stretches.size();
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
inline constexpr auto kResults<PathEvent> = table<PathEvent>(
    "event_on_path", "What of a critical path belongs to one name.",
    field<&PathEvent::name>("of the event"), field<&PathEvent::bound>("bound_by", "by what"),
    optional_field("rank", "whose; not of hta", [](auto& r) { return r.rank; }),
    field<&PathEvent::count>("operations; hta: edges"),
    nanoseconds<&PathEvent::total_ns>("total_s", "on the path"));

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
inline constexpr auto kResults<PathDocument> = table<PathDocument>(
    "path", "chain of operations that determined when the step ended",
    field<&PathDocument::construction>("whose: replay (the run's graph, across ranks) or hta"),
    field<&PathDocument::of>("annotation or recording"),
    field<&PathDocument::window>("what of the recording it is the path of"),
    field<&PathDocument::length>("length_s", "of the path; replay: of the replayed step"),
    optional_field("recorded_s", "of the step or recording; null: simulated only; not of hta",
                   [](auto& r) { return r.recorded; }),
    field<&PathDocument::nodes>("operations on it; hta: points"),
    field<&PathDocument::bound_by>("bound_by_s", "parts of the length, which they add up to"),
    optional_field("on_other_ranks_s", "of these, on other ranks; not of hta",
                   [](auto& r) { return r.on_others; }),
    optional_field("ranks", "that the path touches, the longest first; not of hta",
                   [](auto& r) { return r.ranks; }),
    field<&PathDocument::events>("by name, longest first, at most 1,000"),
    optional_field(
        "stretches",
        "the longest 1,000 parts of the path on one thread or stream, in order; not of hta",
        [](auto& r) { return r.stretches; }),
    optional_field("all_stretches", "how many there are; not of hta",
                   [](auto& r) { return r.all_stretches; }));

}  // namespace orrery
