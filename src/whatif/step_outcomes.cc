#include "whatif/step_outcomes.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "trace/launch_links.h"

namespace orrery {
namespace {

// Starts (+1) and ends (-1) of kernels of one rank, by time.
struct Change {
  std::int64_t at_ns = 0;
  std::size_t part = 0;  // 0 computing, 1 communicating
  int by = 0;
};

Seconds from_ns(std::int64_t ns) { return Seconds(static_cast<double>(ns) * 1e-9); }

// A rank, or a stage that an edit made of it.
using Place = std::pair<std::uint32_t, std::uint32_t>;
template <class Of>
Place place(const Of& of) {
  return {of.trace, of.stage};
}

std::map<Place, std::vector<Change>> changes_by_place(std::span<const RecordedTrace> traces,
                                                      const RunGraph& graph,
                                                      const ReplayedRun& replayed) {
  std::map<Place, std::vector<Change>> out;
  for (const RunWork& work : graph.works) {
    const RecordedTrace& trace = traces[work.trace];
    if (trace.kind[work.event] != EventKind::kernel) continue;
    const std::size_t part = is_communication_kernel(trace.name_of(work.event)) ? 1 : 0;
    std::vector<Change>& changes = out[place(work)];
    changes.push_back({replayed.start_ns[work.first], part, 1});
    changes.push_back({replayed.end_ns[work.last], part, -1});
  }
  for (auto& [where, changes] : out) {
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.at_ns < b.at_ns; });
  }
  return out;
}

FourParts parts_between(const std::vector<Change>& changes, std::int64_t from, std::int64_t until) {
  std::array<int, 2> running{};
  std::array<std::int64_t, 4> ns{};  // neither, computing, communicating, both
  std::int64_t since = from;
  const auto book = [&](std::int64_t at) {
    const std::int64_t to = std::clamp(at, since, until);
    ns[(running[0] > 0 ? 1u : 0u) + (running[1] > 0 ? 2u : 0u)] += to - since;
    since = to;
  };
  for (const Change& change : changes) {
    book(change.at_ns);
    running[change.part] += change.by;
  }
  book(until);
  return {from_ns(ns[1]), from_ns(ns[3]), from_ns(ns[2]), from_ns(ns[0])};
}

// When each step's rank is done with it.
std::vector<std::int64_t> ends_of_steps(std::span<const RecordedTrace> traces,
                                        const RunGraph& graph, const ReplayedRun& replayed) {
  std::vector<std::int64_t> ends;
  ends.reserve(graph.steps.size());
  std::map<Place, std::vector<std::size_t>> steps_of;
  for (std::size_t s = 0; s < graph.steps.size(); ++s) {
    ends.push_back(replayed.end_ns[graph.steps[s].to]);
    steps_of[place(graph.steps[s])].push_back(s);
  }
  std::vector<LaunchLinks> links;
  links.reserve(traces.size());
  for (const RecordedTrace& trace : traces) links.push_back(launch_links(trace));
  for (const RunWork& work : graph.works) {
    const std::uint32_t call = links[work.trace].launch[work.event];
    const std::int64_t launched =
        traces[work.trace].start_ns[call == kNotLaunched ? work.event : call];
    // Steps of a trace are by start and do not overlap.
    const std::vector<std::size_t>& steps = steps_of[place(work)];
    const auto after = std::upper_bound(
        steps.begin(), steps.end(), launched,
        [&](std::int64_t ns, std::size_t s) { return ns < graph.steps[s].start_ns; });
    if (after == steps.begin()) continue;
    const std::size_t s = *(after - 1);
    if (launched < graph.steps[s].end_ns) ends[s] = std::max(ends[s], replayed.end_ns[work.last]);
  }
  return ends;
}

}  // namespace

std::vector<StepOutcome> step_outcomes(std::span<const RecordedTrace> traces, const RunGraph& graph,
                                       const ReplayedRun& replayed) {
  const std::vector<std::int64_t> ends = ends_of_steps(traces, graph, replayed);
  auto changes = changes_by_place(traces, graph, replayed);
  std::map<Place, std::int64_t> done;  // with the step before
  std::vector<StepOutcome> out;
  out.reserve(graph.steps.size());
  for (std::size_t s = 0; s < graph.steps.size(); ++s) {
    const RunStep& step = graph.steps[s];
    std::int64_t start = step.from == kNoEvent ? 0 : replayed.end_ns[step.from];
    const auto before = done.find(place(step));
    if (before != done.end()) start = std::max(start, before->second);
    const std::int64_t end = std::max(start, ends[s]);
    done[place(step)] = ends[s];
    out.push_back({from_ns(end - start), parts_between(changes[place(step)], start, end)});
  }
  return out;
}

}  // namespace orrery
