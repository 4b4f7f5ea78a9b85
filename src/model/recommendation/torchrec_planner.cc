#include "model/recommendation/torchrec_planner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>

namespace orrery {
namespace {

constexpr double kLongestGrid = 1e4;               // proposals; proposers.py, MAX_PROPOSALS
constexpr std::int64_t kNarrowestPiece = 128;      // columns; constants.py, MIN_CW_DIM
constexpr double kCacheBytesOfRow = 4;             // shard_estimators.py,
constexpr double kCacheBytesOfSlot = 16;           // _calculate_cache_aux_state_sizes
constexpr std::size_t kMostPlacings = 20'000'000;  // tables times ranks of a proposer's proposals

TorchRecSharding torchrec_sharding(TableSharding sharding) {
  using enum TorchRecSharding;
  static constexpr std::array kShardings = {table_wise,     table_wise,    column_wise, row_wise,
                                            table_row_wise, data_parallel, table_wise};
  static_assert(kShardings.size() == enumerators<TableSharding>());
  return kShardings[static_cast<std::size_t>(sharding)];
}
// Disks are read through a cache as memory of the host is.
TorchRecKernel torchrec_kernel(TableMemory memory) {
  if (memory == TableMemory::host) return TorchRecKernel::fused_uvm;
  const bool cached = memory == TableMemory::cached || memory == TableMemory::storage;
  return cached ? TorchRecKernel::fused_uvm_caching : TorchRecKernel::fused;
}

std::int64_t column_pieces(const Recommender& r, const EmbeddingTable& t) {
  if (r.column_shards > 0) return r.column_shards;
  const auto columns = static_cast<std::int64_t>(t.width);
  for (std::int64_t piece = kNarrowestPiece; piece < columns; piece += 4) {
    if (columns % piece == 0) return columns / piece;
  }
  return 1;
}

class Planner {
 public:
  Planner(const Recommender& r, const Division& d, const TableCosts& costs)
      : room_(costs.room()),
        ranks_(static_cast<std::size_t>(d.ep)),
        node_(static_cast<std::size_t>(d.tower_ranks)) {
    for (std::size_t i = 0; i < costs.tables().size(); ++i) add_options(r, d, costs, i);
  }

  std::vector<TableChoice> choose() {
    grid();
    greedy(&Option::cost);
    greedy(&Option::cost_of_all);
    for (const TableSharding kind : kKinds) uniform(kind);
    return best_;
  }

 private:
  static constexpr std::array kKinds = {TableSharding::data, TableSharding::table,
                                        TableSharding::column, TableSharding::row,
                                        TableSharding::table_row};
  struct Option {
    TableChoice choice;
    bool moved = false;      // to memory of the host
    std::size_t pieces = 1;  // that hold rows
    double cost = 0;         // of a piece
    double cost_of_all = 0;
    double storage = 0;  // of a piece
    [[nodiscard]] double storage_of_all() const { return storage * static_cast<double>(pieces); }
  };
  using Options = std::vector<std::vector<Option>>;  // of each table

