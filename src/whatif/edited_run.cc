#include "whatif/edited_run.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analyze/recorded_message.h"
#include "trace/recorded_arguments.h"
#include "whatif/edit_language.h"

namespace orrery {
namespace {

bool fits(std::string_view pattern, std::string_view text) {
  return pattern.empty() || fits_pattern(text, pattern);
}

// Edges into every node, as lists.
EdgeLists edges_into(const RunGraph& graph) {
  return {graph.nodes.size(), [&](const auto& add) {
            for (std::uint32_t e = 0; e < graph.edges.size(); ++e) add(graph.edges[e].to, e);
          }};
}

struct PathOfLaunch {
  std::uint32_t call = kNoEvent;
  std::uint32_t latency = kNoEvent;
};

PathOfLaunch launch_path(const RunGraph& graph, const EdgeLists& into, const RunWork& work) {
  for (const std::uint32_t e : into[work.first]) {
    const RunEdge& edge = graph.edges[e];
    if (edge.across_streams) continue;
    if (graph.nodes[edge.from].kind == RunNodeKind::call) return {edge.from, kNoEvent};
    if (graph.nodes[edge.from].kind != RunNodeKind::latency) continue;
    for (const std::uint32_t before : into[edge.from]) {
      const std::uint32_t from = graph.edges[before].from;
      if (graph.nodes[from].kind == RunNodeKind::call) return {from, edge.from};
    }
  }
  return {};
}

}  // namespace

EditedRun::EditedRun(std::span<const RecordedTrace> traces, RunGraph graph)
    : traces_(traces), graph_(std::move(graph)) {
  links_.reserve(traces.size());
  for (const RecordedTrace& trace : traces) links_.push_back(launch_links(trace));
}

WorkSubject EditedRun::subject(const RunWork& work) const {
  const RecordedTrace& trace = traces_[work.trace];
  const LaunchLinks& links = links_[work.trace];
  WorkSubject s;
  s.kernel = trace.name_of(work.event);
  s.rank = trace.rank;
  s.stream = trace.lanes[trace.lane[work.event]].thread;
  const std::uint32_t inner = links.inner_operator[work.event];
  std::string_view outer;
  if (inner != kNoEvent) {
    s.op = trace.name_of(inner);
    outer = trace.name_of(links.outer_operator(work.event));
    if (trace.details[inner] != kNoDetails) {
      const OperatorDetails& details = trace.operators[trace.details[inner]];
      s.shapes = trace.texts[details.input_shapes];
      s.types = trace.texts[details.input_types];
    }
  }
  const bool kernel = trace.kind[work.event] == EventKind::kernel;
  s.kernel_class = kernel ? kernel_class(s.kernel, s.op, outer) : KernelClass::copy;
  if (s.kernel_class != KernelClass::communication) return s;
  const RecordedMessage message = recorded_message(trace, links, work.event);
  if (message.bytes != kNotRecorded && message.bytes >= 0) {
    s.volume = Bytes(static_cast<double>(message.bytes));
    const auto element = static_cast<double>(element_bytes(message.type));
    if (element > 0) s.element = Bytes(element);
  }
  if (message.ranks != kNotRecorded && message.ranks > 0) s.group_size = message.ranks;
  if (trace.communication[work.event] != kNoDetails) {
    const CommunicationDetails& c = trace.communications[trace.communication[work.event]];
    s.collective = trace.texts[c.collective];
    s.group = trace.texts[c.group];
    s.group_description = trace.texts[c.group_description];
    if (c.group_size != kNotRecorded && c.group_size > 0) s.group_size = c.group_size;
  }
  if (s.collective.empty()) s.collective = collective_of_kernel(s.kernel).value_or("communication");
  return s;
}

bool EditedRun::selects(const Selection& where, const RunWork& work) const {
  if (where.host) return false;
  const RecordedTrace& trace = traces_[work.trace];
  // What is cheap to tell first.
  if (where.rank && trace.rank != *where.rank) return false;
  if (where.stream && trace.lanes[trace.lane[work.event]].thread != *where.stream) return false;
  if (!fits(where.kernel, trace.name_of(work.event))) return false;
  const WorkSubject s = subject(work);
  return (where.kernel_class.empty() || where.kernel_class == to_text(s.kernel_class)) &&
         fits(where.op, s.op) && fits(where.shape, s.shapes) &&
         fits(where.collective, s.collective) &&
         (where.group.empty() || fits_pattern(s.group, where.group) ||
          fits_pattern(s.group_description, where.group));
}

bool EditedRun::selects_host(const Selection& where, const RunNode& node) const {
  if (!where.host && !where.everything()) return false;
  if (node.kind != RunNodeKind::host && node.kind != RunNodeKind::call) return false;
  if (node.event == kNoEvent && !where.op.empty()) return false;
  const RecordedTrace& trace = traces_[node.trace];
  if (where.rank && trace.rank != *where.rank) return false;
  return where.op.empty() || fits_pattern(trace.name_of(node.event), where.op);
}

std::vector<std::uint32_t> EditedRun::selected(const Selection& where) const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t w = 0; w < graph_.works.size(); ++w) {
    if (selects(where, graph_.works[w])) out.push_back(w);
  }
  return out;
}

std::int64_t EditedRun::duration_ns(std::uint32_t work) const {
  std::int64_t sum = 0;
  for (std::uint32_t n = graph_.works[work].first; n <= graph_.works[work].last; ++n) {
    sum += graph_.nodes[n].duration_ns;
  }
  return sum;
}

