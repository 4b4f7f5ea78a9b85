#include "trace/chakra/communication_node.h"

#include <array>
#include <utility>

#include "trace/pytorch_et/python_text.h"
#include "trace/recorded_arguments.h"

namespace orrery {
namespace {

constexpr double kMostBytes = 9.2e18;  // below 2^63
constexpr int kOperatorsAbove = 4;     // c10d::allreduce_ > record_param_comms > nccl:all_reduce

// Letters and digits only, in lower case: "_reduce_scatter_base" and "ReduceScatter" look alike.
std::string folded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c + ('a' - 'A'));
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      out += c;
    }
  }
  return out;
}

// Longer names first, since "reduce" is a part of others.
constexpr std::array<std::pair<std::string_view, ChakraCollective>, 10> kCollectives = {{
    {"allreduce", ChakraCollective::all_reduce},
    {"alltoall", ChakraCollective::all_to_all},
    {"allgather", ChakraCollective::all_gather},
    {"reducescatter", ChakraCollective::reduce_scatter},
    {"broadcast", ChakraCollective::broadcast},
    {"barrier", ChakraCollective::barrier},
    {"reduce", ChakraCollective::reduce},
    {"scatter", ChakraCollective::scatter},
    {"gather", ChakraCollective::gather},
    {"sendrecv", ChakraCollective::all_to_all},
}};

std::optional<ChakraCollective> collective_in(std::string_view folded_name) {
  for (const auto& [part, collective] : kCollectives) {
    if (folded_name.find(part) != std::string_view::npos) return collective;
  }
  return std::nullopt;
}

const CommunicationDetails* details_of(const RecordedTrace& recorded, std::uint32_t event) {
  if (event == kNoEvent || recorded.communication[event] == kNoDetails) return nullptr;
  return &recorded.communications[recorded.communication[event]];
}

std::string_view name_of(const CallTreeNode& node, const RecordedTrace& recorded,
                         const HostTrace* host) {
  if (node.host != kNoNode && host != nullptr) return host->nodes[node.host].name;
  return node.event == kNoEvent ? std::string_view{} : recorded.name_of(node.event);
}

// The operators above a node, nearest first.
std::vector<std::uint32_t> above(const CallTree& tree, std::uint32_t node) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t at = tree.nodes[node].parent; at != kNoNode && out.size() < kOperatorsAbove;
       at = tree.nodes[at].parent) {
    out.push_back(at);
  }
  return out;
}

std::string group_above(const CallTree& tree, const std::vector<std::uint32_t>& operators,
                        const RecordedTrace& recorded, const HostTrace* host) {
  for (const std::uint32_t n : operators) {
    const CallTreeNode& node = tree.nodes[n];
    if (const CommunicationDetails* d = details_of(recorded, node.event); d != nullptr) {
      if (d->group != 0) return std::string(recorded.texts[d->group]);
    }
    if (host == nullptr || node.host == kNoNode) continue;
    const HostNode& h = host->nodes[node.host];
    if (h.communication != kNoCommunication) {
      const std::string& group = host->communications[h.communication].group;
      if (!group.empty()) return group;
    }
    if (h.name != "record_param_comms") continue;
    // [tensors], sequence, ["name", "description"], rank, ...
    const auto inputs = json_items(h.inputs.values);
    const auto pair = inputs.size() > 2 ? json_items(inputs[2]) : std::vector<std::string_view>{};
    if (!pair.empty()) return json_string(pair[0]).value_or("");
  }
  return "";
}

// Bytes of the tensors of a recorded operator, from its shapes and types.
std::int64_t recorded_bytes(const RecordedTrace& recorded, std::uint32_t event) {
  if (event == kNoEvent || recorded.details[event] == kNoDetails) return 0;
  const double bytes = input_bytes(recorded, recorded.operators[recorded.details[event]]);
  return bytes < kMostBytes ? static_cast<std::int64_t>(bytes) : 0;
}

