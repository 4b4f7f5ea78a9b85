#include "trace/chakra/chakra_check.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "document/utf8.h"
#include "trace/chakra/communicators.h"
#include "trace/chakra/dependency_order.h"
#include "trace/chakra/process_groups.h"

namespace orrery {
namespace {

constexpr std::size_t kMostDependencies = 1'000'000'000;  // places are 32 bits

// Nodes by identifier, for many at little memory.
class Indices {
 public:
  explicit Indices(const std::vector<ChakraNode>& nodes) {
    entries_.reserve(nodes.size());
    for (std::uint32_t i = 0; i < nodes.size(); ++i) entries_.emplace_back(nodes[i].id, i);
    sorted_ = std::ranges::is_sorted(entries_);
    if (!sorted_) std::ranges::sort(entries_);
  }

  // Of the first node with that identifier.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t id) const {
    // Identifiers mostly count up.
    const std::uint64_t guess = entries_.empty() ? 0 : id - entries_.front().first;
    if (guess < entries_.size() && entries_[guess].first == id &&
        (guess == 0 || entries_[guess - 1].first != id)) {
      return entries_[guess].second;
    }
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), std::pair(id, 0U));
    if (it == entries_.end() || it->first != id) return std::nullopt;
    return it->second;
  }
  // Places of nodes whose identifier a node before them has, in the order of the file.
  [[nodiscard]] std::vector<std::uint32_t> repeated() const {
    std::vector<std::uint32_t> out;
    for (std::size_t i = 1; i < entries_.size(); ++i) {
      if (entries_[i].first == entries_[i - 1].first) out.push_back(entries_[i].second);
    }
    std::ranges::sort(out);
    return out;
  }
  // All nodes, lower identifiers first; nothing if they stand so in the file.
  [[nodiscard]] std::vector<std::uint32_t> by_identifier() const {
    std::vector<std::uint32_t> out;
    for (std::size_t i = 0; !sorted_ && i < entries_.size(); ++i) out.push_back(entries_[i].second);
    return out;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> entries_;
  bool sorted_ = true;
};

// preferred-dataset-splits of ASTRA-sim's validated systems (examples/system). An all-gather of
// fewer bytes is split without end, one of none hangs; other collectives it makes larger
// (Sys::determine_chunk_size).
constexpr std::int64_t kSplits = 4;

// The default group, of all ranks.
bool is_of_all(std::string_view group) { return group.empty() || group == "0"; }

std::string node_text(std::uint64_t id) { return "node " + std::to_string(id); }

class Checker {
 public:
  Checker(const ChakraTrace& trace, const ChakraCheckOptions& options)
      : trace_(trace), options_(options) {
    for (const std::string& group : options.groups) groups_[group];
    for (const char* all : {"", "0"}) groups_[all];
  }

  ChakraReport check() {
    structure();
    read_groups();
    for (const ChakraNode& node : trace_.nodes) check_node(node);
    return std::move(report_);
  }

 private:
  void find(std::uint64_t node, std::string message) {
    ++report_.total;
    if (report_.findings.size() < options_.most) {
      report_.findings.push_back({node, std::move(message)});
    }
  }
  void find(const ChakraNode& node, std::string message) { find(node.id, std::move(message)); }

  void structure() {
    const Indices ids(trace_.nodes);
    const std::vector<std::uint32_t> repeated = ids.repeated();
    for (const std::uint32_t n : repeated) {
      find(trace_.nodes[n], "another node has this identifier");
    }
    for (const ChakraNode& node : trace_.nodes) {
      for (const auto* list : {&node.data_dependencies, &node.control_dependencies}) {
        for (const std::uint64_t id : *list) {
          if (id == node.id) find(node, "depends on itself");
          if (ids.find(id)) continue;
          ++report_.absent;
          if (options_.absent == AbsentDependencies::report) {
            find(node, "depends on " + node_text(id) + ", which is absent");
          }
        }
      }
    }
    if (!repeated.empty()) return;
    if (report_.absent > 0 && options_.absent == AbsentDependencies::report) return;
    const auto order = chakra_order(trace_, "", options_.absent);
    if (!order && !trace_.nodes.empty()) {
      ++report_.total;
      report_.findings.push_back({trace_.nodes[0].id, order.error().message});
    }
  }

