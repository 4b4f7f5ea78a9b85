#include "trace/chakra/astra_sim_run.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "parallel/parallel_for.h"
#include "trace/chakra/dependency_order.h"
#include "trace/chakra/process_groups.h"

namespace orrery {
namespace {

enum class SimLane : std::uint8_t { host, compute, network, beside };
constexpr std::size_t kSimLanes = 4;

SimLane sim_lane(const ChakraNode& node) {
  if (node.type == ChakraNodeType::receive) return SimLane::beside;
  if (node.is_host()) return SimLane::host;
  return node.type == ChakraNodeType::compute ? SimLane::compute : SimLane::network;
}

// A node of a rank, as an index each.
struct SimNode {
  std::uint32_t rank = 0;
  std::uint32_t node = 0;
  auto operator<=>(const SimNode&) const = default;
};

struct SimCollective {
  std::int64_t kind = 0;
  std::int64_t bytes = 0;
  std::uint64_t shortest_ns = 0;
  std::vector<SimNode> here = {};
  std::optional<SimNode> odd = {};  // the first of another kind or size
};

class SimRank {
 public:
  SimRank(const ChakraTrace& trace, const ChakraOrder& order)
      : nodes_(trace.nodes),
        waits_(trace.nodes.size()),
        followers_(followers(order.before, order.offsets)) {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      waits_[n] = order.offsets[n + 1] - order.offsets[n];
      if (waits_[n] == 0) make_ready(n);
    }
  }

  // The next that can begin, which then occupies its lane.
  std::optional<std::uint32_t> begin() {
    for (std::size_t lane = 0; lane < kSimLanes; ++lane) {
      if (busy_[lane] || ready_[lane].empty()) continue;
      const std::uint32_t n = ready_[lane].begin()->second;
      ready_[lane].erase(ready_[lane].begin());
      busy_[lane] = static_cast<SimLane>(lane) != SimLane::beside;
      begun_.insert(n);
      return n;
    }
    return std::nullopt;
  }

  void end(std::uint32_t n) {
    busy_[static_cast<std::size_t>(sim_lane(nodes_[n]))] = false;
    begun_.erase(n);
    for (const std::uint32_t follower : followers_[n]) {
      if (--waits_[follower] == 0) make_ready(follower);
    }
  }

  // What has begun and never ends.
  [[nodiscard]] std::optional<std::uint32_t> stuck() const {
    return begun_.empty() ? std::nullopt : std::optional(*begun_.begin());
  }

 private:
  void make_ready(std::uint32_t n) {
    ready_[static_cast<std::size_t>(sim_lane(nodes_[n]))].emplace(nodes_[n].id, n);
  }

  const std::vector<ChakraNode>& nodes_;
  std::vector<std::uint32_t> waits_;
  EdgeLists followers_;
  std::array<std::set<std::pair<std::uint64_t, std::uint32_t>>, kSimLanes> ready_;
  std::array<bool, kSimLanes> busy_{};
  std::set<std::uint32_t> begun_;
};

class AstraSim {
 public:
  AstraSim(const ChakraRun& run, std::span<const ChakraOrder> orders) : run_(run) {
    std::map<std::string, std::uint32_t> known;  // names are unique over the job
    const auto index_of = [&](const NamedGroup& group) {
      const auto next = static_cast<std::uint32_t>(members_.size());
      const auto [at, fresh] = known.try_emplace(group.name, next);
      if (fresh) members_.push_back(given(group));
      return at->second;
    };
    index_of({});  // no group: all ranks
    for (std::size_t r = 0; r < run.size(); ++r) {
      ranks_.emplace_back(run[r].trace, orders[r]);
      groups_.emplace_back();
      for (NamedGroup& group : defined_groups(run[r].trace).groups) {
        std::ranges::sort(group.ranks);
        groups_.back().emplace(group.name, OwnGroup{index_of(group)});
      }
    }
    collectives_seen_.resize(run.size());
  }

