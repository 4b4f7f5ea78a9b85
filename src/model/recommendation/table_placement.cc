#include "model/recommendation/table_placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr double kSector = 32;       // bytes that memory reads at once
constexpr double kIndex = 8;         // bytes of a look-up
constexpr double kSort = 96;         // bytes that sorting a look-up moves
constexpr double kGradient = 4;      // bytes of an element of a dense gradient
constexpr double kDenseUpdate = 40;  // bytes that the dense optimizer moves for a parameter
// Share of a rank's memory that tables may take; pytorch/torchrec, planner/storage_reservations.py,
// HeuristicalStorageReservation, percentage 0.15.
constexpr double kMemoryShare = 0.85;
// The busiest rank over the mean, below which nothing is cut further.
constexpr double kEven = 1.02;
constexpr int kMostRounds = 256;  // of cutting
// Pieces placed in all rounds together, and pieces of one table: limits of the planner's own time.
constexpr std::size_t kMostPlaced = 2'000'000;
constexpr std::int64_t kFinest = 64;
constexpr std::int64_t kMostPieces = 1'000'000;

double sectors(Bytes bytes) { return kSector * std::ceil(bytes.value() / kSector); }

// What a table, or a piece of it, does to the rank that holds it.
struct Load {
  double looked_up = 0;  // bytes of the forward, for all samples of the group
  double updated = 0;
  double memory = 0;
  double weights = 0;
  double width = 0;     // of vectors that are sent
  double look_ups = 0;  // of a sample, that are received
  double seconds = 0;   // of reading and writing, and of sending vectors and receiving gradients
  Load& operator+=(const Load& o) {
    looked_up += o.looked_up;
    updated += o.updated;
    memory += o.memory;
    weights += o.weights;
    width += o.width;
    look_ups += o.look_ups;
    seconds += o.seconds;
    return *this;
  }
};

struct Choice {
  TableSharding sharding = TableSharding::table;
  std::int64_t shards = 1;
};

struct Piece {
  std::size_t table = 0;
  Load load;
};

class Placer {
 public:
  Placer(const Recommender& r, const Division& d)
      : r_(r),
        d_(d),
        tables_(tables_of(r)),
        ranks_(d.ep),
        samples_(static_cast<double>(d.micro_batch) * static_cast<double>(d.ep) /
                 static_cast<double>(d.tp)),
        room_(kMemoryShare * d.memory.value()),
        finest_(std::clamp<std::int64_t>(kMostPieces / r.num_tables, 1, kFinest)) {}

  TablePlacement best() {
    std::vector<Choice> choices(tables_.size());
    for (std::size_t i = 0; i < tables_.size(); ++i) choices[i] = first_choice(tables_[i]);
    consider(choices);
    cut_until_even(choices);
    // One kind for all tables that leave the choice.
    for (const TableSharding kind :
         {TableSharding::table, TableSharding::column, TableSharding::row, TableSharding::data}) {
      for (std::size_t i = 0; i < tables_.size(); ++i) {
        choices[i] = stated(tables_[i]) ? first_choice(tables_[i]) : uniform(tables_[i], kind);
      }
      consider(choices);
    }
    return std::move(*best_);
  }

