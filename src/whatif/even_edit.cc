#include "whatif/even_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "trace/kernel_class.h"
#include "whatif/known_edits.h"

namespace orrery {
namespace {

constexpr std::uint32_t kNone = AlignedStretches::kNone;

// A moment of a rank that other ranks have as well.
struct Point {
  std::int64_t at_ns = 0;
  std::uint32_t id = 0;
};

// Where each rank launched its part of one communication.
struct LaunchMeeting {
  std::vector<std::pair<std::uint32_t, std::int64_t>> launched;  // trace and time, by trace
  std::uint32_t work = 0;                                        // of the first trace
};

std::vector<LaunchMeeting> meetings(const EditedRun& run, const ReplayedRun& times,
                                    const std::vector<std::int64_t>& launched) {
  const RunGraph& graph = run.graph();
  std::vector<std::uint32_t> work_of(graph.nodes.size(), kNone);
  for (std::uint32_t w = 0; w < graph.works.size(); ++w) work_of[graph.works[w].first] = w;
  std::map<std::uint32_t, LaunchMeeting> by_rendezvous;
  for (const RunEdge& edge : graph.edges) {
    if (graph.nodes[edge.to].kind != RunNodeKind::rendezvous || work_of[edge.from] == kNone) {
      continue;
    }
    const std::uint32_t w = work_of[edge.from];
    LaunchMeeting& meeting = by_rendezvous[edge.to];
    const std::uint32_t trace = graph.works[w].trace;
    if (meeting.launched.empty() || trace < graph.works[meeting.work].trace) meeting.work = w;
    meeting.launched.emplace_back(trace, launched[w]);
  }
  std::vector<LaunchMeeting> out;
  for (auto& [rendezvous, meeting] : by_rendezvous) {
    std::ranges::sort(meeting.launched);
    if (meeting.launched.front().first != meeting.launched.back().first) {
      out.push_back(std::move(meeting));
    }
  }
  std::ranges::stable_sort(out, [&](const LaunchMeeting& a, const LaunchMeeting& b) {
    return times.end_ns[run.graph().works[a.work].first] <
           times.end_ns[run.graph().works[b.work].first];
  });
  return out;
}

// When each rank ends its steps, by name.
struct NamedStepEnds {
  std::vector<std::vector<std::pair<std::int64_t, std::string>>> of_trace;
  std::vector<std::int64_t> begins;  // the first of a trace

  NamedStepEnds(const RunGraph& graph, const ReplayedRun& times, std::size_t traces)
      : of_trace(traces), begins(traces, 0) {
    std::vector<bool> found(traces, false);
    for (const RunStep& step : graph.steps) {
      const std::int64_t from = step.from == kNoEvent ? 0 : times.end_ns[step.from];
      if (!found[step.trace] || from < begins[step.trace]) begins[step.trace] = from;
      found[step.trace] = true;
      of_trace[step.trace].emplace_back(times.end_ns[step.to], step.name);
    }
    for (auto& ends : of_trace) std::ranges::sort(ends);
  }

  [[nodiscard]] std::string step_at(std::uint32_t trace, std::int64_t ns) const {
    const auto& ends = of_trace[trace];
    const auto step = std::ranges::lower_bound(ends, ns, {}, [](const auto& e) { return e.first; });
    return step == ends.end() ? "after the last step" : step->second;
  }
};

// The points of every rank, by what ranks have in common.
class SharedPoints {
 public:
  SharedPoints(const EditedRun& run, const NamedStepEnds& steps, std::size_t traces)
      : run_(run), steps_(steps), points_(traces) {}

