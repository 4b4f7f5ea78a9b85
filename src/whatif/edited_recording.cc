#include "whatif/edited_recording.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace orrery {
namespace {

// What the threads of an edited run did: every operator and call once, from its first piece to its
// last.
//
// In a graph the host's time lies in pieces, each of the innermost operator
// (replay/host_segments.h). An operator's span covers its own pieces and those of what it called,
// by the nesting of the recording; what was removed or takes no time is not there, though what
// surrounds something that still takes time is. Edits may repeat pieces (layers, microbatches): an
// operator begins anew where its first child follows a later one of its children, or a second work
// is launched by one call. Where what repeats is a single piece without children, copies next to
// each other are one. O(events + nodes x depth).

struct HostSpan {
  std::uint32_t event = 0;        // of the trace: an operator or a call
  std::uint32_t lane = 0;         // into RunGraph::lanes
  std::uint32_t work = kNoEvent;  // into RunGraph::works: what a call launched
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// How the events of the host nest in a recording.
struct Nesting {
  std::vector<std::uint32_t> parent;  // kNoEvent: none
  std::vector<std::uint32_t> first_child;
};

Nesting nesting_of(const RecordedTrace& trace) {
  Nesting out;
  out.parent.assign(trace.size(), kNoEvent);
  out.first_child.assign(trace.size(), kNoEvent);
  std::vector<std::vector<std::uint32_t>> open(trace.lanes.size());
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    const EventKind kind = trace.kind[e];
    const bool encloses = kind == EventKind::cpu_operator || kind == EventKind::annotation;
    if (!encloses && kind != EventKind::runtime_call) continue;
    std::vector<std::uint32_t>& around = open[trace.lane[e]];
    while (!around.empty() && trace.end_ns(around.back()) <= trace.start_ns[e]) around.pop_back();
    // What outlasts what it began in is not enclosed by it.
    const auto parent = std::find_if(around.rbegin(), around.rend(), [&](std::uint32_t p) {
      return trace.end_ns(p) >= trace.end_ns(e);
    });
    if (parent != around.rend()) {
      out.parent[e] = *parent;
      if (out.first_child[*parent] == kNoEvent) out.first_child[*parent] = e;
    }
    if (encloses) around.push_back(e);
  }
  return out;
}

// What is open on one lane, and the spans so far.
class Spans {
 public:
  Spans(const RecordedTrace& trace, const Nesting& nesting, std::uint32_t lane,
        std::vector<HostSpan>& out)
      : trace_(trace), nesting_(nesting), lane_(lane), out_(out) {}

  void add(std::uint32_t event, std::uint32_t work, std::int64_t start_ns, std::int64_t end_ns) {
    chain_.clear();
    for (std::uint32_t e = event; e != kNoEvent; e = nesting_.parent[e]) chain_.push_back(e);
    std::ranges::reverse(chain_);
    std::size_t kept = 0;
    while (kept < std::min(open_.size(), chain_.size()) && open_[kept].event == chain_[kept]) {
      ++kept;
    }
    if (work != kNoEvent && kept == chain_.size() && launches(open_[kept - 1])) --kept;
    // A first child after a later one: all of it happens again.
    while (kept > 0 && kept < chain_.size() && repeats(open_[kept - 1], chain_[kept])) --kept;
    open_.resize(kept);
    for (std::size_t i = kept; i < chain_.size(); ++i) {
      if (i > 0) open_[i - 1].last_child = chain_[i];
      open_.push_back({chain_[i], kNoEvent, kNoEvent});
      // Of a mark only its step is written, elsewhere.
      if (trace_.kind[chain_[i]] == EventKind::annotation) continue;
      open_.back().span = static_cast<std::uint32_t>(out_.size());
      out_.push_back({chain_[i], lane_, kNoEvent, start_ns, end_ns});
    }
    for (const Open& open : open_) {
      if (open.span != kNoEvent) out_[open.span].end_ns = std::max(out_[open.span].end_ns, end_ns);
    }
    if (work != kNoEvent && open_.back().span != kNoEvent) out_[open_.back().span].work = work;
  }
  void close() { open_.clear(); }

 private:
  struct Open {
    std::uint32_t event = kNoEvent;
    std::uint32_t last_child = kNoEvent;
    std::uint32_t span = kNoEvent;  // into out_
  };

  [[nodiscard]] bool launches(const Open& open) const {
    return open.span != kNoEvent && out_[open.span].work != kNoEvent;
  }
  [[nodiscard]] bool repeats(const Open& open, std::uint32_t child) const {
    return open.last_child != kNoEvent && child <= open.last_child &&
           nesting_.first_child[open.event] == child;
  }