 private:
  [[nodiscard]] static bool stated(const EmbeddingTable& t) {
    return t.sharding != TableSharding::automatic;
  }
  [[nodiscard]] double memory_of(const EmbeddingTable& t, double width) const {
    return t.rows * (row_bytes(r_, width) + (d_.trains ? row_state(r_, width) : Bytes(0))).value();
  }
  // Of a piece of a table `width` wide with a share of its rows.
  [[nodiscard]] Load load(const EmbeddingTable& t, double width, double share_of_rows,
                          double samples) const {
    Load out;
    const double look_ups = samples * t.pooling * share_of_rows;
    const double vector = width * d_.element.value();
    const double row = sectors(row_bytes(r_, width));
    out.looked_up = look_ups * (row + kIndex) + samples * vector;
    if (d_.trains) {
      const double rows = t.rows * share_of_rows;
      const double distinct = -rows * std::expm1(-look_ups / rows);
      const double state = row_state(r_, width) > Bytes(0) ? sectors(row_state(r_, width)) : 0;
      out.updated = look_ups * kSort + samples * vector + 2 * distinct * (row + state);
    }
    out.memory = memory_of(t, width) * share_of_rows;
    out.weights = t.rows * row_bytes(r_, width).value() * share_of_rows;
    out.width = width;
    out.look_ups = t.pooling * share_of_rows;
    out.seconds = (out.looked_up + out.updated) / d_.memory_bandwidth.value() +
                  (d_.trains ? 2 : 1) * samples * vector / d_.exchange_bandwidth.value();
    return out;
  }
  // Pieces of a width of at least 32 bytes, whole elements each.
  [[nodiscard]] bool can_halve(const EmbeddingTable& t, std::int64_t shards) const {
    const std::int64_t width = static_cast<std::int64_t>(t.width);
    return 2 * shards <= std::min(ranks_, finest_) && width % (2 * shards) == 0 &&
           row_bytes(r_, t.width / static_cast<double>(2 * shards)).value() >= kSector;
  }
  [[nodiscard]] std::int64_t finest_columns(const EmbeddingTable& t) const {
    std::int64_t shards = 1;
    while (can_halve(t, shards)) shards *= 2;
    return shards;
  }
  [[nodiscard]] Choice column(const EmbeddingTable& t) const {
    return {TableSharding::column, r_.column_shards > 0 ? r_.column_shards : finest_columns(t)};
  }
  [[nodiscard]] Choice uniform(const EmbeddingTable& t, TableSharding kind) const {
    switch (kind) {
      case TableSharding::column:
        return column(t);
      case TableSharding::row:
        return {kind, ranks_};
      default:
        return {kind, 1};
    }
  }
  [[nodiscard]] Choice first_choice(const EmbeddingTable& t) const {
    if (stated(t)) return uniform(t, t.sharding);
    const double parameters = t.rows * t.width;
    const double exchange = d_.exchange_bandwidth.value();
    const double reduced = 2 * kGradient * parameters / exchange +
                           kDenseUpdate * parameters / d_.memory_bandwidth.value();
    const double exchanged =
        2 * static_cast<double>(d_.micro_batch) * t.width * d_.element.value() / exchange;
    if (ranks_ > 1 && reduced < exchanged) return {TableSharding::data, 1};
    Choice out;
    while (memory_of(t, t.width / static_cast<double>(out.shards)) > room_) {
      if (!can_halve(t, out.shards)) return {TableSharding::row, ranks_};
      out = {TableSharding::column, 2 * out.shards};
    }
    return out;
  }

