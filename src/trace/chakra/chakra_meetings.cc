#include "trace/chakra/chakra_meetings.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "parallel/parallel_for.h"

namespace orrery {
namespace {

using Groups = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

std::string place(const ChakraRank& rank, const ChakraNode& node) {
  return rank.file + ": node " + std::to_string(node.id);
}

// What a communication node says.
struct NodeCall {
  std::uint32_t node = 0;
  ChakraNodeType type = ChakraNodeType::collective;
  ChakraCollective collective = ChakraCollective::all_reduce;
  std::int64_t bytes = 0;
  std::string group = {};                                         // of a collective
  std::tuple<std::int64_t, std::int64_t, std::int64_t> key = {};  // of a transfer: from, to, tag
};

// Of a rank: its communication nodes in the order in which they ran, and the groups it defines.
struct RankCalls {
  std::vector<NodeCall> calls;
  Groups groups;
};

RankCalls calls_of(const ChakraRank& rank, const ChakraOrder& order) {
  RankCalls out;
  const std::vector<ChakraNode>& nodes = rank.trace.nodes;
  for (NamedGroup& group : defined_groups(rank.trace).groups) {
    std::ranges::sort(group.ranks);
    group.ranks.erase(std::unique(group.ranks.begin(), group.ranks.end()), group.ranks.end());
    out.groups.emplace(std::move(group.name), std::move(group.ranks));
  }
  std::vector<std::uint32_t> ran;
  std::copy_if(order.nodes.begin(), order.nodes.end(), std::back_inserter(ran),
               [&](std::uint32_t n) { return communicates(nodes[n]); });
  std::ranges::stable_sort(ran, [&](std::uint32_t a, std::uint32_t b) {
    return nodes[a].start_micros < nodes[b].start_micros;
  });
  out.calls.reserve(ran.size());
  for (const std::uint32_t n : ran) {
    const ChakraNode& node = nodes[n];
    NodeCall& call = out.calls.emplace_back();
    call.node = n;
    call.type = node.type;
    call.bytes = node.integer("comm_size").value_or(0);
    if (node.type == ChakraNodeType::collective) {
      call.collective = static_cast<ChakraCollective>(*node.integer("comm_type"));
      call.group = group_of(node);
    } else {
      call.key = {node.integer("comm_src").value_or(rank.rank),
                  node.integer("comm_dst").value_or(rank.rank),
                  node.integer("comm_tag").value_or(0)};
    }
  }
  return out;
}

class Matcher {
 public:
  explicit Matcher(const ChakraRun& run) : run_(run), ranks_(run.size()) {}

  Result<ChakraMeetings> match(std::span<const ChakraOrder> orders) {
    parallel_for(run_.size(), threads_to_use(0),
                 [&](std::size_t r) { ranks_[r] = calls_of(run_[r], orders[r]); });
    for (std::uint32_t r = 0; r < run_.size(); ++r) ORRERY_RETURN_IF_ERROR(add_rank(r));
    for (std::uint32_t group = 0; group < collectives_.size(); ++group) {
      ORRERY_RETURN_IF_ERROR(meet(group, collectives_[group]));
    }
    pass();
    out_.undefined.assign(undefined_.begin(), undefined_.end());
    return std::move(out_);
  }

 private:
  using Calls = std::vector<const NodeCall*>;
  struct Transfer {
    const NodeCall* call;
    std::uint32_t rank;
    [[nodiscard]] bool receives() const { return call->type == ChakraNodeType::receive; }
  };

  const ChakraNode& node_of(ChakraMember m) const { return run_[m.rank].trace.nodes[m.node]; }

  Result<void> add_rank(std::uint32_t r) {
    std::map<std::string_view, std::uint32_t> known;  // groups of this rank, by name
    for (const NodeCall& call : ranks_[r].calls) {
      const ChakraNode& node = run_[r].trace.nodes[call.node];
      if (call.bytes < 0) return bad_input("comm_size is negative", place(run_[r], node));
      if (call.type != ChakraNodeType::collective) {
        transfers_.push_back({&call, r});
        continue;
      }
      auto group = known.find(call.group);
      if (group == known.end()) {
        ORRERY_TRY(const std::uint32_t index,
                   resolved(run_[r], node, call.group, ranks_[r].groups));
        group = known.emplace(call.group, index).first;
        collectives_.resize(out_.groups.size());
        auto& ranks = collectives_[index];  // two names may stand for all
        if (ranks.empty() || ranks.back().first != r) ranks.emplace_back(r, Calls());
      }
      collectives_[group->second].back().second.push_back(&call);
    }
    return {};
  }

