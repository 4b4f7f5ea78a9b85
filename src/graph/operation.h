// The operations of a graph: what its nodes do, apart from when and where they do it.
//
// An operation is one or more parts that run one after another: kernels, communications, copies, or
// time that was measured or stated. Nodes point to operations, and equal operations are one entry
// of the graph's table, since the layers and microbatches of a step repeat the same few hundred.
// The parts say everything that a price depends on besides the machine, so that a duration can be
// computed from them again (lower/price.h), written to other formats, or changed by what-ifs.
//
// Barriers, folded blocks (a simulated subgraph stands for them) and recorded events have no parts:
// their durations follow from elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "graph/category.h"
#include "graph/kernel_shape.h"
#include "units/index.h"
#include "units/number_format.h"
#include "units/quantity.h"

namespace orrery {

enum class NodeKind : std::uint8_t {
  kernel,          // computing on one rank
  collective,      // communication of a group, seen from one rank
  point_to_point,  // one transfer
  copy,            // memory to memory
  host,            // work of the host processor
  barrier,         // takes no time of its own
  block,           // a folded block: stands for a simulated subgraph
};

enum class CollectiveKind { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast };

// How a communication group lies on the fabric levels of a cluster.
//
// `members[l]`: ranks of the group inside one unit of fabric level l (so members.back() == size for
// a group that fits the cluster). A group of 16 tensor- and context-parallel ranks over two 8-GPU
// nodes is {8, 16}; 128 data-parallel replicas, one a node, {1, 128}.
struct GroupShape {
  int size = 1;
  std::vector<int> members;
  auto operator<=>(const GroupShape&) const = default;
};

// A group that communications of a graph name by its place in the graph's table.
struct Group {
  std::string label;  // the mesh axis: "tensor"
  GroupShape shape;
  bool operator==(const Group&) const = default;
};
using GroupIndex = Index<struct GroupTag>;

// A kernel, or a chain of `launches` equal ones.
struct Kernel {
  std::variant<std::monostate, GemmShape, AttentionShape> shape = {};  // none: bound by memory
  NumberFormat format = NumberFormat::bf16;                            // of products and attention
  AttentionKernel attention = AttentionKernel::flash_2;
  Direction direction = Direction::forward;
  Flops flops = {};
  Bytes bytes = {};   // read and written; of a product, beyond what its shape says
  int launches = 1;   // that share the bytes
  double pieces = 1;  // this is one of so many equal pieces of the shape
  bool operator==(const Kernel&) const = default;
};

// Of how many equal groups of experts a token's are chosen: of `chosen` that it picks first.
struct ExpertGroups {
  double groups = 1;
  double chosen = 1;
  bool operator==(const ExpertGroups&) const = default;
};

// Tokens sent to the ranks of their experts by kernels that send a token once to each place that
// needs it, or the way back (cost/collective/token_exchange.h).
struct TokenExchange {
  double tokens = 0;  // that one rank sends
  Bytes token;        // of one of them
  double top_k = 1;
  double experts = 1;
  bool away = true;  // to the experts; else back
  ExpertGroups limit = {};
  bool operator==(const TokenExchange&) const = default;
};

// A communication of a group: `times` / `pieces` of the whole that the payload stands for. Its node
// takes the share of that time that no other pass hides.
struct Communication {
  CollectiveKind collective = CollectiveKind::all_reduce;
  GroupIndex group;
  Bytes payload;  // as cost/collective/collective.h counts it
  double pieces = 1;
  double times = 1;
  double exposed = 1;
  std::variant<std::monostate, TokenExchange> tokens = {};  // instead of a plain all-to-all
  bool operator==(const Communication&) const = default;
};

// From one rank to another that shares a unit of fabric level `level` with it, while the share
// `crossing` of the accelerators of a unit below send such messages out of it.
struct Message {
  Bytes bytes;
  std::uint32_t level = 0;
  double crossing = 1;
  bool operator==(const Message&) const = default;
};

// What all accelerators of a node share: the links between them and the memory of their host, that
// memory itself, and storage.
enum class HostResource { link, memory, storage_read, storage_write };

// Over a part of the host: to or from an accelerator, read and written by its processor, or between
// its memory and storage.
struct HostCopy {
  Bytes bytes;
  HostResource over = HostResource::link;
  bool operator==(const HostCopy&) const = default;
};

// Time that no other quantity explains: a wait for the host, a loss that a simulation found.
struct StatedTime {
  Seconds time;
  bool operator==(const StatedTime&) const = default;
};

using Activity = std::variant<Kernel, Communication, Message, HostCopy, StatedTime>;

struct OperationPart {
  Activity what;
  // Whether its seconds are added to those of the part before it and rounded with them.
  enum class Rounding : std::uint8_t { own, with_previous } rounding = Rounding::own;
  bool operator==(const OperationPart&) const = default;
};
using OperationParts = std::vector<OperationPart>;

struct Operation {
  NodeKind kind = NodeKind::kernel;
  CategoryIndex category{};
  NameIndex name{};         // what a person reads: "attention.qkv"
  std::uint32_t block = 0;  // of a folded block: which breakdown it has
  OperationParts parts = {};
  bool operator==(const Operation&) const = default;
};
using OperationIndex = Index<struct OperationTag>;

}  // namespace orrery