  void add(const LaunchMeeting& meeting) {
    const WorkSubject s = run_.subject(run_.graph().works[meeting.work]);
    const auto& [first, at] = meeting.launched.front();
    const std::string kind = fmt::format("{} over {}", s.collective, s.group_description);
    std::string key = fmt::format("{} of {} in {}", kind, s.volume ? s.volume->value() : 0.0,
                                  steps_.step_at(first, at));
    key += fmt::format(", {}", counted_[{first, key}]++);
    const auto [it, is_new] = known_.emplace(key, next_id());
    std::uint32_t id = it->second;
    // Two of one rank are never one point, whatever was cut off.
    if (!is_new &&
        std::ranges::any_of(meeting.launched, [&](const auto& m) { return has_[id][m.first]; })) {
      id = next_id();
    }
    if (id == next_id()) {
      has_.emplace_back(points_.size(), false);
      kinds_.push_back(kind);
    }
    for (const auto& [trace, launch] : meeting.launched) {
      if (has_[id][trace]) continue;
      has_[id][trace] = true;
      points_[trace].push_back({launch, id});
    }
  }

  // A rank whose recording lacks one of many communications would seem to take longer until the
  // next: such a point is none.
  void leave_out_cut_off() {
    std::map<std::string, std::set<std::vector<bool>>> ranks_of_kind;
    for (std::size_t id = 0; id < has_.size(); ++id) ranks_of_kind[kinds_[id]].insert(has_[id]);
    std::vector<bool> left_out(has_.size(), false);
    for (std::size_t id = 0; id < has_.size(); ++id) {
      const std::set<std::vector<bool>>& all = ranks_of_kind[kinds_[id]];
      left_out[id] = std::ranges::any_of(all, [&](const std::vector<bool>& ranks) {
        return ranks != has_[id] && holds(ranks, has_[id]);
      });
    }
    left_out_ = static_cast<std::size_t>(std::ranges::count(left_out, true));
    for (std::vector<Point>& points : points_) {
      std::erase_if(points, [&](const Point& point) { return left_out[point.id]; });
    }
  }

  void add_ends_of_steps() {
    std::map<std::string, std::uint32_t> ends;
    for (std::uint32_t t = 0; t < points_.size(); ++t) {
      std::map<std::string, int> seen;
      for (const auto& [end, name] : steps_.of_trace[t]) {
        const auto next = static_cast<std::uint32_t>(has_.size() + ends.size());
        const auto it = ends.emplace(fmt::format("{} {}", name, seen[name]++), next).first;
        points_[t].push_back({end, it->second});
      }
      std::ranges::stable_sort(points_[t], {}, &Point::at_ns);
    }
  }

  [[nodiscard]] const std::vector<std::vector<Point>>& of_trace() const { return points_; }
  [[nodiscard]] std::size_t communications() const { return has_.size() - left_out_; }

 private:
  [[nodiscard]] std::uint32_t next_id() const { return static_cast<std::uint32_t>(has_.size()); }

  static bool holds(const std::vector<bool>& all, const std::vector<bool>& some) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (some[i] && !all[i]) return false;
    }
    return true;
  }

  const EditedRun& run_;
  const NamedStepEnds& steps_;
  std::vector<std::vector<Point>> points_;
  std::vector<std::vector<bool>> has_;  // by point and trace
  std::vector<std::string> kinds_;      // of points
  std::map<std::string, std::uint32_t> known_;
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> counted_;
  std::size_t left_out_ = 0;
};

// Who does it: a thread that launches work, another thread, or the device (by class of kernel).
using Doer = std::uint32_t;
constexpr Doer kLaunchingThreads = 0;
constexpr Doer kOtherThreads = 1;
constexpr Doer kDevice = 2;
constexpr Doer kDoers = kDevice + static_cast<Doer>(kKernelClasses);

// Times of selected work in each stretch, of every rank.
class Totals {
 public:
  Totals(const AlignedStretches& stretches, std::size_t traces)
      : stretches_(stretches), traces_(traces) {}

  void add(std::uint32_t stretch, Doer doer, std::uint32_t trace, std::int64_t ns) {
    std::vector<double>& of_traces = ns_[std::uint64_t{stretch} * kDoers + doer];
    of_traces.resize(traces_, 0.0);
    of_traces[trace] += static_cast<double>(ns);
    all_ += static_cast<double>(ns);
    if (ranks(stretch) >= 2) compared_ += static_cast<double>(ns);
  }