  void add_options(const Recommender& r, const Division& d, const TableCosts& costs,
                   std::size_t index) {
    const EmbeddingTable& t = costs.tables()[index];
    std::vector<Option>& options = options_.emplace_back();
    for (const TableSharding kind : kKinds) {
      if (TableCosts::stated(t) && costs.uniform(t, t.sharding).sharding != kind) continue;
      const bool data = kind == TableSharding::data;
      if (data && !costs.can_copy(t)) continue;
      TableChoice choice = costs.uniform(t, kind);
      if (kind == TableSharding::column && !TableCosts::stated(t)) {
        choice.shards = column_pieces(r, t);
      }
      const bool rows = kind == TableSharding::row || kind == TableSharding::table_row;
      const auto shards = static_cast<double>(choice.shards);
      Option o{choice};
      o.pieces = data   ? ranks_
                 : rows ? static_cast<std::size_t>(std::ceil(t.rows / std::ceil(t.rows / shards)))
                        : static_cast<std::size_t>(choice.shards);
      const auto samples = static_cast<double>(d.micro_batch) *
                           (data ? 1 : static_cast<double>(d.ep));  // that a piece works for
      const double width = kind == TableSharding::column ? t.width / shards : t.width;
      const double travels = samples * (kLookUpIndex * t.pooling / (rows ? shards : 1) +
                                        width * element_size(r.embedding_dtype).value());
      const double held = costs.piece(index, choice).memory;
      EmbeddingTable placed = t;
      for (const TableMemory memory : {t.memory, TableMemory::cached, TableMemory::host}) {
        placed.memory = memory;
        o.moved = memory != t.memory;
        // A table that is outside the accelerators stays there.
        if (o.moved && (data || t.memory != TableMemory::device)) continue;
        o.cost = torchrec_perf(r, d, placed, choice, d.tower_ranks).total();
        o.cost_of_all = o.cost * static_cast<double>(o.pieces);
        o.storage = travels;
        if (!o.moved) o.storage += held;
        if (o.moved && memory == TableMemory::cached) {
          o.storage +=
              r.cache_share * held +
              t.rows / (rows ? shards : 1) * (kCacheBytesOfRow + kCacheBytesOfSlot * r.cache_share);
        }
        options.push_back(o);
      }
    }
    const auto by_rows = std::ranges::find(options, TableSharding::row,
                                           [](const Option& o) { return o.choice.sharding; });
    best_.push_back((by_rows == options.end() ? options.begin() : by_rows)->choice);
  }

  // ---- proposals ----

  [[nodiscard]] Options sorted(double Option::* score) const {
    Options out = options_;
    for (std::vector<Option>& of_table : out) {
      std::ranges::stable_sort(of_table, std::less{}, score);
    }
    return out;
  }

  void grid() {
    double proposals = 1;
    for (const std::vector<Option>& of_table : options_) {
      proposals *= static_cast<double>(of_table.size());
    }
    if (proposals > kLongestGrid) return;
    const Options options = sorted(&Option::cost);
    std::vector<std::size_t> at(options.size());
    for (;;) {
      consider(options, at);
      std::size_t last = at.size();
      while (last > 0 && ++at[last - 1] == options[last - 1].size()) at[--last] = 0;
      if (last == 0) return;
    }
  }

  void greedy(double Option::* score) {
    const Options options = sorted(score);
    std::vector<std::size_t> at(options.size());
    const std::size_t most = 1 + kMostPlacings / (options.size() * ranks_);
    for (std::size_t proposals = 0; proposals < most; ++proposals) {
      consider(options, at);
      std::optional<std::size_t> largest;
      std::pair<double, double> storage;
      for (std::size_t i = 0; i < at.size(); ++i) {
        if (at[i] + 1 == options[i].size()) continue;
        const Option& o = options[i][at[i]];
        const std::pair own(o.storage, o.storage_of_all());
        if (own <= storage) continue;
        storage = own;
        largest = i;
      }
      if (!largest) return;
      ++at[*largest];
    }
  }

  void uniform(TableSharding kind) {
    std::vector<std::size_t> at;
    for (const std::vector<Option>& of_table : options_) {
      const auto own = std::ranges::find_if(
          of_table, [&](const Option& o) { return o.choice.sharding == kind && !o.moved; });
      if (own == of_table.end()) return;
      at.push_back(static_cast<std::size_t>(own - of_table.begin()));
    }
    consider(options_, at);
  }

  // ---- ranks ----

