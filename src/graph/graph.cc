#include "graph/graph.h"

#include <algorithm>

#include "outcome/invariant.h"

namespace orrery {

std::string_view name(StreamKind kind) {
  switch (kind) {
    case StreamKind::compute:
      return "compute";
    case StreamKind::tp:
      return "tensor-parallel communication";
    case StreamKind::cp:
      return "context-parallel communication";
    case StreamKind::ep:
      return "expert-parallel communication";
    case StreamKind::pp_forward:
      return "pipeline sends, forward";
    case StreamKind::pp_backward:
      return "pipeline sends, backward";
    case StreamKind::dp:
      return "data-parallel communication";
    case StreamKind::host:
      return "host";
    case StreamKind::offload:
      return "copies to host memory";
    case StreamKind::reload:
      return "copies from host memory";
    case StreamKind::wire:
      return "latency";
  }
  return "?";
}

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
  graph_.node_names_.reserve(nodes);
  graph_.kinds_.reserve(nodes);
  graph_.categories_.reserve(nodes);
  graph_.payloads_.reserve(nodes);
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

NodeIndex GraphBuilder::add(const NodeSpec& spec, std::span<const NodeIndex> after) {
  const NodeIndex n(graph_.size());
  ORRERY_DEBUG_INVARIANT(spec.duration >= Picoseconds(0));
  ORRERY_DEBUG_INVARIANT(spec.stream.value() < graph_.streams_.size());
  graph_.durations_.push_back(spec.duration.count());
  graph_.node_streams_.push_back(spec.stream.value());
  graph_.node_names_.push_back(spec.name.value());
  graph_.kinds_.push_back(spec.kind);
  graph_.categories_.push_back(spec.category);
  graph_.payloads_.push_back(spec.payload);
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

NodeIndex GraphBuilder::append(const Graph& fragment, std::span<const StreamIndex> streams,
                               NodeIndex entry, std::uint32_t instance) {
  const auto base = static_cast<std::uint32_t>(graph_.size());
  ORRERY_INVARIANT(fragment.size() > 0 && entry.value() < base && fragment.rendezvous_.empty());
  std::vector<std::uint32_t> names;
  names.reserve(fragment.names_.size());
  for (const std::string& text : fragment.names_) names.push_back(intern(text).value());

  const auto copy = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  copy(graph_.durations_, fragment.durations_);
  copy(graph_.kinds_, fragment.kinds_);
  copy(graph_.categories_, fragment.categories_);
  copy(graph_.payloads_, fragment.payloads_);
  graph_.instances_.insert(graph_.instances_.end(), fragment.size(), instance);
  for (std::size_t i = 0; i < fragment.size(); ++i) {
    graph_.node_streams_.push_back(streams[fragment.node_streams_[i]].value());
    graph_.node_names_.push_back(names[fragment.node_names_[i]]);
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

Graph GraphBuilder::build() { return std::exchange(graph_, Graph()); }

}  // namespace orrery
