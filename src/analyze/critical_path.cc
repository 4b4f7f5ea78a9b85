#include "analyze/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "outcome/nearest_name.h"
#include "trace/data_loading.h"

namespace orrery {
namespace {

// Edges in compressed rows, in the order of PathGraph::edges.
struct Rows {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> edge;
};

Rows rows_by(const PathGraph& graph, std::uint32_t PathEdge::* end) {
  Rows rows;
  rows.begin.assign(graph.points.size() + 1, 0);
  for (const PathEdge& edge : graph.edges) ++rows.begin[edge.*end + 1];
  for (std::size_t i = 1; i < rows.begin.size(); ++i) rows.begin[i] += rows.begin[i - 1];
  rows.edge.resize(graph.edges.size());
  std::vector<std::uint32_t> next(rows.begin.begin(), rows.begin.end() - 1);
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
    rows.edge[next[graph.edges[e].*end]++] = e;
  }
  return rows;
}

// Points that have edges, each after all that lead to it; shorter where there is a circle.
std::vector<std::uint32_t> topological_order(const PathGraph& graph, const Rows& out) {
  std::vector<std::uint32_t> waiting(graph.points.size(), 0);
  std::vector<bool> seen(graph.points.size(), false);
  std::vector<std::uint32_t> found;  // in the order of their first edge
  for (const PathEdge& edge : graph.edges) {
    ++waiting[edge.to];
    for (const std::uint32_t p : {edge.from, edge.to}) {
      if (!seen[p]) found.push_back(p);
      seen[p] = true;
    }
  }
  std::vector<std::uint32_t> order;
  for (const std::uint32_t p : found) {
    if (waiting[p] == 0) order.push_back(p);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::uint32_t k = out.begin[order[i]]; k < out.begin[order[i] + 1]; ++k) {
      const std::uint32_t to = graph.edges[out.edge[k]].to;
      if (--waiting[to] == 0) order.push_back(to);
    }
  }
  if (order.size() < found.size()) order.clear();
  return order;
}

CriticalPath::Bound bound_of(const RecordedTrace& trace, const PathEdge& edge) {
  using Bound = CriticalPath::Bound;
  if (edge.kind == PathEdge::Kind::kernel_gap) return Bound::kernel_gap;
  if (edge.kind == PathEdge::Kind::launch_delay) return Bound::launch_delay;
  if (edge.event == kNoEvent) return Bound::host;
  switch (trace.kind[edge.event]) {
    case EventKind::kernel:
      return is_communication_kernel(trace.name_of(edge.event)) ? Bound::communication
                                                                : Bound::compute;
    case EventKind::copy:
    case EventKind::fill:
      return Bound::copies;
    default:
      return is_data_loading(trace, edge.event) ? Bound::data_loading : Bound::host;
  }
}

}  // namespace

std::span<const EnumName<PathEdge::Kind>> names_of(PathEdge::Kind) {
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

std::span<const EnumName<CriticalPath::Bound>> names_of(CriticalPath::Bound) {
  using enum CriticalPath::Bound;
  static constexpr auto kNames = std::to_array<EnumName<CriticalPath::Bound>>({
      {host, "host"},
      {data_loading, "data_loading"},
      {compute, "compute"},
      {communication, "communication"},
      {copies, "copies"},
      {kernel_gap, "kernel_gap"},
      {launch_delay, "launch_delay"},
  });
  return kNames;
}

Result<CriticalPath> critical_path(const RecordedTrace& trace, const PathGraph& graph) {
  CriticalPath path;
  if (graph.edges.empty()) return path;
  const std::vector<std::uint32_t> order =
      topological_order(graph, rows_by(graph, &PathEdge::from));
  if (order.empty()) {
    return fail(ErrorCode::bad_input, "events wait for each other in a circle", trace.file,
                "clocks of host and device disagree; another window may work");
  }
  const Rows in = rows_by(graph, &PathEdge::to);
  std::vector<std::int64_t> longest(graph.points.size(), 0);
  std::vector<std::uint32_t> by(graph.points.size(), kNoEvent);  // edge
  std::uint32_t last = order.front();
  for (const std::uint32_t p : order) {
    for (std::uint32_t k = in.begin[p]; k < in.begin[p + 1]; ++k) {
      const PathEdge& edge = graph.edges[in.edge[k]];
      const std::int64_t through = longest[edge.from] + edge.weight_ns;
      if (by[p] == kNoEvent || through > longest[p]) {
        longest[p] = through;
        by[p] = in.edge[k];
      }
    }
    if (longest[p] > longest[last]) last = p;
  }
  path.length_ns = longest[last];
  for (std::uint32_t p = last;; p = graph.edges[by[p]].from) {
    path.points.push_back(p);
    if (by[p] == kNoEvent) break;
    path.edges.push_back(by[p]);
    const PathEdge& edge = graph.edges[by[p]];
    if (edge.weight_ns > 0) {
      path.by_bound_ns[static_cast<std::size_t>(bound_of(trace, edge))] += edge.weight_ns;
    }
  }
  std::reverse(path.points.begin(), path.points.end());
  std::reverse(path.edges.begin(), path.edges.end());
  return path;
}

std::vector<PathRow> path_table(const RecordedTrace& trace, const PathGraph& graph,
                                const CriticalPath& path) {
  std::map<std::pair<std::uint32_t, CriticalPath::Bound>, PathRow> rows;
  for (const std::uint32_t e : path.edges) {
    const PathEdge& edge = graph.edges[e];
    if (edge.weight_ns == 0 || edge.event == kNoEvent) continue;
    const CriticalPath::Bound bound = bound_of(trace, edge);
    PathRow& row = rows[{trace.name[edge.event], bound}];
    row.name = trace.name[edge.event];
    row.bound = bound;
    ++row.count;
    row.total_ns += edge.weight_ns;
  }
  std::vector<PathRow> table;
  table.reserve(rows.size());
  for (const auto& [key, row] : rows) table.push_back(row);
  std::sort(table.begin(), table.end(), [&](const PathRow& a, const PathRow& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    if (a.name != b.name) return trace.texts[a.name] < trace.texts[b.name];
    return a.bound < b.bound;
  });
  return table;
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
