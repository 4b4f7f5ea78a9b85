#include "model/recommendation/table_placement.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "model/recommendation/blocks.h"
#include "model/recommendation/recommendation.h"
#include "model/recommendation/table_costs.h"
#include "model/recommendation/table_partition.h"
#include "model/recommendation/torchrec_planner.h"

namespace orrery {
namespace {

// The busiest rank over the mean, below which nothing is cut further.
constexpr double kEven = 1.02;
constexpr int kMostRounds = 256;  // of cutting
// Pieces placed in all rounds together: a limit of the planner's own time.
constexpr std::size_t kMostPlaced = 2'000'000;

class Placer {
 public:
  Placer(const Recommender& r, const Division& d) : r_(r), d_(d), costs_(r, d) {}

  // Of each way to place them, what takes the least time by the planner's count.
  std::vector<TablePlacement> placements() {
    const std::vector<EmbeddingTable>& tables = costs_.tables();
    if (std::ranges::all_of(tables, TableCosts::stated)) {
      consider(first_choices(TableSharding::table));
      keep_best();
      return std::move(kept_);
    }
    if (std::ranges::any_of(tables, [](const EmbeddingTable& t) {
          return t.sharding == TableSharding::torchrec;
        })) {
      consider(torchrec_choices(r_, d_, costs_));
      keep_best();
      return std::move(kept_);
    }
    // Tables that leave the choice: cut from the whole as far as that helps, with more and fewer of
    // them copied; or all alike, but for those that are better copied; or all alike.
    for (const double exchanges : {1.0, 0.5, 2.0, 0.25, 4.0}) {
      for (const TableSharding kind : {TableSharding::table, TableSharding::table_row}) {
        std::vector<TableChoice> choices = first_choices(kind, exchanges);
        if (exchanges != 1.0 && choices == first_choices(kind)) continue;
        cut_until_even(std::move(choices));
        keep_best();
      }
    }
    for (const TableSharding kind :
         {TableSharding::table, TableSharding::column, TableSharding::row, TableSharding::table_row,
          TableSharding::data}) {
      std::vector<TableChoice> choices = first_choices(kind);
      consider(choices);
      keep_best();
      for (std::size_t i = 0; i < tables.size(); ++i) {
        if (!TableCosts::stated(tables[i])) choices[i] = costs_.uniform(tables[i], kind);
      }
      consider(choices);
      keep_best();
    }
    return std::move(kept_);
  }
  [[nodiscard]] const TableCosts& costs() const { return costs_; }

 private:
  void keep_best() {
    // The planner's limit of pieces was reached before this way had a placement.
    if (!best_) return;
    const bool known = std::ranges::any_of(
        kept_, [&](const TablePlacement& p) { return p.tables == best_->tables; });
    if (!known) kept_.push_back(std::move(*best_));
    best_.reset();
  }
  [[nodiscard]] std::vector<TableChoice> first_choices(TableSharding kind,
                                                       double exchanges = 1) const {
    std::vector<TableChoice> out;
    for (const EmbeddingTable& t : costs_.tables()) {
      out.push_back(costs_.first_choice(t, kind, exchanges));
    }
    return out;
  }

  // Sums over tables of what an exchange sends, and how.
  struct Sent {
    double width = 0;
    double forward = 0, backward = 0, encode = 0, decode = 0;  // each times the width
    void add(double w, const VectorCoding& c) {
      width += w;
      forward += w * c.forward;
      backward += w * c.backward;
      encode += w * c.encode;
      decode += w * c.decode;
    }
    // Of so many elements of a sample, each as the mean of the tables.
    [[nodiscard]] VectorExchange exchange(VectorExchange::Ranks among, bool partial,
                                          double elements, double element_bytes) const {
      if (width <= 0) return {among, partial, elements, 1, 1, Seconds(0), Seconds(0)};
      const double bytes = elements * element_bytes / width;
      return {among,
              partial,
              elements,
              forward / width,
              backward / width,
              Seconds(bytes * encode),
              Seconds(bytes * decode)};
    }
  };