  struct Partition {
    std::vector<Load> ranks;
    std::vector<std::vector<std::size_t>> held;  // tables
    bool fits = true;
  };
  // Largest piece first, on the rank with the least work that has room.
  [[nodiscard]] Partition partition(std::vector<Piece> pieces, double everywhere) const {
    Partition out;
    // No rank gets a second piece before every rank has one.
    const auto count = std::clamp<std::size_t>(pieces.size(), 1, static_cast<std::size_t>(ranks_));
    out.ranks.resize(count);
    out.held.resize(count);
    std::ranges::stable_sort(pieces, std::greater{}, [](const Piece& p) { return p.load.seconds; });
    using Entry = std::pair<double, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> least;
    for (std::size_t i = 0; i < count; ++i) least.emplace(0.0, i);
    std::vector<double> smallest(pieces.size());  // of this piece and those behind it
    double memory = std::numeric_limits<double>::infinity();
    for (std::size_t i = pieces.size(); i-- > 0;) {
      memory = std::min(memory, pieces[i].load.memory);
      smallest[i] = memory;
    }
    std::vector<Entry> full;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Piece& piece = pieces[i];
      full.clear();
      std::optional<Entry> first;  // the one with the least work, if none has room
      while (!least.empty() && full.size() < kMostPassedOver) {
        const Entry& top = least.top();
        const double held = out.ranks[top.second].memory + everywhere;
        if (held + piece.load.memory <= room_) break;
        if (!first) first = top;
        // A rank that has no room for any piece to come is not looked at again.
        if (held + smallest[i] <= room_) full.push_back(top);
        least.pop();
      }
      Entry chosen;
      if (least.empty() || full.size() == kMostPassedOver) {
        out.fits = false;
        chosen = first ? *first : Entry(0.0, i % count);
        std::erase(full, chosen);
      } else {
        chosen = least.top();
        least.pop();
      }
      for (const Entry& e : full) least.push(e);
      out.ranks[chosen.second] += piece.load;
      out.held[chosen.second].push_back(piece.table);
      least.emplace(out.ranks[chosen.second].seconds, chosen.second);
    }
    return out;
  }

  // Prices a choice, keeps it if it is the best so far, and says which tables its busiest rank
  // holds.
  struct Considered {
    std::vector<std::size_t> busiest;  // tables of the rank that has most to do, or no room
    double imbalance = 1;
    bool fits = true;
  };
  Considered consider(const std::vector<Choice>& choices) {
    std::vector<Piece> pieces;
    Load everywhere;  // on every rank: its part of row-wise tables
    Load replicated;  // of data-parallel ones
    double parameters = 0;
    double replicated_parameters = 0;
    double column_look_ups = 0;  // of a sample, that are sent to every piece
    double whole_width = 0;
    const auto rank_count = static_cast<double>(ranks_);
    const auto own = static_cast<double>(d_.micro_batch);
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const EmbeddingTable& t = tables_[i];
      const Choice& c = choices[i];
      if (c.sharding == TableSharding::data) {
        Load all = load(t, t.width, 1, own);
        // Its gradient is dense: its rows are added to, its optimizer is that of the MLPs.
        all.memory = t.rows * t.width * (kGradient + 16);
        replicated += all;
        replicated_parameters += t.rows * t.width;
        continue;
      }
      parameters += t.rows * t.width;
      if (c.sharding == TableSharding::row) {
        everywhere += load(t, t.width, 1 / rank_count, samples_);
        continue;
      }
      const double width = t.width / static_cast<double>(c.shards);
      const Piece piece{i, load(t, width, 1, samples_)};
      pieces.insert(pieces.end(), static_cast<std::size_t>(c.shards), piece);
      column_look_ups += t.pooling * static_cast<double>(c.shards);
      whole_width += t.width;
    }
    placed_ += pieces.size() + 1;
    const Partition parts = partition(std::move(pieces), everywhere.memory + replicated.memory);
    std::size_t busiest = 0;
    Load most;  // of each amount by itself
    double mean = 0;
    double mean_memory = 0;
    for (std::size_t i = 0; i < parts.ranks.size(); ++i) {
      const Load& rank = parts.ranks[i];
      if (rank.seconds > parts.ranks[busiest].seconds) busiest = i;
      most.looked_up = std::max(most.looked_up, rank.looked_up);
      most.updated = std::max(most.updated, rank.updated);
      most.width = std::max(most.width, rank.width);
      most.memory = std::max(most.memory, rank.memory);
      most.weights = std::max(most.weights, rank.weights);
      most.look_ups = std::max(most.look_ups, rank.look_ups);
      mean += rank.seconds / rank_count;
      mean_memory += rank.memory / rank_count;
    }
    const Load& heavy = parts.ranks[busiest];
    mean += everywhere.seconds;
    TablePlacement out;
    out.fits = parts.fits && everywhere.memory + replicated.memory + most.memory <= room_;
    // Of a sample of one rank; a rank works for as many samples as the group has.
    const double group = samples_ / own;
    out.bags.looked_up = Bytes((most.looked_up + everywhere.looked_up) / own);
    out.bags.updated = Bytes((most.updated + everywhere.updated) / own);
    // Each rank sends its look-ups to all pieces, and the one asked most often receives the most.
    const double sent = column_look_ups + everywhere.look_ups * rank_count;
    const double received = group * (most.look_ups + everywhere.look_ups);
    out.bags.indices = Bytes(kIndex * std::max(sent, received));
    out.bags.pooled = std::max(whole_width, group * most.width);
    out.bags.partial = group * everywhere.width;
    out.bags.weights = Bytes(most.weights + everywhere.weights);
    out.bags.optimizer_state =
        Bytes(most.memory + everywhere.memory - most.weights - everywhere.weights);
    out.bags.prefetched = r_.prefetch;
    out.bags.replicated = d_.ranks > d_.ep && parameters > 0;
    out.replicated_looked_up = Bytes(replicated.looked_up / own);
    out.replicated_updated = Bytes(replicated.updated / own);
    out.replicated_parameters = replicated_parameters;
    out.sharded_parameters = parameters;
    const double imbalance = mean > 0 ? (heavy.seconds + everywhere.seconds) / mean : 1;
    out.imbalance = imbalance;
    out.busiest_memory = Bytes(most.memory + everywhere.memory);
    out.mean_memory = Bytes(mean_memory + everywhere.memory);
    const double time = seconds(out, own);
    if (!best_ || std::pair(!out.fits, time) < std::pair(!best_->fits, best_time_)) {
      out.tables.resize(tables_.size());
      for (std::size_t i = 0; i < tables_.size(); ++i) {
        out.tables[i] = {choices[i].sharding, choices[i].shards, reason(tables_[i], choices[i])};
      }
      best_ = std::move(out);
      best_time_ = time;
    }
    return {parts.held[busiest], imbalance, parts.fits};
  }

  // What the choice costs, to compare placements with each other.
  [[nodiscard]] double seconds(const TablePlacement& p, double own) const {
    const double moved =
        (p.bags.looked_up + p.bags.updated + p.replicated_looked_up + p.replicated_updated)
                .value() *
            own +
        kDenseUpdate * p.replicated_parameters;
    const double ways = d_.trains ? 2 : 1;
    const double exchanged =
        ranks_ > 1 ? own * (ways * d_.element.value() * (p.bags.pooled + p.bags.partial) +
                            p.bags.indices.value())
                   : 0;
    const double reduced = ranks_ > 1 && d_.trains ? 2 * kGradient * p.replicated_parameters : 0;
    return moved / d_.memory_bandwidth.value() +
           (exchanged + reduced) / d_.exchange_bandwidth.value();
  }

  [[nodiscard]] std::string reason(const EmbeddingTable& t, const Choice& c) const {
    if (stated(t)) return "as stated";
    if (c.sharding == TableSharding::table) return {};
    if (c.sharding == TableSharding::data) {
      return "reducing its dense gradient costs less than exchanging its vectors";
    }
    if (memory_of(t, t.width) > room_) return "it is larger than the memory of a rank";
    return "whole it would keep one rank busier than the others";
  }

  // Cuts the table with the most work in a piece on the busiest rank, until ranks are even, or none
  // can be cut.
  void cut_until_even(std::vector<Choice>& choices) {
    for (int round = 0; round < kMostRounds && placed_ < kMostPlaced; ++round) {
      const Considered seen = consider(choices);
      if (seen.fits && seen.imbalance <= kEven) return;
      std::optional<std::size_t> largest;
      double most = 0;
      for (const std::size_t i : seen.busiest) {
        if (stated(tables_[i])) continue;
        const double width = tables_[i].width / static_cast<double>(choices[i].shards);
        const Load l = load(tables_[i], width, 1, samples_);
        const double weight = seen.fits ? l.seconds : l.memory;
        if (weight <= most) continue;
        most = weight;
        largest = i;
      }
      if (!largest) return;
      Choice& c = choices[*largest];
      c = can_halve(tables_[*largest], c.shards) ? Choice{TableSharding::column, 2 * c.shards}
                                                 : Choice{TableSharding::row, ranks_};
    }
  }

  static constexpr std::size_t kMostPassedOver = 4096;  // full ranks tried for one piece
  const Recommender& r_;
  const Division& d_;
  std::vector<EmbeddingTable> tables_;
  std::int64_t ranks_;
  double samples_;       // of the group in a microbatch
  double room_;          // bytes of a rank for tables
  std::int64_t finest_;  // pieces of a table at most
  std::optional<TablePlacement> best_;
  double best_time_ = 0;
  std::size_t placed_ = 0;  // pieces, in all rounds
};

}  // namespace

