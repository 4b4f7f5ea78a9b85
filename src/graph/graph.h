// The execution graph: operations, the in-order streams they run on, and what must finish before.
//
// Structure of arrays with CSR edges, built once by GraphBuilder and immutable. Nodes are stored in
// a topological order: every predecessor has a smaller index (the builder enforces it), so a graph
// cannot hold a cycle and a simulation is one pass over the arrays. In-order streams give their own
// edges: a node starts no earlier than the end of the node before it on its stream. A rendezvous
// node occupies several streams at once: nobody leaves before the last has come.
//
// What a node does is an operation of a table (graph/operation.h). Whoever builds the graph says
// which streams, categories and groups there are and what they are called. Durations stand apart
// from structure (`durations()`), so that many duration sets can be run over one graph. About 30
// bytes a node.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/operation.h"
#include "outcome/enum_names.h"
#include "units/picoseconds.h"

namespace orrery {

// What a stream of a rank is for. On a wire nodes do not wait for each other: latency takes no
// link.
enum class StreamRole : std::uint8_t { compute, communication, copy, host, wire };
inline constexpr std::size_t kStreamRoles = 5;

struct Stream {
  std::uint32_t rank_class = 0;
  StreamRole role = StreamRole::compute;
  NameIndex label{};         // "tensor-parallel communication", "stream 7"; 0: none
  std::uint32_t number = 0;  // among the streams of its rank, as the builder counts them
};

// What a node is, besides its edges.
struct NodeSpec {
  OperationIndex operation{};
  StreamIndex stream{};
  Picoseconds duration{};
  std::uint32_t instance = 0;  // index into a table of what the node belongs to (stage, microbatch)
};

using CategoryLabels = std::shared_ptr<const std::vector<CategoryLabel>>;

class Graph {
 public:
  [[nodiscard]] std::size_t size() const { return durations_.size(); }
  [[nodiscard]] std::size_t edges() const { return predecessors_.size(); }
  [[nodiscard]] std::span<const double> durations() const { return durations_; }
  [[nodiscard]] std::span<const Stream> streams() const { return streams_; }
  [[nodiscard]] std::span<const Operation> operations() const { return operations_; }
  [[nodiscard]] std::span<const Group> groups() const { return groups_; }
  [[nodiscard]] std::span<const CategoryLabel> categories() const {
    return categories_ == nullptr ? std::span<const CategoryLabel>() : std::span(*categories_);
  }

  [[nodiscard]] Picoseconds duration(NodeIndex n) const {
    return Picoseconds(durations_[n.value()]);
  }
  [[nodiscard]] OperationIndex operation_index(NodeIndex n) const {
    return OperationIndex(node_operations_[n.value()]);
  }
  [[nodiscard]] const Operation& operation(NodeIndex n) const {
    return operations_[node_operations_[n.value()]];
  }
  [[nodiscard]] NodeKind kind(NodeIndex n) const { return operation(n).kind; }
  [[nodiscard]] CategoryIndex category(NodeIndex n) const { return operation(n).category; }
  [[nodiscard]] std::string_view name(NodeIndex n) const { return text(operation(n).name); }
  [[nodiscard]] StreamIndex stream(NodeIndex n) const {
    return StreamIndex(node_streams_[n.value()]);
  }
  [[nodiscard]] const Stream& stream_of(NodeIndex n) const {
    return streams_[node_streams_[n.value()]];
  }
  [[nodiscard]] std::uint32_t instance(NodeIndex n) const { return instances_[n.value()]; }
  [[nodiscard]] std::string_view text(NameIndex name) const { return names_[name.value()]; }
  [[nodiscard]] std::string_view label(StreamIndex s) const {
    return text(streams_[s.value()].label);
  }
  // Of a category; empty where the graph was built without labels.
  [[nodiscard]] std::string_view label(CategoryIndex c) const {
    const auto at = static_cast<std::size_t>(c);
    return at < categories().size() ? std::string_view(categories()[at].name) : std::string_view();
  }
  [[nodiscard]] std::span<const std::uint32_t> predecessors(NodeIndex n) const {
    return std::span(predecessors_)
        .subspan(offsets_[n.value()], offsets_[n.value() + 1] - offsets_[n.value()]);
  }
  // The further streams of a rendezvous node; empty for every other node.
  [[nodiscard]] std::span<const StreamIndex> rendezvous_streams(NodeIndex n) const;
  // Nodes that are a rendezvous, ascending.
  [[nodiscard]] std::span<const std::pair<NodeIndex, std::vector<StreamIndex>>> rendezvous() const {
    return rendezvous_;
  }

 private:
  friend class GraphBuilder;
  std::vector<double> durations_;
  std::vector<std::uint32_t> node_streams_;
  std::vector<std::uint32_t> node_operations_;
  std::vector<std::uint32_t> instances_;
  std::vector<std::uint32_t> offsets_ = {0};
  std::vector<std::uint32_t> predecessors_;
  std::vector<std::pair<NodeIndex, std::vector<StreamIndex>>> rendezvous_;
  std::vector<Stream> streams_;
  std::vector<Operation> operations_;
  std::vector<Group> groups_;
  CategoryLabels categories_;
  std::vector<std::string> names_ = {""};
};

class GraphBuilder {
 public:
  GraphBuilder() = default;
  explicit GraphBuilder(CategoryLabels categories, std::vector<Group> groups = {}) {
    graph_.categories_ = std::move(categories);
    graph_.groups_ = std::move(groups);
  }

  void reserve(std::size_t nodes, std::size_t edges);
  StreamIndex add_stream(Stream stream);
  // Interns a name; the same text gives the same index. O(number of names).
  NameIndex intern(std::string_view name);
  // The same without looking for it among those that are known: O(1), for tables kept elsewhere.
  NameIndex add_name(std::string name);
  // Likewise for operations. Their groups are those the builder was made with.
  OperationIndex intern(const Operation& operation);
  OperationIndex add_operation(Operation operation);

  // Appends a node behind what its stream holds; `after` are nodes that must finish before.
  NodeIndex add(const NodeSpec& spec, std::span<const NodeIndex> after = {});
  NodeIndex add(const NodeSpec& spec, std::initializer_list<NodeIndex> after) {
    return add(spec, std::span(after.begin(), after.size()));
  }
  // A node that occupies its own stream and `others` together.
  NodeIndex add_rendezvous(const NodeSpec& spec, std::vector<StreamIndex> others,
                           std::span<const NodeIndex> after = {});

  // Copies every node of `fragment`: its stream i becomes streams[i]; a node without predecessors
  // in the fragment waits for `entry`; every copy gets `instance`. Returns the last node's index.
  // The fragment counts categories and groups as this graph does, and must outlive the building,
  // as its operations are looked up only the first time it is appended.
  NodeIndex append(const Graph& fragment, std::span<const StreamIndex> streams, NodeIndex entry,
                   std::uint32_t instance);

  [[nodiscard]] std::size_t size() const { return graph_.size(); }
  // The graph; the builder is empty afterwards.
  Graph build();

 private:
  const std::vector<std::uint32_t>& operations_of(const Graph& fragment);

  Graph graph_;
  // Of every fragment that was appended: where its operations stand in this graph's table.
  std::vector<std::pair<const Graph*, std::vector<std::uint32_t>>> appended_;
};

}  // namespace orrery
