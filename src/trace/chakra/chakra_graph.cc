#include "trace/chakra/chakra_graph.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>

#include "simulate/simulate.h"

namespace orrery {
namespace {

constexpr double kPsPerMicrosecond = 1e6;
constexpr double kLeastPs = 1e3;
// Simulated time is exact up to 2^53 ps.
constexpr std::uint64_t kMostMicroseconds = 9'000'000'000;

struct Kinds {
  NodeKind node;
  StreamKind stream;
  Category category;
};

Kinds kinds_of(const ChakraNode& node) {
  const bool host = node.is_host();
  switch (node.type) {
    case ChakraNodeType::collective:
      if (host) break;
      return {NodeKind::collective, StreamKind::dp, Category::exposed_dp};
    case ChakraNodeType::send:
      return {NodeKind::point_to_point, StreamKind::dp, Category::exposed_pp};
    case ChakraNodeType::receive:
      return {NodeKind::point_to_point, StreamKind::wire, Category::exposed_pp};
    case ChakraNodeType::metadata:
    case ChakraNodeType::invalid:
      return {NodeKind::barrier, StreamKind::wire, Category::host};
    case ChakraNodeType::memory_load:
    case ChakraNodeType::memory_store:
      return {NodeKind::copy, StreamKind::offload, Category::elementwise};
    case ChakraNodeType::compute:
      break;
  }
  return host ? Kinds{NodeKind::host, StreamKind::host, Category::host}
              : Kinds{NodeKind::kernel, StreamKind::compute, Category::elementwise};
}

}  // namespace

Result<ChakraGraph> chakra_graph(const ChakraTrace& trace, std::uint32_t rank,
                                 const std::string& name, const ChakraGraphOptions& options) {
  ORRERY_TRY(const std::vector<std::uint32_t> order,
             chakra_order(trace, name, options.absent, options.control));
  GraphBuilder builder;
  builder.reserve(trace.nodes.size(), 2 * trace.nodes.size());
  std::array<StreamIndex, kStreamKinds> streams{};
  for (std::size_t k = 0; k < kStreamKinds; ++k) {
    streams[k] = builder.add_stream({rank, static_cast<StreamKind>(k)});
  }
  std::unordered_map<std::string_view, NameIndex> names;
  std::unordered_map<std::uint64_t, NodeIndex> nodes;
  nodes.reserve(trace.nodes.size());
  ChakraGraph out;
  std::vector<NodeIndex> after;
  for (const std::uint32_t i : order) {
    const ChakraNode& node = trace.nodes[i];
    const Kinds kinds = kinds_of(node);
    if (node.duration_micros > kMostMicroseconds) {
      return fail(ErrorCode::bad_input,
                  "takes " + std::to_string(node.duration_micros) + " microseconds",
                  name + ": node " + std::to_string(node.id), "at most 9e9, two and a half hours");
    }
    after.clear();
    for (const auto* list : {&node.data_dependencies, &node.control_dependencies}) {
      if (list == &node.control_dependencies && options.control == ControlDependencies::ignore) {
        continue;
      }
      for (const std::uint64_t id : *list) {
        if (const auto it = nodes.find(id); it != nodes.end()) after.push_back(it->second);
      }
    }
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    const auto [known, fresh] = names.try_emplace(node.name);
    if (fresh) known->second = builder.intern(node.name);
    const bool takes_time = kinds.node != NodeKind::barrier;
    const double duration =
        takes_time
            ? std::max(static_cast<double>(node.duration_micros) * kPsPerMicrosecond, kLeastPs)
            : 0;
    nodes.emplace(node.id,
                  builder.add(NodeSpec{.kind = kinds.node,
                                       .category = kinds.category,
                                       .name = known->second,
                                       .stream = streams[static_cast<std::size_t>(kinds.stream)],
                                       .duration = Picoseconds(duration),
                                       .payload = static_cast<std::uint32_t>(out.node.size())},
                              after));
    out.node.push_back(i);
  }
  out.graph = builder.build();
  return out;
}

std::vector<TimelineSpan> chakra_spans(const ChakraGraph& graph) {
  const Timeline timeline = simulate(graph.graph);
  std::vector<TimelineSpan> out;
  for (std::size_t i = 0; i < graph.graph.size(); ++i) {
    const NodeIndex n(i);
    if (graph.graph.duration(n) <= Picoseconds(0)) continue;
    const Stream& stream = graph.graph.streams()[graph.graph.stream(n).value()];
    TimelineSpan span;
    span.stage = static_cast<int>(stream.rank_class);
    span.stream = stream.kind == StreamKind::dp ? "communication" : std::string(name(stream.kind));
    span.name = std::string(graph.graph.name(n));
    span.category = graph.graph.kind(n) == NodeKind::host         ? "host"
                    : graph.graph.kind(n) == NodeKind::kernel     ? "kernel"
                    : graph.graph.kind(n) == NodeKind::collective ? "collective"
                                                                  : "transfer";
    span.start = timeline.start(graph.graph, n);
    span.end = timeline.end(n);
    out.push_back(std::move(span));
  }
  std::stable_sort(out.begin(), out.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
    return std::tuple(a.stage, a.stream, a.start) < std::tuple(b.stage, b.stream, b.start);
  });
  return out;
}

}  // namespace orrery
