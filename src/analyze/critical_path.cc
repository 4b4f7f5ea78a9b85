#include "analyze/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "outcome/nearest_name.h"
#include "trace/data_loading.h"

namespace orrery {
namespace {

PathBound bound_of(const RecordedTrace& trace, const PathEdge& edge) {
  if (edge.kind == PathEdge::Kind::kernel_gap) return PathBound::kernel_gap;
  if (edge.kind == PathEdge::Kind::launch_delay) return PathBound::launch_delay;
  if (edge.event == kNoEvent) return PathBound::host;
  switch (trace.kind[edge.event]) {
    case EventKind::kernel:
      return is_communication_kernel(trace.name_of(edge.event)) ? PathBound::communication
                                                                : PathBound::compute;
    case EventKind::copy:
    case EventKind::fill:
      return PathBound::copies;
    default:
      return is_data_loading(trace, edge.event) ? PathBound::data_loading : PathBound::host;
  }
}

}  // namespace

EnumNames<PathEdge::Kind> names_of(PathEdge::Kind) {
  using enum PathEdge::Kind;
  static constexpr auto kNames = std::to_array<EnumName<PathEdge::Kind>>({
      {operation, "operation"},
      {dependency, "dependency"},
      {launch_delay, "launch_delay"},
      {kernel_gap, "kernel_gap"},
      {synchronization, "synchronization"},
  });
  return kNames;
}

Result<std::vector<std::uint32_t>> longest_path(const RecordedTrace& trace,
                                                const PathGraph& graph) {
  // Of the nodes, points come first and take no time; edges take their weight.
  const auto points = static_cast<std::uint32_t>(graph.points.size());
  const std::size_t nodes = points + graph.edges.size();
  const auto each_dependency = [&](const auto& visit) {
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
      visit(graph.edges[e].from, points + e);
      visit(points + e, graph.edges[e].to);
    }
  };
  const TopologicalOrder order = topological_order(EdgeLists(nodes, each_dependency));
  if (order.circular) {
    return bad_input("events wait for each other in a circle", trace.file,
                     "clocks of host and device disagree; another window may work");
  }
  EdgeLists sources(nodes, [&](const auto& add) {
    each_dependency([&](std::uint32_t from, std::uint32_t to) { add(to, from); });
  });
  std::vector<double> end_ps(nodes, 0);
  std::vector<std::uint32_t> path;
  if (nodes == 0) return path;
  std::uint32_t last = order.nodes.front();
  for (const std::uint32_t n : order.nodes) {
    for (const std::uint32_t source : sources[n]) end_ps[n] = std::max(end_ps[n], end_ps[source]);
    if (n >= points) end_ps[n] += static_cast<double>(graph.edges[n - points].weight_ns) * 1000;
    if (n < points && end_ps[n] > end_ps[last]) last = n;
  }
  // From before the first point, so that edges without weight are on the path, too.
  for (const ChainNode& one :
       CriticalChains(std::move(end_ps), std::move(sources)).up_to(last, -1)) {
    if (one.node >= points) path.push_back(one.node - points);
  }
  return path;
}

StepPath critical_path(const RecordedTrace& trace, const PathGraph& graph,
                       const std::vector<std::uint32_t>& edges) {
  StepPath whole;
  whole.rank = trace.rank;
  whole.start_ns = graph.window.start;
  whole.end_ns = graph.window.end;
  PathCollection collection(std::move(whole));
  for (const std::uint32_t e : edges) {
    const PathEdge& edge = graph.edges[e];
    collection.add({.rank = trace.rank,
                    .name = edge.event == kNoEvent ? std::string_view() : trace.name_of(edge.event),
                    .bound = bound_of(trace, edge)},
                   edge.weight_ns);
  }
  StepPath path = collection.path();
  path.operations = edges.empty() ? 0 : static_cast<std::int64_t>(edges.size()) + 1;
  return path;
}

Result<std::uint32_t> annotated_event(const RecordedTrace& trace, std::string_view part,
                                      std::size_t instance) {
  std::size_t found = 0;
  std::set<std::string> names;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::annotation && trace.kind[e] != EventKind::cpu_operator) {
      continue;
    }
    if (trace.name_of(e).find(part) == std::string_view::npos) {
      if (trace.kind[e] == EventKind::annotation) names.emplace(trace.name_of(e));
      continue;
    }
    if (found++ == instance) return e;
  }
  if (found > 0) {
    return fail(ErrorCode::not_found,
                fmt::format("'{}' occurs {} times, there is no instance {}", part, found, instance),
                trace.file, fmt::format("instances are 0 to {}", found - 1));
  }
  return fail(ErrorCode::not_found, fmt::format("no annotation contains '{}'", part), trace.file,
              names.empty()
                  ? "this recording has no annotations"
                  : name_hint(part, std::vector<std::string>(names.begin(), names.end())));
}

}  // namespace orrery