TablePlacement place_tables(const Recommender& r, const Division& d) { return Placer(r, d).best(); }

std::vector<std::string> placement_in_words(const Recommender& r, const Division& d,
                                            const TablePlacement& placement) {
  struct Group {
    std::string words;
    std::string reason;
    std::int64_t tables = 0;
  };
  std::vector<Group> groups;
  for (const PlacedTable& t : placement.tables) {
    std::string words;
    switch (t.sharding) {
      case TableSharding::automatic:
      case TableSharding::table:
        words = "whole on one rank";
        break;
      case TableSharding::column:
        words = fmt::format("in {} pieces of their width", t.shards);
        break;
      case TableSharding::row:
        words = fmt::format("cut by rows over {} ranks", t.shards);
        break;
      case TableSharding::data:
        words = "on every rank";
        break;
    }
    const auto same = std::ranges::find_if(
        groups, [&](const Group& g) { return g.words == words && g.reason == t.reason; });
    if (same == groups.end()) {
      groups.push_back({std::move(words), t.reason, 1});
    } else {
      ++same->tables;
    }
  }
  std::vector<std::string> out;
  for (const Group& g : groups) {
    out.push_back(fmt::format("{} of {} tables lie {}{}", g.tables, r.num_tables, g.words,
                              g.reason.empty() ? "" : ": " + g.reason));
  }
  if (d.ep > 1 && placement.sharded_parameters > 0) {
    out.push_back(fmt::format(
        "the busiest of {} ranks looks up, updates and sends for {:.3f} times the mean; "
        "its tables and their states take {}, the mean {}",
        d.ep, placement.imbalance, to_text(placement.busiest_memory),
        to_text(placement.mean_memory)));
  }
  if (!placement.fits) {
    out.push_back(fmt::format("the tables do not fit in {:.0f} % of the memory of every rank",
                              100 * kMemoryShare));
  }
  if (placement.bags.replicated) {
    out.push_back(
        fmt::format("{} groups of {} ranks hold the same tables and average them in every "
                    "step",
                    d.ranks / d.ep, d.ep));
  }
  return out;
}

