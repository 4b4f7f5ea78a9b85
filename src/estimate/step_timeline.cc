#include "estimate/step_timeline.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "schedule/span_kind.h"

namespace orrery {

std::vector<PipelineSpan> pipeline_spans(const PredictedStep& step) {
  const SimulatedStep& s = step.folded;
  const Graph& graph = s.step.graph;
  const int chunks = static_cast<int>(step.plan().chunks);
  std::vector<PipelineSpan> out;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    const StepInstance& at = s.step.instances[graph.instance(n)];
    using Part = StepInstance::Part;
    const bool pass = at.part == Part::pass;
    const bool drawn =
        graph.stream_of(n).role == StreamRole::compute || pass || at.part == Part::transfer;
    if (!drawn || graph.duration(n) <= Picoseconds(0)) continue;
    const PipelineOperation& op = at.operation;
    PipelineSpan span;
    span.stage = at.device;
    span.chunk = op.chunk % chunks;
    span.microbatch = at.part == Part::optimizer ? -1 : static_cast<int>(op.microbatch);
    span.kind = pass                        ? span_kind(op.action)
                : at.part == Part::transfer ? PipelineSpan::Kind::transfer
                                            : PipelineSpan::Kind::optimizer;
    span.route = at.route;
    if (pass && op.action == PipelineAction::forward_and_backward) {
      span.backward_chunk = op.backward_chunk % chunks;
      span.backward_microbatch = static_cast<int>(op.backward_microbatch);
      span.backward_route = op.backward_chunk / chunks;
    }
    span.start = s.timeline.start(graph, n).seconds();
    span.end = s.timeline.end(n).seconds();
    // Blocks of one pass that follow each other are one span.
    if (!out.empty() && out.back().stage == span.stage && out.back().chunk == span.chunk &&
        out.back().microbatch == span.microbatch && out.back().kind == span.kind &&
        out.back().end == span.start) {
      out.back().end = span.end;
    } else {
      out.push_back(span);
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const PipelineSpan& a, const PipelineSpan& b) {
    return std::tuple(a.stage, a.start) < std::tuple(b.stage, b.start);
  });
  return out;
}

std::vector<TimelineSpan> timeline_spans(const SimulatedStep& s) {
  const Graph& graph = s.step.graph;
  std::vector<TimelineSpan> out;
  std::vector<std::int64_t> span_of(graph.size(), -1);
  std::int64_t flows = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    const Stream& stream = graph.stream_of(n);
    // Arrows lead from a send to the first real work behind it on the receiving device.
    if (graph.kind(n) != NodeKind::point_to_point) {
      for (const std::uint32_t p : graph.predecessors(n)) {
        const NodeIndex from(p);
        const bool send = graph.kind(from) == NodeKind::point_to_point && span_of[p] >= 0 &&
                          out[static_cast<std::size_t>(span_of[p])].flow_out < 0;
        if (send && graph.duration(n) > Picoseconds(0)) {
          out[static_cast<std::size_t>(span_of[p])].flow_out = flows;
        }
      }
    }
    if (graph.duration(n) <= Picoseconds(0)) continue;
    const StepInstance& at = s.step.instances[graph.instance(n)];
    TimelineSpan span;
    span.stage = static_cast<int>(stream.rank_class);
    span.stream = std::string(graph.text(stream.label));
    span.name = std::string(graph.name(n));
    span.category = std::string(graph.label(graph.category(n)));
    if (graph.kind(n) == NodeKind::block) span.category = "block";
    span.start = s.timeline.start(graph, n);
    span.end = s.timeline.end(n);
    if (at.part != StepInstance::Part::optimizer) {
      span.microbatch = static_cast<int>(at.operation.microbatch);
      span.chunk = at.operation.chunk;
    }
    for (const std::uint32_t p : graph.predecessors(n)) {
      if (span_of[p] >= 0 && out[static_cast<std::size_t>(span_of[p])].flow_out == flows) {
        span.flow_in = flows++;
        break;
      }
    }
    span_of[i] = static_cast<std::int64_t>(out.size());
    out.push_back(std::move(span));
  }
  std::stable_sort(out.begin(), out.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
    return std::tuple(a.stage, a.stream, a.start) < std::tuple(b.stage, b.stream, b.start);
  });
  return out;
}

GraphFile step_graph_file(SimulatedStep s) {
  GraphFile out;
  out.graph = std::move(s.step.graph);
  return out;
}

}  // namespace orrery
