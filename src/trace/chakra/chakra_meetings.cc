#include "trace/chakra/chakra_meetings.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace orrery {
namespace {

using Nodes = std::vector<std::uint32_t>;
using ByRank = std::map<std::uint32_t, Nodes>;  // nodes of each rank of the run

std::string place(const ChakraRank& rank, const ChakraNode& node) {
  return rank.file + ": node " + std::to_string(node.id);
}

// Communication nodes of a rank in the order in which they ran.
Nodes in_order(const ChakraTrace& trace, const std::vector<std::uint32_t>& order) {
  Nodes out;
  for (const std::uint32_t n : order) {
    if (communicates(trace.nodes[n])) out.push_back(n);
  }
  std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
    return trace.nodes[a].start_micros < trace.nodes[b].start_micros;
  });
  return out;
}

std::string group_text(const ChakraNode& node) {
  if (node.find("pg_name") != nullptr) return std::string(node.text("pg_name"));
  // Converters of 2024 wrote a number.
  const auto number = node.integer("pg_id");
  return number ? std::to_string(*number) : "";
}

class Matcher {
 public:
  explicit Matcher(const ChakraRun& run) : run_(run) {}

  Result<ChakraMeetings> match(std::span<const std::vector<std::uint32_t>> orders) {
    for (std::uint32_t r = 0; r < run_.size(); ++r) {
      ORRERY_RETURN_IF_ERROR(add_rank(r, orders[r]));
    }
    for (const auto& [group, ranks] : collectives_) {
      ORRERY_RETURN_IF_ERROR(meet(group, ranks));
    }
    for (const auto& [key, pair] : transfers_) pass(key, pair);
    out_.undefined.assign(undefined_.begin(), undefined_.end());
    return std::move(out_);
  }

 private:
  struct Pair {
    std::vector<ChakraMember> sends;
    std::vector<ChakraMember> receives;
  };
  using TransferKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // from, to, tag

  const ChakraNode& node_of(ChakraMember m) const { return run_[m.rank].trace.nodes[m.node]; }

  Result<void> add_rank(std::uint32_t r, const std::vector<std::uint32_t>& order) {
    const ChakraRank& rank = run_[r];
    std::map<std::string, std::vector<std::int64_t>, std::less<>> defined;
    for (const ChakraNode& node : rank.trace.nodes) {
      for (NamedGroup& group : defined_groups(node).groups) {
        std::sort(group.ranks.begin(), group.ranks.end());
        group.ranks.erase(std::unique(group.ranks.begin(), group.ranks.end()), group.ranks.end());
        defined.emplace(std::move(group.name), std::move(group.ranks));
      }
    }
    std::map<std::string, std::uint32_t, std::less<>> known;  // groups of this rank, by name
    for (const std::uint32_t n : in_order(rank.trace, order)) {
      const ChakraNode& node = rank.trace.nodes[n];
      if (node.integer("comm_size").value_or(0) < 0) {
        return fail(ErrorCode::bad_input, "comm_size is negative", place(rank, node));
      }
      if (node.type != ChakraNodeType::collective) {
        const bool sends = node.type == ChakraNodeType::send;
        const TransferKey key{node.integer("comm_src").value_or(rank.rank),
                              node.integer("comm_dst").value_or(rank.rank),
                              node.integer("comm_tag").value_or(0)};
        (sends ? transfers_[key].sends : transfers_[key].receives).push_back({r, n});
        continue;
      }
      const std::string name = group_text(node);
      auto group = known.find(name);
      if (group == known.end()) {
        ORRERY_TRY(const std::uint32_t index, group_of(rank, node, name, defined));
        group = known.emplace(name, index).first;
      }
      collectives_[group->second][r].push_back(n);
    }
    return {};
  }