  // What a rank's times are multiplied with; 1 where no other rank can be compared.
  [[nodiscard]] double factor(std::uint32_t stretch, Doer doer, std::uint32_t trace) const {
    const auto found = ns_.find(std::uint64_t{stretch} * kDoers + doer);
    const std::int64_t count = ranks(stretch);
    if (found == ns_.end() || count < 2 || found->second[trace] <= 0) return 1;
    double sum = 0;
    for (std::uint32_t t = 0; t < traces_; ++t) {
      if (stretches_.reached[stretch][t]) sum += found->second[t];
    }
    return std::min(1.0, sum / static_cast<double>(count) / found->second[trace]);
  }

  // Of all selected time, the share that other ranks can be compared with.
  [[nodiscard]] double compared() const { return all_ > 0 ? compared_ / all_ : 1; }

 private:
  [[nodiscard]] std::int64_t ranks(std::uint32_t stretch) const {
    return std::ranges::count(stretches_.reached[stretch], true);
  }

  const AlignedStretches& stretches_;
  std::size_t traces_;
  std::unordered_map<std::uint64_t, std::vector<double>> ns_;  // by stretch and doer
  double all_ = 0;
  double compared_ = 0;
};

std::int64_t recorded_ns(const AlignedStretches& stretches, const RunWork& work) {
  std::int64_t sum = 0;
  for (std::uint32_t n = work.first; n <= work.last; ++n) sum += stretches.node_ns[n];
  return sum;
}

}  // namespace

AlignedStretches aligned_stretches(const EditedRun& run) {
  const RunGraph& graph = run.graph();
  const std::size_t traces = run.traces().size();
  AlignedStretches out;
  out.node_ns.reserve(graph.nodes.size());
  for (const RunNode& node : graph.nodes) out.node_ns.push_back(node.duration_ns);
  out.launches.assign(graph.lanes.size(), false);
  const ReplayedRun times = replayed_run(graph);
  const std::vector<std::uint32_t> calls = run.launching_nodes();
  std::vector<std::int64_t> launched(graph.works.size(), 0);
  for (std::uint32_t w = 0; w < graph.works.size(); ++w) {
    const std::uint32_t at = calls[w] == kNoEvent ? graph.works[w].first : calls[w];
    launched[w] = times.start_ns[at];
    if (calls[w] != kNoEvent && graph.nodes[at].lane != kNoLane) {
      out.launches[graph.nodes[at].lane] = true;
    }
  }
  const NamedStepEnds steps(graph, times, traces);

  SharedPoints shared(run, steps, traces);
  for (const LaunchMeeting& meeting : meetings(run, times, launched)) shared.add(meeting);
  shared.leave_out_cut_off();
  out.points = shared.communications();
  shared.add_ends_of_steps();
  const std::vector<std::vector<Point>>& points = shared.of_trace();

  // Stretches, by the point they end at and the one before.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> stretches;
  std::vector<std::vector<std::uint32_t>> stretch_to(traces);
  for (std::uint32_t t = 0; t < traces; ++t) {
    std::uint32_t before = kNone;
    for (const Point& point : points[t]) {
      const auto [it, is_new] = stretches.emplace(std::pair(point.id, before),
                                                  static_cast<std::uint32_t>(stretches.size()));
      if (is_new) out.reached.emplace_back(traces, false);
      out.reached[it->second][t] = true;
      stretch_to[t].push_back(it->second);
      before = point.id;
    }
  }
  const auto stretch_at = [&](std::uint32_t trace, std::int64_t ns) {
    if (ns < steps.begins[trace]) return kNone;
    const auto it = std::ranges::lower_bound(points[trace], ns, {}, &Point::at_ns);
    return it == points[trace].end()
               ? kNone
               : stretch_to[trace][static_cast<std::size_t>(it - points[trace].begin())];
  };
  out.of_node.reserve(graph.nodes.size());
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    out.of_node.push_back(stretch_at(graph.nodes[n].trace, times.start_ns[n]));
  }
  out.of_work.reserve(graph.works.size());
  for (std::uint32_t w = 0; w < graph.works.size(); ++w) {
    out.of_work.push_back(stretch_at(graph.works[w].trace, launched[w]));
  }
  return out;
}