void EditedRun::set_duration_ns(std::uint32_t work, std::int64_t duration_ns) {
  const RunWork& w = graph_.works[work];
  const std::int64_t before = this->duration_ns(work);
  std::int64_t rest = std::max<std::int64_t>(0, duration_ns);
  if (rest == before) return;
  const double factor = before > 0 ? static_cast<double>(rest) / static_cast<double>(before) : 0;
  for (std::uint32_t n = w.first; n < w.last; ++n) {
    const std::int64_t part = std::min(rest, scaled_ns(graph_.nodes[n].duration_ns, factor));
    graph_.nodes[n].duration_ns = part;
    rest -= part;
  }
  graph_.nodes[w.last].duration_ns = rest;
}

std::vector<RunInstance> EditedRun::instances(std::span<const std::uint32_t> works) const {
  std::unordered_map<std::uint32_t, std::uint32_t> meeting;  // of an arrival
  for (const RunEdge& edge : graph_.edges) {
    if (graph_.nodes[edge.to].kind == RunNodeKind::rendezvous) meeting[edge.from] = edge.to;
  }
  std::vector<RunInstance> out;
  std::unordered_map<std::uint32_t, std::size_t> found;  // by rendezvous
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (const std::uint32_t w : works) {
    const RunWork& work = graph_.works[w];
    if (!communicates(work)) continue;
    const RecordedTrace& trace = traces_[work.trace];
    const auto met = meeting.find(work.first);
    if (met != meeting.end()) {
      const auto [it, is_new] = found.emplace(met->second, out.size());
      if (!is_new) {
        out[it->second].members.push_back(w);
        continue;
      }
    }
    const WorkSubject s = subject(work);
    std::string key = s.collective + ", group " + std::string(s.group);
    // One rank's own order where its peers are not known.
    if (met == meeting.end()) key += ", rank " + std::to_string(work.trace);
    order.emplace_back(trace.start_ns[work.event] + (trace.base_ns - traces_[0].base_ns),
                       out.size());
    out.push_back({std::move(key), {w}});
  }
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<RunInstance> sorted;
  sorted.reserve(out.size());
  for (const auto& [start, index] : order) sorted.push_back(std::move(out[index]));
  return sorted;
}

void EditedRun::remove(std::span<const std::uint32_t> works, Remove what) {
  const auto into = edges_into(graph_);
  std::unordered_map<std::uint32_t, std::size_t> launches;  // of a call node
  for (const RunWork& work : graph_.works) {
    const PathOfLaunch path = launch_path(graph_, into, work);
    if (path.call != kNoEvent) ++launches[path.call];
  }
  std::vector<bool> removed_call(graph_.nodes.size(), false);
  std::vector<bool> removed_first(graph_.nodes.size(), false);
  for (const std::uint32_t w : works) {
    const RunWork& work = graph_.works[w];
    if (what == Remove::work_and_launch) set_duration_ns(w, 0);
    removed_first[work.first] = true;
    const PathOfLaunch path = launch_path(graph_, into, work);
    if (path.latency != kNoEvent) graph_.nodes[path.latency].duration_ns = 0;
    if (path.call != kNoEvent && --launches[path.call] == 0) removed_call[path.call] = true;
  }
  if (what == Remove::work_and_launch) {
    // A communication that does not happen waits for nobody.
    std::vector<bool> removed_last(graph_.nodes.size(), false);
    for (const std::uint32_t w : works) removed_last[graph_.works[w].last] = true;
    std::erase_if(graph_.edges, [&](const RunEdge& edge) {
      return removed_last[edge.to] && graph_.nodes[edge.from].kind == RunNodeKind::rendezvous;
    });
  }
  for (const RunLane& lane : graph_.lanes) {
    for (std::size_t i = 0; i < lane.nodes.size(); ++i) {
      const std::uint32_t node = lane.nodes[i];
      if (removed_first[node] && i > 0 &&
          graph_.nodes[lane.nodes[i - 1]].kind == RunNodeKind::dispatch) {
        graph_.nodes[lane.nodes[i - 1]].duration_ns = 0;
      }
      if (!removed_call[node]) continue;
      graph_.nodes[node].duration_ns = 0;
      // The half of a call after its launch.
      if (i + 1 < lane.nodes.size()) {
        RunNode& next = graph_.nodes[lane.nodes[i + 1]];
        if (next.kind == RunNodeKind::call && next.event == graph_.nodes[node].event) {
          next.duration_ns = 0;
        }
      }
    }
  }
}

std::vector<std::uint32_t> EditedRun::launching_nodes() const {
  const auto into = edges_into(graph_);
  std::vector<std::uint32_t> out;
  out.reserve(graph_.works.size());
  for (const RunWork& work : graph_.works) out.push_back(launch_path(graph_, into, work).call);
  return out;
}

bool EditedRun::begins_recording(std::uint32_t node) const {
  const RunNode& n = graph_.nodes[node];
  return n.kind == RunNodeKind::host && n.event == kNoEvent && n.lane != kNoLane &&
         graph_.lanes[n.lane].nodes.front() == node;
}

std::int64_t scaled_ns(std::int64_t ns, double factor) {
  constexpr double kLongest = 9e15;  // 104 days
  return static_cast<std::int64_t>(
      std::llround(std::clamp(static_cast<double>(ns) * factor, 0.0, kLongest)));
}

}  // namespace orrery