  Result<std::uint32_t> group_of(
      const ChakraRank& rank, const ChakraNode& node, const std::string& name,
      const std::map<std::string, std::vector<std::int64_t>, std::less<>>& defined) {
    NamedGroup group{name, {}};
    if (const auto it = defined.find(name); it != defined.end()) {
      group.ranks = it->second;
    } else if (!name.empty() && name != "0") {
      undefined_.insert(name);
    }
    if (group.ranks.empty() && name == "0") group.name.clear();
    if (!group.ranks.empty() &&
        !std::binary_search(group.ranks.begin(), group.ranks.end(), rank.rank)) {
      return fail(ErrorCode::bad_input,
                  "its group '" + name + "' has no rank " + std::to_string(rank.rank),
                  place(rank, node), "a file belongs to the rank in its name: trace.RANK.et");
    }
    const auto next = static_cast<std::uint32_t>(out_.groups.size());
    const auto [it, fresh] = index_.try_emplace({group.name, group.ranks}, next);
    if (fresh) out_.groups.push_back(std::move(group));
    return it->second;
  }

  Result<void> meet(std::uint32_t group, const ByRank& ranks) {
    std::size_t most = 0;
    for (const auto& [rank, nodes] : ranks) most = std::max(most, nodes.size());
    for (std::size_t k = 0; k < most; ++k) {
      ChakraMeeting meeting;
      meeting.group = group;
      for (const auto& [rank, nodes] : ranks) {
        if (k >= nodes.size()) continue;
        const ChakraMember member{rank, nodes[k]};
        const ChakraNode& node = node_of(member);
        const auto kind = static_cast<ChakraCollective>(*node.integer("comm_type"));
        if (meeting.members.empty()) {
          meeting.collective = kind;
        } else if (meeting.collective != kind) {
          const ChakraMember first = meeting.members.front();
          return fail(ErrorCode::bad_input,
                      std::string(to_text(kind)) + " meets " +
                          std::string(to_text(meeting.collective)) + " of " +
                          place(run_[first.rank], node_of(first)),
                      place(run_[rank], node),
                      "the ranks of a group call the same collectives in the same order: are these "
                      "files of one job?");
        }
        meeting.bytes = std::max(meeting.bytes, node.integer("comm_size").value_or(0));
        meeting.members.push_back(member);
      }
      out_.meetings.push_back(std::move(meeting));
    }
    return {};
  }

  void pass(const TransferKey& key, const Pair& pair) {
    for (std::size_t k = 0; k < std::max(pair.sends.size(), pair.receives.size()); ++k) {
      ChakraMeeting meeting;
      meeting.transfer = true;
      meeting.from = std::get<0>(key);
      meeting.to = std::get<1>(key);
      for (const auto* side : {&pair.sends, &pair.receives}) {
        if (k >= side->size()) continue;
        meeting.members.push_back((*side)[k]);
        meeting.bytes =
            std::max(meeting.bytes, node_of((*side)[k]).integer("comm_size").value_or(0));
      }
      out_.meetings.push_back(std::move(meeting));
    }
  }

  const ChakraRun& run_;
  ChakraMeetings out_;
  std::set<std::string> undefined_;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::uint32_t> index_;
  std::map<std::uint32_t, ByRank> collectives_;  // by group
  std::map<TransferKey, Pair> transfers_;
};

}  // namespace

bool communicates(const ChakraNode& node) {
  switch (node.type) {
    case ChakraNodeType::collective: {
      const auto kind = node.integer("comm_type");
      return !node.is_host() && kind && *kind >= 0 && *kind < kChakraCollectives;
    }
    case ChakraNodeType::send:
      return !node.is_host() && node.integer("comm_dst").has_value();
    case ChakraNodeType::receive:
      return !node.is_host() && node.integer("comm_src").has_value();
    default:
      return false;
  }
}

Result<ChakraMeetings> chakra_meetings(const ChakraRun& run,
                                       std::span<const std::vector<std::uint32_t>> orders) {
  return Matcher(run).match(orders);
}

}  // namespace orrery
