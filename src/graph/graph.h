// The execution graph: operations, the in-order streams they run on, and what must finish before.
//
// Structure of arrays with CSR edges, built once by GraphBuilder and immutable. Nodes are stored in
// a topological order: every predecessor has a smaller index (the builder enforces it), so a graph
// cannot hold a cycle and a simulation is one pass over the arrays. In-order streams give their own
// edges: a node starts no earlier than the end of the node before it on its stream. A rendezvous
// node occupies several streams at once: nobody leaves before the last has come.
//
// Durations stand apart from structure (`durations()`), so that many duration sets can be run over
// one graph. About 40 bytes a node.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/category.h"
#include "units/index.h"
#include "units/picoseconds.h"

namespace orrery {

enum class NodeKind : std::uint8_t {
  kernel,          // computing on one rank
  collective,      // communication of a group, seen from one rank
  point_to_point,  // one transfer
  copy,            // memory to memory
  host,            // work of the host processor
  barrier,         // takes no time of its own
  block,           // a folded block: stands for a simulated subgraph (payload: its breakdown)
};

// The streams of one rank: one that computes, one per kind of communication, one each for copies to
// and from host memory. Nodes on a wire do not wait for each other: latency takes no link.
enum class StreamKind : std::uint8_t {
  compute,
  tp,
  cp,
  ep,
  pp_forward,
  pp_backward,
  dp,
  host,
  offload,
  reload,
  wire,
};
inline constexpr std::size_t kStreamKinds = 11;
std::string_view name(StreamKind kind);

struct Stream {
  std::uint32_t rank_class = 0;
  StreamKind kind = StreamKind::compute;
};

// What a node is, besides its edges.
struct NodeSpec {
  NodeKind kind = NodeKind::kernel;
  Category category = Category::bubble;
  NameIndex name{};
  StreamIndex stream{};
  Picoseconds duration{};
  std::uint32_t payload = 0;   // index into a table of the lowering (block breakdowns, bytes, ...)
  std::uint32_t instance = 0;  // index into a table of what the node belongs to (stage, microbatch)
};

class Graph {
 public:
  [[nodiscard]] std::size_t size() const { return durations_.size(); }
  [[nodiscard]] std::size_t edges() const { return predecessors_.size(); }
  [[nodiscard]] std::span<const double> durations() const { return durations_; }
  [[nodiscard]] std::span<const Stream> streams() const { return streams_; }

  [[nodiscard]] Picoseconds duration(NodeIndex n) const {
    return Picoseconds(durations_[n.value()]);
  }
  [[nodiscard]] NodeKind kind(NodeIndex n) const { return kinds_[n.value()]; }
  [[nodiscard]] Category category(NodeIndex n) const { return categories_[n.value()]; }
  [[nodiscard]] StreamIndex stream(NodeIndex n) const {
    return StreamIndex(node_streams_[n.value()]);
  }
  [[nodiscard]] std::string_view name(NodeIndex n) const { return names_[node_names_[n.value()]]; }
  [[nodiscard]] std::uint32_t payload(NodeIndex n) const { return payloads_[n.value()]; }
  [[nodiscard]] std::uint32_t instance(NodeIndex n) const { return instances_[n.value()]; }
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
  std::vector<std::uint32_t> node_names_;
  std::vector<NodeKind> kinds_;
  std::vector<Category> categories_;
  std::vector<std::uint32_t> payloads_;
  std::vector<std::uint32_t> instances_;
  std::vector<std::uint32_t> offsets_ = {0};
  std::vector<std::uint32_t> predecessors_;
  std::vector<std::pair<NodeIndex, std::vector<StreamIndex>>> rendezvous_;
  std::vector<Stream> streams_;
  std::vector<std::string> names_;
};

class GraphBuilder {
 public:
  void reserve(std::size_t nodes, std::size_t edges);
  StreamIndex add_stream(Stream stream);
  // Interns a name; the same text gives the same index. O(number of names).
  NameIndex intern(std::string_view name);
  // The same without looking for it among those that are known: O(1), for tables kept elsewhere.
  NameIndex add_name(std::string name);

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
  NodeIndex append(const Graph& fragment, std::span<const StreamIndex> streams, NodeIndex entry,
                   std::uint32_t instance);

  [[nodiscard]] std::size_t size() const { return graph_.size(); }
  // The graph; the builder is empty afterwards.
  Graph build();

 private:
  Graph graph_;
};

}  // namespace orrery