  void read_groups() {
    DefinedGroups defined = defined_groups(trace_);
    for (GroupsProblem& problem : defined.problems) find(problem.node, std::move(problem.message));
    for (NamedGroup& group : defined.groups) {
      groups_.insert_or_assign(std::move(group.name), std::move(group.ranks));
    }
    in_groups_ = std::ranges::any_of(trace_.nodes, [](const ChakraNode& node) {
      return node.type == ChakraNodeType::collective && !is_of_all(node.text("pg_name"));
    });
  }

  // 0: unknown.
  [[nodiscard]] std::int64_t size_of(const std::vector<std::int64_t>& ranks) const {
    return ranks.empty() ? options_.ranks : static_cast<std::int64_t>(ranks.size());
  }
  [[nodiscard]] bool is_outside(const std::vector<std::int64_t>& ranks) const {
    if (ranks.empty() || options_.rank < 0) return false;
    return std::ranges::find(ranks, options_.rank) == ranks.end();
  }

  // A whole number of any width, which the feeder converts.
  std::optional<std::int64_t> number(const ChakraNode& node, std::string_view name, bool required) {
    const auto attribute = node.attributes.value(name);
    if (!attribute) {
      if (required) find(node, "has no " + std::string(name));
      return std::nullopt;
    }
    const auto value = integer_of(*attribute);
    if (!value) find(node, std::string(name) + " is not a whole number");
    return value;
  }

  void rank_number(const ChakraNode& node, std::string_view name, bool required) {
    const auto value = number(node, name, required);
    if (value && (*value < 0 || *value > std::numeric_limits<std::int32_t>::max())) {
      find(node, std::string(name) + " is " + std::to_string(*value) +
                     ", which is not a rank or tag from 0 to 2147483647");
    }
  }

  void communication(const ChakraNode& node) {
    if (node.is_host()) find(node, "communicates, but is_cpu_op says that it runs on the host");
    const auto size = number(node, "comm_size", true);
    if (size && *size < 0) find(node, "comm_size is negative");
    const bool transfer = node.type != ChakraNodeType::collective;
    if (size == 0 && transfer) find(node, "comm_size is 0, at which ASTRA-sim aborts");
    const auto group = node.attributes.value("pg_name");
    if (group && !text_of(*group)) {
      find(node, "pg_name is not text");
      return;
    }
    // ASTRA-sim asks transfers for no group.
    const std::string name(node.text("pg_name"));
    const auto known = groups_.find(name);
    if (known == groups_.end()) {
      find(node, "its group '" + name + "' is not defined");
    } else if (transfer) {
      return;
    } else if (size_of(known->second) == 1) {
      find(node, "its group '" + name + "' has one rank, at which ASTRA-sim hangs");
    } else if (is_outside(known->second)) {
      find(node, "its group '" + name + "' has no rank " + std::to_string(options_.rank));
    } else if (is_of_all(name)) {
      if (in_groups_) {
        find(node,
             "is in no numbered group, while others are: ASTRA-sim may match it with another");
      }
    } else if (!communicator_number(name)) {
      find(node, "its group '" + name + "' is not a number from 1");
    }
  }