  // Prices a choice, keeps it if it is the best so far, and says which tables its busiest rank
  // holds.
  struct Considered {
    std::vector<std::size_t> busiest;  // tables of the rank that has most to do, or no room
    double imbalance = 1;
    bool fits = true;
  };
  Considered consider(const std::vector<TableChoice>& choices) {
    std::vector<TablePiece> of_ranks;
    std::vector<TablePiece> of_nodes;
    TableLoad everywhere;  // on every rank: its part of row-wise tables
    TableLoad replicated;  // of data-parallel ones
    double parameters = 0;
    double replicated_parameters = 0;
    double look_ups_sent = 0;  // of a sample, from the rank that has it
    Sent all, rows, peers;
    const auto rank_count = static_cast<double>(d_.ep);
    const auto own = static_cast<double>(d_.micro_batch);
    for (std::size_t i = 0; i < costs_.tables().size(); ++i) {
      const EmbeddingTable& t = costs_.tables()[i];
      const TableChoice& c = choices[i];
      TableLoad one = costs_.piece(i, c);
      if (c.sharding == TableSharding::data) {
        // Its gradient is dense: its rows are added to, its optimizer is that of the MLPs.
        one.memory = TableCosts::replicated_memory(t);
        replicated += one;
        replicated_parameters += t.rows * t.width;
        continue;
      }
      parameters += t.rows * t.width;
      const bool columns = c.sharding == TableSharding::column;
      look_ups_sent += t.pooling * (columns ? static_cast<double>(c.shards) : 1);
      const TableCosts::Path path = costs_.path(c.sharding);
      if (path == TableCosts::Path::tower || path == TableCosts::Path::tower_rows) {
        of_nodes.push_back({i, one});
        peers.add(t.width, costs_.coding(i, path));
      } else if (path == TableCosts::Path::rows) {
        everywhere += one;
        rows.add(t.width, costs_.coding(i, path));
      } else {
        of_ranks.insert(of_ranks.end(), static_cast<std::size_t>(c.shards), TablePiece{i, one});
        all.add(t.width, costs_.coding(i, path));
      }
    }
    placed_ += of_ranks.size() + of_nodes.size() + 1;
    const TablePartition parts =
        table_partition(costs_, d_, std::move(of_nodes), std::move(of_ranks), choices,
                        everywhere.memory + replicated.memory);
    const auto node_ranks = static_cast<std::size_t>(d_.tower_ranks);
    std::size_t busiest = 0;
    TableLoad most;
    double heavy = 0;
    double mean = everywhere.seconds;
    double mean_memory = everywhere.memory;
    double whole_width = 0;  // the most on a rank of a tower
    const std::size_t ranks = std::max(parts.ranks.size(), parts.nodes.size() * node_ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
      const TableLoad rank = parts.rank(i, node_ranks);
      if (rank.seconds > heavy) {
        heavy = rank.seconds;
        busiest = i;
      }
      most.raise_to(rank);
      if (i < parts.ranks.size()) whole_width = std::max(whole_width, parts.ranks[i].width);
      mean += rank.seconds / rank_count;
      mean_memory += rank.memory / rank_count;
    }
    double tower_width = 0;
    double cut_width = 0;  // of tables cut by rows within a node
    for (std::size_t n = 0; n < parts.nodes.size(); ++n) {
      tower_width = std::max(tower_width, parts.widths[n]);
      cut_width = std::max(cut_width, parts.nodes[n].width);
    }
    TablePlacement out;
    out.fits = parts.fits && everywhere.memory + replicated.memory + most.memory <= costs_.room();
    // Of a sample of one rank; a rank works for as many samples as the group has.
    const double to_peers = costs_.group() / static_cast<double>(d_.tower_ranks);
    // What the ranks of a tower have exchanged is sorted by sample.
    const double sorted = 2 * d_.element.value() * to_peers * tower_width;
    out.bags.looked_up = Bytes((most.looked_up + everywhere.looked_up) / own + sorted);
    out.bags.updated = Bytes((most.updated + everywhere.updated) / own + (d_.trains ? sorted : 0));
    out.bags.fetched = Bytes((most.fetched + everywhere.fetched) / own);
    out.bags.returned = Bytes((most.returned + everywhere.returned) / own);
    out.bags.stored = Seconds((most.stored + everywhere.stored) / own);
    // Each rank sends its look-ups to all pieces, and the one asked most often receives the most.
    const double received = costs_.group() * (most.look_ups + everywhere.look_ups);
    out.bags.indices = Bytes(kLookUpIndex * std::max(look_ups_sent, received));
    out.bags.weights = Bytes(most.weights + everywhere.weights);
    out.bags.optimizer_state =
        Bytes(most.memory + everywhere.memory - most.weights - everywhere.weights);
    out.bags.prefetched = r_.prefetch;
    out.bags.replicated = d_.ranks > d_.ep && parameters > 0;
    using Ranks = VectorExchange::Ranks;
    const auto send = [&](std::vector<VectorExchange>& to, const VectorExchange& e) {
      if (e.elements > 0) to.push_back(e);
    };
    const double element = d_.element.value();
    // Whole tables of a tower; of other tables, `most` counts what ranks send to all.
    const double in_tower =
        d_.towers > 1 ? std::max(costs_.group() * whole_width, to_peers * (tower_width - cut_width))
                      : 0;
    send(out.sends, Sent{}.exchange(Ranks::tower, false, in_tower, element));
    send(out.sends, Sent{}.exchange(Ranks::tower, true, costs_.group() * cut_width, element));
    send(out.sends,
         all.exchange(Ranks::all, false,
                      all.width > 0 ? std::max(all.width, costs_.group() * whole_width) : 0,
                      element));
    send(out.sends, rows.exchange(Ranks::all, true, costs_.group() * everywhere.width, element));
    if (r_.tower_modules) {
      send(out.module_sends,
           peers.exchange(Ranks::peers, false, peers.width / costs_.compression(), element));
    } else {
      send(out.sends, peers.exchange(Ranks::peers, false,
                                     std::max(peers.width, to_peers * tower_width), element));
    }
    out.replicated_looked_up = Bytes(replicated.looked_up / own);
    out.replicated_updated = Bytes(replicated.updated / own);
    out.replicated_parameters = replicated_parameters;
    out.sharded_parameters = parameters;
    out.imbalance = mean > 0 ? (heavy + everywhere.seconds) / mean : 1;
    out.busiest_memory = Bytes(most.memory + everywhere.memory);
    out.mean_memory = Bytes(mean_memory);
    out.time = Seconds(costs_.seconds(out));
    Considered seen{parts.tables(busiest, node_ranks), out.imbalance, out.fits};
    if (!best_ || std::pair(!out.fits, out.time) < std::pair(!best_->fits, best_->time)) {
      describe(choices, out);
      best_ = std::move(out);
    }
    return seen;
  }

