#include "model/recommendation/table_partition.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

namespace orrery {
namespace {

constexpr std::size_t kMostRanks = 1 << 20;  // that hold pieces beside those of their node

// The one with the least work that has room for the next piece; pieces come largest first.
class Queue {
 public:
  // `memory`: of each piece.
  Queue(double room, std::vector<double> memory) : room_(room), smallest_(std::move(memory)) {
    for (std::size_t i = smallest_.size(); i-- > 1;) {
      smallest_[i - 1] = std::min(smallest_[i - 1], smallest_[i]);
    }
  }
  void push(double seconds, std::size_t place) { least_.emplace(seconds, place); }
  // `held(place)`: its memory. Sets `fits` to false if none has room.
  template <class Held>
  std::size_t take(std::size_t piece, double memory, Held held, bool& fits) {
    full_.clear();
    std::optional<Entry> first;  // the one with the least work, if none has room
    while (!least_.empty() && full_.size() < kMostPassedOver) {
      const Entry& top = least_.top();
      if (held(top.second) + memory <= room_) break;
      if (!first) first = top;
      // One that has no room for any piece to come is not looked at again.
      if (held(top.second) + smallest_[piece] <= room_) full_.push_back(top);
      least_.pop();
    }
    Entry chosen;
    if (least_.empty() || full_.size() == kMostPassedOver) {
      fits = false;
      chosen = first.value_or(Entry(0.0, 0));
      std::erase(full_, chosen);
    } else {
      chosen = least_.top();
      least_.pop();
    }
    for (const Entry& e : full_) least_.push(e);
    return chosen.second;
  }

 private:
  static constexpr std::size_t kMostPassedOver = 4096;  // full places tried for one piece
  using Entry = std::pair<double, std::size_t>;
  double room_;
  std::vector<double> smallest_;  // of this piece and those behind it
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> least_;
  std::vector<Entry> full_;
};

void largest_first(std::vector<TablePiece>& pieces) {
  std::ranges::stable_sort(pieces, std::greater{},
                           [](const TablePiece& p) { return p.load.seconds; });
}

}  // namespace

TablePartition table_partition(const TableCosts& costs, const Division& d,
                               std::vector<TablePiece> of_nodes, std::vector<TablePiece> of_ranks,
                               const std::vector<TableChoice>& choices, double everywhere) {
  TablePartition out;
  largest_first(of_nodes);
  largest_first(of_ranks);
  const auto node_ranks = static_cast<std::size_t>(d.tower_ranks);
  const auto all_ranks = static_cast<std::size_t>(d.ep);
  // No node or rank gets a second piece before every one has its first.
  const std::size_t nodes = std::min(of_nodes.size(), all_ranks / node_ranks);
  const bool whole = d.towers > 1 && !of_nodes.empty();
  const std::size_t ranks =
      whole              ? nodes * node_ranks
      : of_ranks.empty() ? 1
                         : std::min({of_ranks.size() + nodes * node_ranks, all_ranks, kMostRanks});
  out.nodes.resize(nodes);
  out.of_nodes.resize(nodes);
  out.widths.resize(nodes);
  out.ranks.resize(ranks);
  out.of_ranks.resize(ranks);
  std::vector<double> node_memory(nodes);
  std::vector<double> node_seconds(nodes);
  const auto per_rank = static_cast<double>(d.tower_ranks);
  // Of a piece that a rank holds, on the mean.
  const auto share_of = [&](const TablePiece& p) {
    const TableChoice& c = choices[p.table];
    return c.sharding == TableSharding::table_row ? 1 : static_cast<double>(c.shards) / per_rank;
  };
  std::vector<double> memory;
  for (const TablePiece& p : of_nodes) memory.push_back(p.load.memory * share_of(p));
  Queue node_queue(costs.room(), std::move(memory));
  for (std::size_t i = 0; i < nodes; ++i) node_queue.push(0, i);
  for (std::size_t i = 0; i < of_nodes.size(); ++i) {
    const TablePiece& p = of_nodes[i];
    const double share = share_of(p);
    const std::size_t node = node_queue.take(
        i, p.load.memory * share, [&](std::size_t n) { return node_memory[n] + everywhere; },
        out.fits);
    node_memory[node] += p.load.memory * share;
    node_seconds[node] += p.load.seconds * share;
    out.widths[node] += costs.tables()[p.table].width;
    node_queue.push(node_seconds[node], node);
    if (choices[p.table].sharding == TableSharding::table_row) {
      out.nodes[node] += p.load;
      out.of_nodes[node].push_back(p.table);
      continue;
    }
    for (std::int64_t shard = 0; shard < choices[p.table].shards; ++shard) {
      std::size_t least = node * node_ranks;
      for (std::size_t r = least; r < (node + 1) * node_ranks; ++r) {
        if (out.ranks[r].seconds < out.ranks[least].seconds) least = r;
      }
      out.ranks[least] += p.load;
      out.of_ranks[least].push_back(p.table);
    }
  }
  memory.clear();
  for (const TablePiece& p : of_ranks) memory.push_back(p.load.memory);
  Queue queue(costs.room(), std::move(memory));
  for (std::size_t i = 0; i < ranks; ++i) queue.push(out.rank(i, node_ranks).seconds, i);
  for (std::size_t i = 0; i < of_ranks.size(); ++i) {
    const TablePiece& p = of_ranks[i];
    const std::size_t rank = queue.take(
        i, p.load.memory,
        [&](std::size_t r) { return out.rank(r, node_ranks).memory + everywhere; }, out.fits);
    out.ranks[rank] += p.load;
    out.of_ranks[rank].push_back(p.table);
    queue.push(out.rank(rank, node_ranks).seconds, rank);
  }
  return out;
}

}  // namespace orrery
