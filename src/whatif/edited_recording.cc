#include "whatif/edited_recording.h"

#include <algorithm>
#include <map>
#include <utility>

#include "whatif/host_spans.h"

namespace orrery {
namespace {

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
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
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