  const RecordedTrace& trace_;
  const Nesting& nesting_;
  std::uint32_t lane_;
  std::vector<HostSpan>& out_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> chain_;  // outermost first
};

// By lane, enclosing before enclosed. `launched`: of every node the work it launched, or kNoEvent.
std::vector<HostSpan> host_spans(std::span<const RecordedTrace> traces, const RunGraph& graph,
                                 const ReplayedRun& times,
                                 const std::vector<std::uint32_t>& launched) {
  std::vector<Nesting> nestings;
  nestings.reserve(traces.size());
  for (const RecordedTrace& trace : traces) nestings.push_back(nesting_of(trace));
  std::vector<HostSpan> out;
  for (std::uint32_t l = 0; l < graph.lanes.size(); ++l) {
    const RunLane& lane = graph.lanes[l];
    if (lane.device) continue;
    Spans spans(traces[lane.trace], nestings[lane.trace], l, out);
    for (const std::uint32_t n : lane.nodes) {
      const RunNode& node = graph.nodes[n];
      const bool of_host = node.kind == RunNodeKind::host || node.kind == RunNodeKind::call;
      if (!of_host || node.duration_ns == 0) continue;
      if (node.event == kNoEvent) {
        spans.close();
        continue;
      }
      spans.add(node.event, launched[n], times.start_ns[n], times.end_ns[n]);
    }
  }
  return out;
}

struct Event {
  EventKind kind = EventKind::other;
  std::string_view name;
  std::uint32_t lane = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t correlation = kNotRecorded;
  std::uint32_t recorded = kNoEvent;  // the event it was
};

CommunicationDetails copied(const CommunicationDetails& from, const TextTable& texts,
                            TextTable& into) {
  CommunicationDetails out = from;
  for (std::uint32_t* text : {&out.collective, &out.data_type, &out.group, &out.group_description,
                              &out.group_ranks, &out.input_splits, &out.output_splits}) {
    *text = into.intern(texts[*text]);
  }
  return out;
}

RecordedTrace recording_of(const RecordedTrace& from, std::vector<Event> events) {
  RecordedTrace out;
  out.file = from.file;
  out.base_ns = from.base_ns;
  out.backend = from.backend;
  out.groups = from.groups;
  out.devices = from.devices;
  out.lanes = from.lanes;
  std::ranges::stable_sort(events, [](const Event& a, const Event& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  for (const Event& event : events) {
    out.append(event.kind, event.name, event.lane, event.start_ns, event.end_ns - event.start_ns);
    out.correlation.back() = event.correlation;
    if (event.recorded == kNoEvent || from.communication[event.recorded] == kNoDetails) continue;
    out.communication.back() = static_cast<std::uint32_t>(out.communications.size());
    out.communications.push_back(
        copied(from.communications[from.communication[event.recorded]], from.texts, out.texts));
  }
  out.entries = static_cast<std::int64_t>(out.size());
  return out;
}

}  // namespace

std::vector<RecordedTrace> edited_recording(std::span<const RecordedTrace> traces,
                                            const RunGraph& graph, const ReplayedRun& times) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Event>> events;  // of ranks
  // A host's lane belongs to the stage whose work it launches, directly or over a latency.
  std::vector<std::uint32_t> stage_of_lane(graph.lanes.size(), 0);
  std::vector<std::uint32_t> work_of(graph.nodes.size(), kNoEvent);
  for (std::uint32_t w = 0; w < graph.works.size(); ++w) work_of[graph.works[w].first] = w;
  std::vector<std::uint32_t> launches(graph.nodes.size(), kNoEvent);  // works, of calls
  std::vector<std::uint32_t> next(graph.nodes.size(), kNoEvent);      // of latencies
  for (const RunEdge& edge : graph.edges) {
    if (graph.nodes[edge.from].kind == RunNodeKind::latency) next[edge.from] = edge.to;
  }
  for (const RunEdge& edge : graph.edges) {
    if (graph.nodes[edge.from].kind != RunNodeKind::call || edge.across_streams) continue;
    const bool over = graph.nodes[edge.to].kind == RunNodeKind::latency;
    const std::uint32_t to = over ? next[edge.to] : edge.to;
    if (to == kNoEvent || work_of[to] == kNoEvent) continue;
    launches[edge.from] = work_of[to];
    stage_of_lane[graph.nodes[edge.from].lane] = graph.works[work_of[to]].stage;
  }
  for (const HostSpan& span : host_spans(traces, graph, times, launches)) {
    const RunLane& lane = graph.lanes[span.lane];
    const RecordedTrace& trace = traces[lane.trace];
    events[{lane.trace, stage_of_lane[span.lane]}].push_back(
        {trace.kind[span.event], trace.name_of(span.event), trace.lane[span.event], span.start_ns,
         span.end_ns, span.work == kNoEvent ? kNotRecorded : std::int64_t{span.work} + 1,
         kNoEvent});
  }
  for (std::uint32_t w = 0; w < graph.works.size(); ++w) {
    const RunWork& work = graph.works[w];
    const RecordedTrace& trace = traces[work.trace];
    if (times.end_ns[work.last] == times.start_ns[work.first]) continue;  // removed
    events[{work.trace, work.stage}].push_back(
        {trace.kind[work.event], trace.name_of(work.event), trace.lane[work.event],
         times.start_ns[work.first], times.end_ns[work.last], std::int64_t{w} + 1, work.event});
  }
  std::uint32_t stages = 1;
  for (const RunStep& step : graph.steps) {
    stages = std::max(stages, step.stage + 1);
    const std::int64_t from = step.from == kNoEvent ? 0 : times.end_ns[step.from];
    const std::int64_t to = times.end_ns[step.to];
    events[{step.trace, step.stage}].push_back({EventKind::annotation, step.name,
                                                graph.lanes[graph.nodes[step.to].lane].lane, from,
                                                std::max(from, to), kNotRecorded, kNoEvent});
  }
  std::vector<RecordedTrace> out;
  for (auto& [place, of_rank] : events) {
    const RecordedTrace& trace = traces[place.first];
    out.push_back(recording_of(trace, std::move(of_rank)));
    const std::int64_t rank = trace.rank == kNotRecorded ? place.first : trace.rank;
    out.back().rank = rank * stages + place.second;
    out.back().simulated = true;
    if (trace.world_size != kNotRecorded) out.back().world_size = trace.world_size * stages;
  }
  return out;
}

}  // namespace orrery