  std::vector<AstraSimStop> stops() {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) begin(r);
    while (!events_.empty()) {
      const auto [time, number, at] = events_.top();
      events_.pop();
      now_ns_ = time;
      ranks_[at.rank].end(at.node);
      begin(at.rank);
    }
    std::vector<AstraSimStop> out;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const auto n = ranks_[r].stuck();
      if (n) out.push_back({r, {node({r, *n}).id, reason({r, *n})}});
    }
    return out;
  }

 private:
  using Event = std::tuple<std::uint64_t, std::uint64_t, SimNode>;  // time, its number, what ends
  using Meeting = std::pair<std::uint32_t, std::int64_t>;           // group and k
  using Message = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  struct OwnGroup {
    std::uint32_t index = 0;  // into members_
    std::int64_t seen = 0;    // collectives that the rank began in it
  };

  [[nodiscard]] const ChakraNode& node(SimNode at) const {
    return run_[at.rank].trace.nodes[at.node];
  }
  static std::uint64_t time_of(const ChakraNode& node) {
    constexpr std::uint64_t kNsPerMicro = 1000;
    return std::max<std::uint64_t>(1, node.duration_micros * kNsPerMicro);
  }
  void end_after(std::uint64_t ns, SimNode at) { events_.emplace(now_ns_ + ns, numbered_++, at); }

  void begin(std::uint32_t r) {
    while (const auto n = ranks_[r].begin()) {
      const SimNode at{r, *n};
      switch (node(at).type) {
        case ChakraNodeType::collective:
          meet(at);
          break;
        case ChakraNodeType::send:
          end_after(time_of(node(at)), at);
          send(message(at));
          break;
        case ChakraNodeType::receive:
          receive(at);
          break;
        default:
          end_after(time_of(node(at)), at);
      }
    }
  }

  // Ranks of the group that were given; the group is all of them if it has no ranks.
  [[nodiscard]] std::vector<std::int64_t> given(const NamedGroup& group) const {
    std::vector<std::int64_t> out;
    for (const ChakraRank& rank : run_) {
      if (group.ranks.empty() || std::ranges::binary_search(group.ranks, rank.rank)) {
        out.push_back(rank.rank);
      }
    }
    return out;
  }

  void meet(SimNode at) {
    const ChakraNode& here = node(at);
    const std::int64_t kind = here.integer("comm_type").value_or(-1);
    if (kind == static_cast<std::int64_t>(ChakraCollective::broadcast)) {
      end_after(time_of(here), at);
      return;
    }
    const std::string_view name = here.text("pg_name");
    const auto own = groups_[at.rank].find(name);
    Meeting meeting{0, collectives_seen_[at.rank]++};
    if (own != groups_[at.rank].end() && !name.empty() && name != "0") {
      meeting = {own->second.index, own->second.seen++};
    }
    // Who is not in the group is waited for by nobody, and never leaves.
    const std::vector<std::int64_t>& members = members_[meeting.first];
    if (!std::ranges::binary_search(members, run_[at.rank].rank)) return;
    met_[at] = meeting;
    SimCollective& all = collectives_[meeting];
    const std::int64_t bytes = here.integer("comm_size").value_or(0);
    if (all.here.empty()) all = {kind, bytes, time_of(here)};
    if ((all.kind != kind || all.bytes != bytes) && !all.odd) all.odd = at;
    all.shortest_ns = std::min(all.shortest_ns, time_of(here));
    all.here.push_back(at);
    if (all.odd || all.here.size() < members.size()) return;
    for (const SimNode& member : all.here) {
      met_.erase(member);
      end_after(all.shortest_ns, member);
    }
    collectives_.erase(meeting);
  }

  [[nodiscard]] Message message(SimNode at) const {
    const ChakraNode& here = node(at);
    const std::int64_t own = run_[at.rank].rank;
    return {here.integer("comm_src").value_or(own), here.integer("comm_dst").value_or(own),
            here.integer("comm_tag").value_or(0), here.integer("comm_size").value_or(0)};
  }

  void send(const Message& sent) {
    auto& waiting = receives_[sent];
    if (waiting.empty()) {
      ++sends_[sent];
      return;
    }
    end_after(1, waiting.front());
    waiting.pop_front();
  }

  void receive(SimNode at) {
    const Message awaited = message(at);
    const bool is_given = std::ranges::any_of(
        run_, [&](const ChakraRank& rank) { return rank.rank == std::get<0>(awaited); });
    if (!is_given) {
      end_after(time_of(node(at)), at);
    } else if (std::int64_t& sent = sends_[awaited]; sent > 0) {
      --sent;
      end_after(1, at);
    } else {
      receives_[awaited].push_back(at);
    }
  }

  [[nodiscard]] std::string reason(SimNode at) const {
    const std::string hangs = "ASTRA-sim hangs here: ";
    if (node(at).type == ChakraNodeType::receive) {
      const auto [from, to, tag, bytes] = message(at);
      return hangs + "rank " + std::to_string(from) + " sends nothing of " + std::to_string(bytes) +
             " bytes with tag " + std::to_string(tag);
    }
    const auto met = met_.find(at);
    if (met == met_.end()) return hangs + "rank " + rank_text(at) + " is not in its group";
    const Meeting& meeting = met->second;
    const SimCollective& all = collectives_.at(meeting);
    if (all.odd) {
      return hangs + place_of(*all.odd) + " has another comm_type or comm_size than " +
             place_of(all.here.front());
    }
    // Otherwise a rank is missing, the first in the order of ranks.
    const auto missing = std::ranges::find_if(members_[meeting.first], [&](std::int64_t rank) {
      return std::ranges::none_of(
          all.here, [&](const SimNode& member) { return run_[member.rank].rank == rank; });
    });
    return hangs + "rank " + std::to_string(*missing) + " of its group does not come";
  }
  [[nodiscard]] std::string rank_text(SimNode at) const {
    return std::to_string(run_[at.rank].rank);
  }
  [[nodiscard]] std::string place_of(SimNode at) const {
    return "node " + std::to_string(node(at).id) + " of rank " + rank_text(at);
  }

  const ChakraRun& run_;
  std::vector<SimRank> ranks_;
  std::vector<std::vector<std::int64_t>> members_;                    // of each group, if given
  std::vector<std::map<std::string, OwnGroup, std::less<>>> groups_;  // of each rank, by name
  std::vector<std::int64_t> collectives_seen_;                        // by rank
  std::map<Meeting, SimCollective> collectives_;
  std::map<SimNode, Meeting> met_;
  std::map<Message, std::int64_t> sends_;
  std::map<Message, std::deque<SimNode>> receives_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t numbered_ = 0;
  std::uint64_t now_ns_ = 0;
};

}  // namespace

Result<std::vector<AstraSimStop>> astra_sim_run(const ChakraRun& run, AbsentDependencies absent) {
  std::vector<Result<ChakraOrder>> found(run.size());
  parallel_for(run.size(), threads_to_use(0),
               [&](std::size_t r) { found[r] = chakra_order(run[r].trace, run[r].file, absent); });
  std::vector<ChakraOrder> orders;
  for (Result<ChakraOrder>& order : found) {
    ORRERY_TRY(ChakraOrder whole, std::move(order));
    orders.push_back(std::move(whole));
  }
  return AstraSim(run, orders).stops();
}

}  // namespace orrery