void apply_even(EditedRun& run, AppliedEdit& edit, const AlignedStretches& stretches) {
  const std::size_t traces = run.traces().size();
  if (traces < 2) {
    const std::int64_t ranks = run.traces().empty() ? 1 : run.traces()[0].world_size;
    edit.assumed.push_back(
        fmt::format("one rank{} is recorded: there is no other to compare it with, and nothing is "
                    "changed",
                    ranks > 1 ? fmt::format(" of {}", ranks) : ""));
    return;
  }
  const Selection& where = edit.edit.where;
  RunGraph& graph = run.graph();
  // The means are over all ranks, whichever are evened.
  Selection of_all = where;
  of_all.rank.reset();
  Totals totals(stretches, traces);
  struct Part {
    std::uint32_t index = 0;  // of a work or a node
    Doer doer = kDevice;
  };
  std::vector<Part> works;
  std::vector<Part> nodes;
  for (std::uint32_t w = 0; w < graph.works.size(); ++w) {
    const RunWork& work = graph.works[w];
    if (run.communicates(work) || stretches.of_work[w] == kNone) continue;
    if (!run.selects(of_all, work)) continue;
    const Doer doer = kDevice + static_cast<Doer>(run.subject(work).kernel_class);
    totals.add(stretches.of_work[w], doer, work.trace, recorded_ns(stretches, work));
    if (run.selects(where, work)) works.push_back({w, doer});
  }
  if (where.host || of_all.everything()) {
    Selection host = where;
    host.host = true;
    Selection host_of_all = of_all;
    host_of_all.host = true;
    for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
      const RunNode& node = graph.nodes[n];
      if (stretches.of_node[n] == kNone || run.begins_recording(n)) continue;
      if (!run.selects_host(host_of_all, node)) continue;
      const bool launches = node.lane != kNoLane && stretches.launches[node.lane];
      const Doer doer = launches ? kLaunchingThreads : kOtherThreads;
      totals.add(stretches.of_node[n], doer, node.trace, stretches.node_ns[n]);
      if (run.selects_host(host, node)) nodes.push_back({n, doer});
    }
  }
  if (works.empty() && nodes.empty()) return;
  for (const Part& part : works) {
    const RunWork& work = graph.works[part.index];
    const double factor = totals.factor(stretches.of_work[part.index], part.doer, work.trace);
    const std::int64_t now = run.duration_ns(part.index);
    const std::int64_t evened = std::min(now, scaled_ns(recorded_ns(stretches, work), factor));
    if (evened == now) continue;
    run.set_duration_ns(part.index, evened);
    ++edit.changed;
  }
  for (const Part& part : nodes) {
    RunNode& node = graph.nodes[part.index];
    const double factor = totals.factor(stretches.of_node[part.index], part.doer, node.trace);
    const std::int64_t evened =
        std::min(node.duration_ns, scaled_ns(stretches.node_ns[part.index], factor));
    if (evened == node.duration_ns) continue;
    node.duration_ns = evened;
    ++edit.changed;
  }
  edit.assumed.push_back(fmt::format(
      "between neighbouring points that ranks share ({} communications, and the ends of steps), a "
      "rank that takes longer than the mean of the ranks takes the mean, its threads and each "
      "class of kernels apart; faster ranks, transfers and how far apart the recordings begin stay",
      stretches.points));
  constexpr double kNearlyAll = 0.98;
  if (totals.compared() < kNearlyAll) {
    edit.assumed.push_back(fmt::format(
        "{:.0f} % of that time lies where ranks did not come from the same point, and stays",
        100 * (1 - totals.compared())));
  }
}

namespace {

Result<void> apply(EditedRun& run, AppliedEdit& edit, EditContext& context) {
  if (context.alike == nullptr) {
    context.alike = std::make_shared<AlignedStretches>(aligned_stretches(run));
  }
  apply_even(run, edit, *context.alike);
  return changed_something(edit);
}

}  // namespace

const EditVerb kEvenEdit{
    .verb = "even", .form = "even [WHERE]", .where = EditPart::may, .apply = apply};

}  // namespace orrery