  void check_node(const ChakraNode& node) {
    if (first_invalid_utf8(node.name)) find(node, "its name is not UTF-8");
    if (node.type == ChakraNodeType::invalid) return;
    if (node.type == ChakraNodeType::metadata) find(node, "is METADATA, at which ASTRA-sim aborts");
    if (node.duration_micros > kLongestNodeMicros) {
      find(node, "takes " + node_time_text(node.duration_micros));
    }
    if (node.start_micros > kLatestNodeMicros) {
      find(node, "starts at " + node_time_text(node.start_micros));
    }
    number(node, "is_cpu_op", false);
    number(node, "num_ops", false);
    number(node, "comm_priority", false);
    const bool memory =
        node.type == ChakraNodeType::memory_load || node.type == ChakraNodeType::memory_store;
    number(node, "tensor_size", memory);
    if (const auto dims = node.find("involved_dim")) {
      if (dims->kind != ChakraKind::boolean || !dims->is_list) {
        find(node, "involved_dim is not a list of booleans");
      }
    }
    switch (node.type) {
      case ChakraNodeType::collective:
        collective(node);
        break;
      case ChakraNodeType::send:
        communication(node);
        rank_number(node, "comm_dst", true);
        rank_number(node, "comm_src", false);
        rank_number(node, "comm_tag", false);
        break;
      case ChakraNodeType::receive:
        communication(node);
        rank_number(node, "comm_src", true);
        rank_number(node, "comm_dst", false);
        rank_number(node, "comm_tag", false);
        break;
      default:
        break;
    }
  }

  void collective(const ChakraNode& node) {
    communication(node);
    const auto type = number(node, "comm_type", true);
    if (!type) return;
    if (*type < 0 || *type >= kChakraCollectives) {
      find(node, "comm_type " + std::to_string(*type) + " is not a collective (0 to 9)");
      return;
    }
    switch (static_cast<ChakraCollective>(*type)) {
      case ChakraCollective::all_gather: {
        const auto size = node.integer("comm_size");
        if (size && *size >= 0 && *size < kSplits) {
          find(node, "gathers " + std::to_string(*size) +
                         " bytes of each rank, too few for ASTRA-sim to split");
        }
        return;
      }
      case ChakraCollective::all_reduce:
      case ChakraCollective::all_to_all:
      case ChakraCollective::reduce_scatter:
        if (node.integer("comm_size") == 0) ++report_.without_size;
        return;
      case ChakraCollective::broadcast:
        return;
      default:
        find(node,
             std::string(to_text(static_cast<ChakraCollective>(*type))) + " is not simulated");
    }
  }

  const ChakraTrace& trace_;
  const ChakraCheckOptions& options_;
  std::unordered_map<std::string, std::vector<std::int64_t>> groups_;  // no ranks: all
  bool in_groups_ = false;  // a collective is in a group of its own
  ChakraReport report_;
};

}  // namespace

ChakraReport check_chakra(const ChakraTrace& trace, const ChakraCheckOptions& options) {
  return Checker(trace, options).check();
}

Result<ChakraOrder> chakra_order(const ChakraTrace& trace, const std::string& name,
                                 AbsentDependencies absent, ControlDependencies control) {
  const auto place = [&](const ChakraNode& node) {
    return name.empty() ? node_text(node.id) : name + ": " + node_text(node.id);
  };
  const Indices index(trace.nodes);
  if (const std::vector<std::uint32_t> repeated = index.repeated(); !repeated.empty()) {
    return bad_input("another node has this identifier", place(trace.nodes[repeated.front()]));
  }
  ChakraOrder out;
  out.offsets.reserve(trace.nodes.size() + 1);
  for (const ChakraNode& node : trace.nodes) {
    for (const auto* list : {&node.data_dependencies, &node.control_dependencies}) {
      if (list == &node.control_dependencies && control == ControlDependencies::ignore) continue;
      for (const std::uint64_t id : *list) {
        if (const auto before = index.find(id)) {
          out.before.push_back(*before);
        } else if (absent == AbsentDependencies::report) {
          return bad_input("depends on " + node_text(id) + ", which is absent", place(node));
        }
      }
    }
    if (out.before.size() > kMostDependencies) {
      return bad_input("has more than 1,000,000,000 dependencies", name);
    }
    out.offsets.push_back(static_cast<std::uint32_t>(out.before.size()));
  }
  DependencyOrder order = dependency_order(out.before, out.offsets, index.by_identifier());
  if (order.order.size() < trace.nodes.size()) {
    return bad_input("the dependencies form a cycle through, or before, " +
                         node_text(trace.nodes[order.stuck].id),
                     name);
  }
  out.nodes = std::move(order.order);
  return out;
}

}  // namespace orrery
