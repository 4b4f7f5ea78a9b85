#include "graph/graph.h"

#include <algorithm>

#include "outcome/invariant.h"

namespace orrery {

std::span<const StreamIndex> Graph::rendezvous_streams(NodeIndex n) const {
  const auto it =
      std::lower_bound(rendezvous_.begin(), rendezvous_.end(), n,
                       [](const auto& entry, NodeIndex node) { return entry.first < node; });
  if (it == rendezvous_.end() || it->first != n) return {};
  return it->second;
}

void GraphBuilder::reserve(std::size_t nodes, std::size_t edges) {
  graph_.durations_.reserve(nodes);
  graph_.node_streams_.reserve(nodes);
  graph_.node_operations_.reserve(nodes);
  graph_.instances_.reserve(nodes);
  graph_.offsets_.reserve(nodes + 1);
  graph_.predecessors_.reserve(edges);
}

StreamIndex GraphBuilder::add_stream(Stream stream) {
  graph_.streams_.push_back(stream);
  return StreamIndex(graph_.streams_.size() - 1);
}

NameIndex GraphBuilder::intern(std::string_view name) {
  const auto it = std::find(graph_.names_.begin(), graph_.names_.end(), name);
  if (it != graph_.names_.end()) {
    return NameIndex(static_cast<std::size_t>(it - graph_.names_.begin()));
  }
  graph_.names_.emplace_back(name);
  return NameIndex(graph_.names_.size() - 1);
}

NameIndex GraphBuilder::add_name(std::string name) {
  graph_.names_.push_back(std::move(name));
  return NameIndex(graph_.names_.size() - 1);
}

OperationIndex GraphBuilder::intern(const Operation& operation) {
  const auto it = std::find(graph_.operations_.begin(), graph_.operations_.end(), operation);
  if (it == graph_.operations_.end()) return add_operation(operation);
  return OperationIndex(static_cast<std::size_t>(it - graph_.operations_.begin()));
}

OperationIndex GraphBuilder::add_operation(Operation operation) {
  ORRERY_DEBUG_INVARIANT(operation.name.value() < graph_.names_.size());
  graph_.operations_.push_back(std::move(operation));
  return OperationIndex(graph_.operations_.size() - 1);
}

NodeIndex GraphBuilder::add(const NodeSpec& spec, std::span<const NodeIndex> after) {
  const NodeIndex n(graph_.size());
  ORRERY_DEBUG_INVARIANT(spec.duration >= Picoseconds(0));
  ORRERY_DEBUG_INVARIANT(spec.stream.value() < graph_.streams_.size());
  graph_.durations_.push_back(spec.duration.count());
  graph_.node_streams_.push_back(spec.stream.value());
  graph_.node_operations_.push_back(spec.operation.value());
  graph_.instances_.push_back(spec.instance);
  for (const NodeIndex p : after) {
    ORRERY_INVARIANT(p < n);
    graph_.predecessors_.push_back(p.value());
  }
  graph_.offsets_.push_back(static_cast<std::uint32_t>(graph_.predecessors_.size()));
  return n;
}

NodeIndex GraphBuilder::add_rendezvous(const NodeSpec& spec, std::vector<StreamIndex> others,
                                       std::span<const NodeIndex> after) {
  const NodeIndex n = add(spec, after);
  graph_.rendezvous_.emplace_back(n, std::move(others));
  return n;
}

const std::vector<std::uint32_t>& GraphBuilder::operations_of(const Graph& fragment) {
  const auto known = std::find_if(appended_.begin(), appended_.end(),
                                  [&](const auto& one) { return one.first == &fragment; });
  if (known != appended_.end()) return known->second;
  std::vector<std::uint32_t> places;
  places.reserve(fragment.operations_.size());
  for (Operation operation : fragment.operations_) {
    operation.name = intern(fragment.text(operation.name));
    places.push_back(intern(operation).value());
  }
  return appended_.emplace_back(&fragment, std::move(places)).second;
}

NodeIndex GraphBuilder::append(const Graph& fragment, std::span<const StreamIndex> streams,
                               NodeIndex entry, std::uint32_t instance) {
  const auto base = static_cast<std::uint32_t>(graph_.size());
  ORRERY_INVARIANT(fragment.size() > 0 && entry.value() < base && fragment.rendezvous_.empty());
  const std::vector<std::uint32_t>& operations = operations_of(fragment);
  graph_.durations_.insert(graph_.durations_.end(), fragment.durations_.begin(),
                           fragment.durations_.end());
  graph_.instances_.insert(graph_.instances_.end(), fragment.size(), instance);
  for (std::size_t i = 0; i < fragment.size(); ++i) {
    graph_.node_streams_.push_back(streams[fragment.node_streams_[i]].value());
    graph_.node_operations_.push_back(operations[fragment.node_operations_[i]]);
    const std::uint32_t begin = fragment.offsets_[i];
    const std::uint32_t end = fragment.offsets_[i + 1];
    if (begin == end) graph_.predecessors_.push_back(entry.value());
    for (std::uint32_t e = begin; e < end; ++e) {
      graph_.predecessors_.push_back(base + fragment.predecessors_[e]);
    }
    graph_.offsets_.push_back(static_cast<std::uint32_t>(graph_.predecessors_.size()));
  }
  return NodeIndex(graph_.size() - 1);
}

Graph GraphBuilder::build() {
  appended_.clear();
  return std::exchange(graph_, Graph());
}

}  // namespace orrery