  struct Rank {
    double cost = 0;
    double storage = 0;
  };
  [[nodiscard]] bool has_room(const Rank& rank, const Option& o) const {
    return rank.storage + o.storage <= room_;
  }
  static void put(Rank& rank, const Option& o) {
    rank.cost += o.cost;
    rank.storage += o.storage;
  }
  // On ranks behind `first`, a piece on each.
  bool put_on_each(std::vector<Rank>& ranks, std::size_t first, const Option& o) const {
    for (std::size_t i = first; i < first + o.pieces; ++i) {
      if (!has_room(ranks[i], o)) return false;
      put(ranks[i], o);
    }
    return true;
  }
  bool put_on_a_node(std::vector<Rank>& ranks, const Option& o) const {
    std::vector<std::pair<double, std::size_t>> nodes;  // and their first rank
    for (std::size_t i = 0; i < ranks_; i += node_) {
      double cost = 0;
      for (std::size_t k = i; k < i + node_; ++k) cost += ranks[k].cost;
      nodes.emplace_back(cost, i);
    }
    std::ranges::sort(nodes);
    return std::ranges::any_of(nodes, [&](const auto& node) {
      std::vector<Rank> with = ranks;
      if (!put_on_each(with, node.second, o)) return false;
      ranks = std::move(with);
      return true;
    });
  }
  bool put_on_a_rank(std::vector<Rank>& ranks, const Option& o) const {
    std::optional<std::size_t> least;
    const auto order = [&](std::size_t i) { return std::tuple(ranks[i].cost, i % node_, i); };
    for (std::size_t i = 0; i < ranks_; ++i) {
      if (has_room(ranks[i], o) && (!least || order(i) < order(*least))) least = i;
    }
    if (least) put(ranks[*least], o);
    return least.has_value();
  }
  [[nodiscard]] static bool on_all_ranks(const Option* o) {
    return o->choice.sharding == TableSharding::data || o->choice.sharding == TableSharding::row;
  }
  // What the busiest rank costs; infinite without room.
  [[nodiscard]] double rating(std::vector<const Option*> proposal) const {
    constexpr double kNoRoom = std::numeric_limits<double>::infinity();
    std::vector<Rank> ranks(ranks_);
    for (const Option* o : proposal) {
      if (on_all_ranks(o) && !put_on_each(ranks, 0, *o)) return kNoRoom;
    }
    std::erase_if(proposal, on_all_ranks);
    std::ranges::stable_sort(proposal, std::greater{}, &Option::storage_of_all);
    for (const Option* o : proposal) {
      if (o->choice.sharding == TableSharding::table_row) {
        if (!put_on_a_node(ranks, *o)) return kNoRoom;
        continue;
      }
      for (std::size_t piece = 0; piece < o->pieces; ++piece) {
        if (!put_on_a_rank(ranks, *o)) return kNoRoom;
      }
    }
    return std::ranges::max(ranks, std::less{}, &Rank::cost).cost;
  }
  void consider(const Options& options, const std::vector<std::size_t>& at) {
    std::vector<const Option*> proposal;
    for (std::size_t i = 0; i < at.size(); ++i) {
      proposal.push_back(&options[i][at[i]]);
      if (proposal.back()->moved) return;
    }
    const double own = rating(proposal);
    if (own >= least_) return;
    least_ = own;
    best_.clear();
    for (const Option* o : proposal) best_.push_back(o->choice);
  }

  double room_;
  std::size_t ranks_;
  std::size_t node_;
  Options options_;
  std::vector<TableChoice> best_;  // at first by rows, should nothing have room
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

TorchRecPerf torchrec_perf(const Recommender& r, const Division& d, const EmbeddingTable& t,
                           const TableChoice& c, std::int64_t ranks_of_node) {
  const bool rows = c.sharding == TableSharding::row || c.sharding == TableSharding::table_row;
  const bool replicated = c.sharding == TableSharding::data;
  const auto pieces = static_cast<double>(c.shards);
  return torchrec_perf({.sharding = torchrec_sharding(c.sharding),
                        .kernel = replicated ? TorchRecKernel::dense : torchrec_kernel(t.memory),
                        .batch = static_cast<double>(d.micro_batch),
                        .pooling = t.pooling,
                        .rows = rows ? t.rows / pieces : t.rows,
                        .columns = rows ? t.width : t.width / pieces,
                        .element_bytes = element_size(r.embedding_dtype).value(),
                        .exchanged_bytes = element_size(r.embedding_dtype).value(),
                        .caching_ratio = r.cache_share,
                        .ranks = static_cast<double>(d.ep),
                        .ranks_of_node = static_cast<double>(ranks_of_node)});
}

std::vector<TableChoice> torchrec_choices(const Recommender& r, const Division& d,
                                          const TableCosts& costs) {
  return Planner(r, d, costs).choose();
}

}  // namespace orrery