  Result<std::uint32_t> resolved(const ChakraRank& rank, const ChakraNode& node,
                                 const std::string& name, const Groups& defined) {
    NamedGroup group{name, {}};
    if (const auto it = defined.find(name); it != defined.end()) {
      group.ranks = it->second;
    } else if (!name.empty() && name != "0") {
      undefined_.insert(name);
    }
    if (group.ranks.empty() && name == "0") group.name.clear();
    if (!group.ranks.empty() &&
        !std::binary_search(group.ranks.begin(), group.ranks.end(), rank.rank)) {
      return bad_input("its group '" + name + "' has no rank " + std::to_string(rank.rank),
                       place(rank, node), "a file belongs to the rank in its name: trace.RANK.et");
    }
    const auto next = static_cast<std::uint32_t>(out_.groups.size());
    const auto [it, fresh] = index_.try_emplace({group.name, group.ranks}, next);
    if (fresh) out_.groups.push_back(std::move(group));
    return it->second;
  }

  // `ranks`: the calls of each, ascending by rank.
  Result<void> meet(std::uint32_t group, std::span<const std::pair<std::uint32_t, Calls>> ranks) {
    std::size_t most = 0;
    for (const auto& [rank, calls] : ranks) most = std::max(most, calls.size());
    for (std::size_t k = 0; k < most; ++k) {
      ChakraMeeting& meeting = out_.meetings.emplace_back();
      meeting.group = group;
      meeting.members.reserve(ranks.size());
      for (const auto& [rank, calls] : ranks) {
        if (k >= calls.size()) continue;
        const NodeCall& call = *calls[k];
        if (meeting.members.empty()) {
          meeting.collective = call.collective;
        } else if (meeting.collective != call.collective) {
          const ChakraMember first = meeting.members.front();
          return bad_input(
              std::string(to_text(call.collective)) + " meets " +
                  std::string(to_text(meeting.collective)) + " of " +
                  place(run_[first.rank], node_of(first)),
              place(run_[rank], node_of({rank, call.node})),
              "the ranks of a group call the same collectives in the same order: are these "
              "files of one job?");
        }
        meeting.bytes = std::max(meeting.bytes, call.bytes);
        meeting.members.push_back({rank, call.node});
      }
    }
    return {};
  }

  void pass() {
    std::ranges::stable_sort(transfers_, [](const Transfer& a, const Transfer& b) {
      return std::pair(a.call->key, a.receives()) < std::pair(b.call->key, b.receives());
    });
    for (auto send = transfers_.begin(); send != transfers_.end();) {
      const auto key = send->call->key;
      const auto receives = std::find_if(send, transfers_.end(), [&](const Transfer& t) {
        return t.call->key != key || t.receives();
      });
      const auto end = std::find_if(receives, transfers_.end(),
                                    [&](const Transfer& t) { return t.call->key != key; });
      for (auto receive = receives; send != receives || receive != end;) {
        ChakraMeeting& meeting = out_.meetings.emplace_back();
        meeting.transfer = true;
        meeting.from = std::get<0>(key);
        meeting.to = std::get<1>(key);
        const auto add = [&](const Transfer& t) {
          meeting.members.push_back({t.rank, t.call->node});
          meeting.bytes = std::max(meeting.bytes, t.call->bytes);
        };
        if (send != receives) add(*send++);
        if (receive != end) add(*receive++);
      }
      send = end;
    }
  }

  const ChakraRun& run_;
  std::vector<RankCalls> ranks_;
  ChakraMeetings out_;
  std::set<std::string> undefined_;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::uint32_t> index_;
  std::vector<std::vector<std::pair<std::uint32_t, Calls>>> collectives_;  // by group
  std::vector<Transfer> transfers_;
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

Result<ChakraMeetings> chakra_meetings(const ChakraRun& run, std::span<const ChakraOrder> orders) {
  return Matcher(run).match(orders);
}

}  // namespace orrery