std::vector<std::string> table_division_problems(const Recommender& r, const Division& d) {
  std::vector<std::string> out;
  if (d.pp != 1)
    out.push_back(fmt::format("pp {}: the layers of {} are not a pipeline", d.pp, r.name));
  if (d.cp != 1) out.push_back(fmt::format("cp {}: samples of {} are no sequences", d.cp, r.name));
  if (d.sequence_length != 1) {
    out.push_back(fmt::format("sequence length {}: a sample of {} is one row, write 1",
                              d.sequence_length, r.name));
  }
  if (d.ep < 1 || d.ranks < 1 || d.tp < 1) return out;
  if (r.column_shards > d.ep) {
    out.push_back(fmt::format("column_shards {} are more than the {} ranks that share tables",
                              r.column_shards, d.ep));
  }
  if (d.ranks % d.ep != 0) {
    out.push_back(fmt::format("ep {} does not divide {} GPUs", d.ep, d.ranks));
  }
  if (d.ep % d.tp != 0) {
    out.push_back(
        fmt::format("tp {} does not divide ep {}, the ranks that share tables", d.tp, d.ep));
  }
  double all = 0;
  double largest = 0;
  std::size_t index = 0;
  std::int64_t too_large = 0;
  const std::vector<EmbeddingTable> tables = tables_of(r);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const EmbeddingTable& t = tables[i];
    const Bytes row = row_bytes(r, t.width) + (d.trains ? row_state(r, t.width) : Bytes(0));
    const double bytes = t.rows * row.value();
    all += bytes;
    if (t.sharding != TableSharding::table && t.sharding != TableSharding::data) continue;
    if (bytes <= d.memory.value()) continue;
    ++too_large;
    if (bytes > largest) {
      largest = bytes;
      index = i;
    }
  }
  const double room = d.memory.value() * static_cast<double>(d.ep);
  if (all > room) {
    out.push_back(
        fmt::format("the tables and their optimizer's states take {}; {} GPUs have {} of memory",
                    to_text(Bytes(all)), d.ep, to_text(Bytes(room))));
  }
  if (too_large > 0) {
    out.push_back(
        fmt::format("table {} is stated to lie whole on a rank and takes {}; a GPU has {}{}", index,
                    to_text(Bytes(largest)), to_text(d.memory),
                    too_large > 1 ? fmt::format(", as do {} more", too_large - 1) : ""));
  }
  return out;
}

}  // namespace orrery
