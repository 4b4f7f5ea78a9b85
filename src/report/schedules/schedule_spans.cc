#include "report/schedules/schedule_spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "report/drawing/pass_style.h"
#include "schedule/span_kind.h"

namespace orrery {
namespace {

using Kind = PipelineSpan::Kind;

// "F3", "F3 BW1".
std::string operation_text(const PipelineOperation& op) {
  if (op.action == PipelineAction::forward_and_backward) {
    return fmt::format("F{} BW{}", op.microbatch, op.backward_microbatch);
  }
  return fmt::format("{}{}", letters(op.action), op.microbatch);
}

}  // namespace

std::vector<PipelineSpan> pipeline_spans(const MeasuredSchedule& schedule) {
  const Pipeline& pipeline = schedule.pipeline;
  const Graph& graph = schedule.execution.graph.graph;
  const int chunks = pipeline.shape.chunks;
  const auto way = [&](std::uint32_t microbatch) {
    return pipeline.routes() == 2 ? static_cast<int>(pipeline.route_of(microbatch)) : 0;
  };
  std::vector<PipelineSpan> out;
  out.reserve(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    if (graph.duration(n) <= Picoseconds(0)) continue;
    const DeviceOperation& of = schedule.execution.graph.operations[graph.instance(n)];
    const PipelineOperation& op = of.operation;
    const bool transfer = graph.kind(n) == NodeKind::point_to_point;
    PipelineSpan span;
    span.stage = static_cast<int>(of.device);
    // Blocked receivers wait themselves.
    if (transfer && graph.stream_of(n).role == StreamRole::compute) {
      span.stage = static_cast<int>(graph.stream_of(n).rank_class);
    }
    span.chunk = op.chunk % chunks;
    span.microbatch = static_cast<int>(op.microbatch);
    span.kind = transfer ? Kind::transfer : span_kind(op.action);
    span.route = way(op.microbatch);
    if (op.action == PipelineAction::forward_and_backward && !transfer) {
      span.backward_chunk = op.backward_chunk % chunks;
      span.backward_microbatch = static_cast<int>(op.backward_microbatch);
      span.backward_route = way(op.backward_microbatch);
    }
    span.start = schedule.execution.timeline.start(graph, n).seconds();
    span.end = schedule.execution.timeline.end(n).seconds();
    out.push_back(span);
  }
  std::ranges::stable_sort(out, [](const PipelineSpan& a, const PipelineSpan& b) {
    return std::tuple(a.stage, a.start) < std::tuple(b.stage, b.start);
  });
  return out;
}

std::vector<TimelineSpan> timeline_spans(const MeasuredSchedule& schedule) {
  const Graph& graph = schedule.execution.graph.graph;
  const Timeline& timeline = schedule.execution.timeline;
  std::vector<TimelineSpan> out;
  std::vector<std::int64_t> span_of(graph.size(), -1);
  std::int64_t flows = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    if (graph.duration(n) <= Picoseconds(0)) continue;
    const DeviceOperation& of = schedule.execution.graph.operations[graph.instance(n)];
    const Stream& stream = graph.stream_of(n);
    const bool transfer = graph.kind(n) == NodeKind::point_to_point;
    TimelineSpan span;
    span.stage = static_cast<int>(of.device);
    span.stream = std::string(graph.text(stream.label));
    if (stream.role == StreamRole::wire) {
      // Nodes on a wire overlap, those of one kind and device do not.
      span.stream += of.operation.action == PipelineAction::forward ? " forward" : " backward";
    } else if (transfer) {
      span.stage = static_cast<int>(stream.rank_class);
    }
    span.name = transfer ? fmt::format("{} {}", graph.name(n), operation_text(of.operation))
                         : operation_text(of.operation);
    span.category = transfer ? std::string(graph.name(n))
                             : std::string(style(span_kind(of.operation.action)).name);
    span.start = timeline.start(graph, n);
    span.end = timeline.end(n);
    span.microbatch = static_cast<int>(of.operation.microbatch);
    span.chunk = of.operation.chunk;
    for (const std::uint32_t p : graph.predecessors(n)) {
      const std::int64_t from = span_of[p];
      if (transfer || from < 0 || graph.kind(NodeIndex(p)) != NodeKind::point_to_point) continue;
      TimelineSpan& sender = out[static_cast<std::size_t>(from)];
      if (sender.flow_out >= 0) continue;
      sender.flow_out = flows;
      span.flow_in = flows++;
      break;
    }
    span_of[i] = static_cast<std::int64_t>(out.size());
    out.push_back(std::move(span));
  }
  std::ranges::stable_sort(out, [](const TimelineSpan& a, const TimelineSpan& b) {
    return std::tuple(a.stage, a.stream, a.start) < std::tuple(b.stage, b.stream, b.start);
  });
  return out;
}

}  // namespace orrery