  void describe(const std::vector<TableChoice>& choices, TablePlacement& out) const {
    const std::vector<EmbeddingTable> stated_tables = tables_of(r_);
    out.tables.resize(costs_.tables().size());
    double host = 0;
    double storage = 0;
    std::set<TableSharding> divisions;
    for (std::size_t i = 0; i < costs_.tables().size(); ++i) {
      const EmbeddingTable& t = costs_.tables()[i];
      if (choices[i].sharding != TableSharding::data) divisions.insert(choices[i].sharding);
      std::string why = reason(t, choices[i]);
      if (t.memory != TableMemory::device) {
        const double bytes = t.rows * costs_.row_memory(t.width) / static_cast<double>(d_.ep);
        (t.memory == TableMemory::storage ? storage : host) += bytes;
        if (stated_tables[i].memory == TableMemory::automatic) {
          why += std::string(why.empty() ? "" : "; ") +
                 "accelerators have no room for it, and others are read more for their size";
        }
      }
      const bool coded = choices[i].sharding != TableSharding::data && d_.ep > 1;
      out.tables[i] = {
          choices[i].sharding, choices[i].shards, t.memory,
          coded ? costs_.coding(i, costs_.path(choices[i].sharding)).codec : VectorCodec::none,
          std::move(why)};
    }
    out.bags.divisions = static_cast<int>(divisions.size());
    out.host_memory = Bytes(host);
    out.storage = Bytes(storage);
  }
  [[nodiscard]] std::string reason(const EmbeddingTable& t, const TableChoice& c) const {
    if (TableCosts::stated(t)) return "as stated";
    if (t.sharding == TableSharding::torchrec) return "as TorchRec's planner chooses";
    if (c.sharding == TableSharding::table) return {};
    if (c.sharding == TableSharding::data) {
      return "the fastest of the placements that were priced";
    }
    if (costs_.larger_than_a_rank(t)) return "it is larger than the memory of a rank";
    return "whole it would keep one rank busier than the others";
  }

  // Cuts the table with the most work in a piece on the busiest rank, until ranks are even, or none
  // can be cut.
  void cut_until_even(std::vector<TableChoice> choices) {
    for (int round = 0; round < kMostRounds && placed_ < kMostPlaced; ++round) {
      const Considered seen = consider(choices);
      if (seen.fits && seen.imbalance <= kEven) return;
      std::optional<std::size_t> largest;
      double most = 0;
      for (const std::size_t i : seen.busiest) {
        const TableSharding kind = choices[i].sharding;
        const bool last = kind == TableSharding::table_row && d_.towers > 1;
        if (TableCosts::stated(costs_.tables()[i]) || last) continue;
        const TableLoad l = costs_.piece(i, choices[i]);
        const double weight = seen.fits ? l.seconds : l.memory;
        if (weight <= most) continue;
        most = weight;
        largest = i;
      }
      if (!largest) return;
      TableChoice& c = choices[*largest];
      c = costs_.halved(costs_.tables()[*largest], c);
    }
  }

  const Recommender& r_;
  const Division& d_;
  TableCosts costs_;
  std::optional<TablePlacement> best_;  // of the way that is tried
  std::vector<TablePlacement> kept_;    // of each way, without repetitions
  std::size_t placed_ = 0;              // pieces, in all rounds
};

}  // namespace

TablePlacement place_tables(const Recommender& r, const Division& d) {
  Placer placer(r, d);
  std::vector<TablePlacement> ways = placer.placements();
  std::optional<Model> on_ranks;
  if (d.step_price && ways.size() > 1) on_ranks = *build_model(r);
  // Placements whose step fits come first, then those whose tables fit, then the faster.
  const auto order_of = [&](const TablePlacement& p) {
    if (!on_ranks) return std::tuple(false, !p.fits, p.time);
    build_recommendation_blocks(*on_ranks, r, &p);
    const StepPrice step = d.step_price(*on_ranks);
    return std::tuple(!step.fits, !p.fits, step.time);
  };
  TablePlacement* best = &ways.front();
  auto best_order = order_of(*best);
  for (TablePlacement& p : std::span(ways).subspan(1)) {
    const auto order = order_of(p);
    if (order >= best_order) continue;
    best = &p;
    best_order = order;
  }
  best->bound = Seconds(placer.costs().bound(*best));
  return std::move(*best);
}

}  // namespace orrery