std::int64_t bytes_of(const CallTree& tree, const std::vector<std::uint32_t>& operators,
                      const CommunicationDetails* details, const RecordedTrace& recorded,
                      const HostTrace* host) {
  for (const std::uint32_t n : operators) {
    const CallTreeNode& node = tree.nodes[n];
    const std::int64_t bytes = host != nullptr && node.host != kNoNode
                                   ? tensor_bytes(host->nodes[node.host].inputs)
                                   : recorded_bytes(recorded, node.event);
    if (bytes > 0) return bytes;
    // Higher up other operators may take part that have nothing to do with it.
    if (name_of(node, recorded, host) == "record_param_comms") break;
  }
  if (details == nullptr || details->input_elements == kNotRecorded) return 0;
  const std::int64_t each = element_bytes(recorded.texts[details->data_type]);
  std::int64_t out = 0;
  const bool overflows = __builtin_mul_overflow(each, details->input_elements, &out);
  return overflows || out < 0 ? 0 : out;
}

// The rank in the whole job of member `rank` of a group.
std::int64_t global_rank(const RecordedTrace& recorded, std::string_view group, std::int64_t rank) {
  for (const ProcessGroup& g : recorded.groups) {
    if (g.name != group || g.ranks.empty()) continue;
    if (rank >= 0 && static_cast<std::size_t>(rank) < g.ranks.size()) {
      return g.ranks[static_cast<std::size_t>(rank)];
    }
  }
  return rank;
}

}  // namespace

std::optional<CommunicationNode> communication_of(const CallTree& tree, std::uint32_t node,
                                                  const RecordedTrace& recorded,
                                                  const HostTrace* host) {
  const std::uint32_t event = tree.nodes[node].event;
  if (recorded.kind[event] != EventKind::kernel) return std::nullopt;
  const std::string_view kernel = recorded.name_of(event);
  if (!is_communication_kernel(kernel)) return std::nullopt;

  const std::vector<std::uint32_t> operators = above(tree, node);
  const CommunicationDetails* details = details_of(recorded, event);
  for (std::size_t i = 0; details == nullptr && i < operators.size(); ++i) {
    details = details_of(recorded, tree.nodes[operators[i]].event);
  }
  std::string said = details == nullptr ? "" : folded(recorded.texts[details->collective]);
  const std::string by_name = folded(collective_of_kernel(kernel).value_or(kernel));
  if (said.empty() && by_name == "sendrecv") {
    for (const std::uint32_t n : operators) {
      const std::string name = folded(name_of(tree.nodes[n], recorded, host));
      if (name == "recordparamcomms") continue;
      if (name.find("alltoall") != std::string::npos) said = "alltoall";
      if (said.empty() && name.find("send") != std::string::npos) said = "send";
      if (said.empty() && name.find("recv") != std::string::npos) said = "recv";
      if (!said.empty()) break;
    }
  }
  CommunicationNode out;
  if (said == "send" || said == "recv") {
    out.type = said == "send" ? ChakraNodeType::send : ChakraNodeType::receive;
  } else {
    auto kind = collective_in(by_name);
    // The arguments say more than a kernel's name: one kernel serves many collectives.
    if (by_name == "sendrecv" || !kind) {
      if (const auto named = collective_in(said)) kind = named;
    }
    if (!kind) return std::nullopt;
    out.collective = *kind;
  }
  out.bytes = bytes_of(tree, operators, details, recorded, host);
  out.group = details != nullptr && details->group != 0
                  ? std::string(recorded.texts[details->group])
                  : group_above(tree, operators, recorded, host);
  if (details != nullptr && out.type != ChakraNodeType::collective) {
    const std::int64_t peer =
        out.type == ChakraNodeType::send ? details->destination : details->source;
    if (peer != kNotRecorded) out.peer = global_rank(recorded, out.group, peer);
    if (details->sequence != kNotRecorded) out.tag = details->sequence & 0x7FFFFFFF;
  }
  return out;
}

}  // namespace orrery
