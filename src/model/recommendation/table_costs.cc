#include "model/recommendation/table_costs.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace orrery {
namespace {

constexpr double kSector = 32;          // bytes that memory reads at once
constexpr double kSort = 96;            // bytes that sorting a look-up moves
constexpr double kMeasuredElement = 4;  // bytes of an element before, in the ratio of a codec
// What the planner counts for a parameter of a replicated table, whatever the software: an fp32
// gradient in memory, and 40 bytes that the dense optimizer moves. Fused AdamW moves 30, and 12
// more if gradients are clipped (lower/optimizer_bytes.h). This decides which tables a way to place
// them replicates; the ways are compared by steps with the bytes of their own optimizer.
constexpr double kGradient = 4;
constexpr double kDenseUpdate = 40;
// Pieces of one table, and of all: limits of the planner's own time.
constexpr std::int64_t kFinest = 64;
constexpr std::int64_t kMostPieces = 1'000'000;

double sectors(Bytes bytes) { return kSector * std::ceil(bytes.value() / kSector); }

}  // namespace

TableCosts::TableCosts(const Recommender& r, const Division& d)
    : r_(r),
      d_(d),
      tables_(tables_of(r)),
      ranks_(d.ep),
      samples_(static_cast<double>(d.micro_batch) * static_cast<double>(d.ep) /
               static_cast<double>(d.tp)),
      group_(samples_ / static_cast<double>(d.micro_batch)),
      room_(kMemoryForTables * d.memory.value()),
      finest_(std::clamp<std::int64_t>(kMostPieces / r.num_tables, 1, kFinest)) {
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (tables_[i].sharding == TableSharding::automatic) tables_[i].sharding = d.table_sharding;
    codings_.push_back(chosen_coding(i, false));
    partial_codings_.push_back(chosen_coding(i, true));
  }
  choose_memory();
}

double TableCosts::replicated_memory(const EmbeddingTable& t) {
  return t.rows * t.width * (kGradient + 16);
}

TableChoice TableCosts::halved(const EmbeddingTable& t, const TableChoice& c) const {
  const std::int64_t finest = finest_columns(t);
  if (c.sharding == TableSharding::table_row) {
    if (finest > d_.tower_ranks) return {TableSharding::column, finest};
    return {TableSharding::row, ranks_};
  }
  if (c.shards < finest) return {TableSharding::column, 2 * c.shards};
  return finest > d_.tower_ranks ? TableChoice{TableSharding::row, ranks_} : by_rows();
}

double TableCosts::row_memory(double width) const {
  return (row_bytes(r_, width) + (d_.trains ? row_state(r_, width) : Bytes(0))).value();
}
// Share of a table's rows in memory of the accelerator.
double TableCosts::kept(const EmbeddingTable& t) const {
  switch (t.memory) {
    case TableMemory::cached:
    case TableMemory::storage:
      return r_.cache_share;
    case TableMemory::host:
      return 0;
    default:
      return 1;
  }
}
double TableCosts::memory_of(const EmbeddingTable& t, double width) const {
  return t.rows * row_memory(width) * kept(t);
}

// Tables that leave it open lie on the accelerators while they fit; then those that are read least
// for their size go to the host, then to disks, each while there is room.
void TableCosts::choose_memory() {
  double held = 0;
  double host = 0;
  double disks = 0;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const EmbeddingTable& t = tables_[i];
    if (t.memory == TableMemory::automatic) open.push_back(i);
    held += memory_of(t, t.width);
    if (t.memory == TableMemory::cached || t.memory == TableMemory::host) {
      host += t.rows * row_memory(t.width);
    }
    if (t.memory == TableMemory::storage) disks += t.rows * row_memory(t.width);
  }
  std::ranges::stable_sort(open, std::less{},
                           [&](std::size_t i) { return tables_[i].pooling / tables_[i].rows; });
  const double room = room_ * static_cast<double>(ranks_);
  const double host_room = d_.host_memory.value() * static_cast<double>(ranks_);
  const double disk_room = d_.storage.value() * static_cast<double>(ranks_);
  for (const std::size_t i : open) {
    EmbeddingTable& t = tables_[i];
    t.memory = TableMemory::device;
    if (held <= room) continue;
    const double all = t.rows * row_memory(t.width);
    if (host + all <= host_room) {
      t.memory = TableMemory::cached;
      host += all;
    } else if (disks + all <= disk_room) {
      t.memory = TableMemory::storage;
      disks += all;
    } else {
      without_room_.push_back(i);
      continue;
    }
    held -= all * (1 - kept(t));
  }
  if (held <= room) without_room_.clear();
}

// ---- what one table costs ----

double TableCosts::rate(VectorExchange::Ranks among, bool partial) const {
  if (among == VectorExchange::Ranks::peers) return d_.between_towers.value();
  const ExchangeRates& rates = among == VectorExchange::Ranks::tower ? d_.in_tower : d_.between_all;
  return (partial ? rates.sums : rates.vectors).value();
}
double TableCosts::coded_seconds(const VectorCoding& c, double rate) const {
  return (c.forward + (d_.trains ? c.backward : 0)) / rate +
         (c.encode + c.decode) * ((c.forward < 1 ? 1 : 0) + (d_.trains && c.backward < 1 ? 1 : 0));
}
double TableCosts::dense_seconds(double parameters) const {
  const Seconds reduced = d_.trains && ranks_ > 1 ? d_.gradient / d_.dense_gradients : Seconds(0);
  return parameters * (reduced + Bytes(kDenseUpdate) / d_.memory_bandwidth).value();
}
VectorCoding TableCosts::coding_as(VectorCodec codec, std::size_t table) const {
  const double element = d_.element.value();
  const double memory = d_.memory_bandwidth.value();
  VectorCoding out;
  double bytes = element;
  switch (codec) {
    case VectorCodec::none:
    case VectorCodec::best:
      return out;
    case VectorCodec::bf16:
      bytes = 2;
      break;
    case VectorCodec::int8:
      bytes = 1 + 8 / tables_[table].width;  // scale and offset of a row
      break;
    case VectorCodec::lossy: {
      if (!r_.lossy) return out;
      const double ratio = r_.lossy->ratios.empty() ? r_.lossy->ratio : r_.lossy->ratios[table];
      const double coded = kMeasuredElement / ratio / element;
      if (coded >= 1) return out;
      // Gradients travel as they are: the bound is one of values.
      return {codec, coded, 1, 1 / r_.lossy->compress.value(), 1 / r_.lossy->decompress.value()};
    }
  }
  if (bytes >= element) return out;
  const double share = bytes / element;
  return {codec, share, share, (1 + share) / memory, (1 + share) / memory};
}
// The source compresses within a bound what an all-to-all sends; sums of parts that are each within
// the bound are not.
VectorCoding TableCosts::chosen_coding(std::size_t table, bool partial) const {
  if (partial && d_.codec == VectorCodec::lossy) return {};
  if (d_.codec != VectorCodec::best) return coding_as(d_.codec, table);
  VectorCoding best;
  for (const VectorCodec codec : {VectorCodec::bf16, VectorCodec::int8, VectorCodec::lossy}) {
    if (partial && codec == VectorCodec::lossy) continue;
    const VectorCoding c = coding_as(codec, table);
    const double sent = rate(VectorExchange::Ranks::all, partial);
    if (coded_seconds(c, sent) < coded_seconds(best, sent)) best = c;
  }
  return best;
}
TableCosts::Path TableCosts::path(TableSharding sharding) const {
  if (sharding == TableSharding::table_row) return Path::tower_rows;
  if (towers()) return Path::tower;
  return sharding == TableSharding::row ? Path::rows : Path::all;
}
// Of vectors of `width` from one rank and back, on the path of the piece; what follows between
// towers is divided over their ranks.
double TableCosts::exchange_seconds(std::size_t table, double width, Path path) const {
  using Ranks = VectorExchange::Ranks;
  const double bytes = samples_ * width * d_.element.value();
  const VectorCoding& coded = coding(table, path);
  if (path == Path::all || path == Path::rows) {
    return bytes * coded_seconds(coded, rate(Ranks::all, path == Path::rows));
  }
  return ways() * bytes / rate(Ranks::tower, path == Path::tower_rows) +
         bytes / static_cast<double>(d_.tower_ranks) *
             coded_seconds(coded, rate(Ranks::peers, false)) / compression();
}
double TableCosts::compression() const {
  return r_.tower_modules ? static_cast<double>(r_.tower_modules->compression) : 1;
}
// Of a piece of a table `width` wide with a share of its rows.
TableLoad TableCosts::load(std::size_t table, double width, double share_of_rows, double samples,
                           Path path) const {
  const EmbeddingTable& t = tables_[table];
  TableLoad out;
  const double look_ups = samples * t.pooling * share_of_rows;
  const double vector = width * d_.element.value();
  const double row = sectors(row_bytes(r_, width));
  const double missed = t.memory == TableMemory::device ? 0
                        : kept(t) > 0                   ? 1 - cache_hits(r_, kept(t))
                                                        : 1;
  out.looked_up = look_ups * (row * (1 - missed) + kLookUpIndex) + samples * vector;
  double moved = look_ups * missed * row;
  double written = 0;
  if (d_.trains) {
    const double rows = t.rows * share_of_rows;
    const double distinct = -rows * std::expm1(-look_ups / rows);
    const double state = row_state(r_, width) > Bytes(0) ? sectors(row_state(r_, width)) : 0;
    out.updated = look_ups * kSort + samples * vector + 2 * distinct * (1 - missed) * (row + state);
    written = distinct * missed * (row + 2 * state);
  }
  if (t.memory == TableMemory::storage) {
    out.stored = (moved + written) / d_.storage_bandwidth.value();
  } else if (missed > 0) {
    out.fetched = moved;
    out.returned = written;
  }
  out.memory = memory_of(t, width) * share_of_rows;
  out.weights = t.rows * row_bytes(r_, width).value() * share_of_rows * kept(t);
  out.width = width;
  out.look_ups = t.pooling * share_of_rows;
  out.seconds = (out.looked_up + out.updated) / d_.memory_bandwidth.value() + host_seconds(out) +
                exchange_seconds(table, width, path);
  return out;
}
double TableCosts::host_seconds(const TableLoad& l) const {
  const double link = d_.host_bandwidth.value();
  return l.stored + (link > 0 ? (l.fetched + l.returned) / link : 0);
}
TableLoad TableCosts::piece(std::size_t table, const TableChoice& c) const {
  const double width = tables_[table].width;
  const auto shards = static_cast<double>(c.shards);
  const bool rows = c.sharding == TableSharding::row || c.sharding == TableSharding::table_row;
  const bool copied = c.sharding == TableSharding::data;
  return load(table, rows ? width : width / shards, rows ? 1 / shards : 1,
              copied ? static_cast<double>(d_.micro_batch) : samples_, path(c.sharding));
}

// ---- kinds of division ----

// Pieces of a width of at least 32 bytes, whole elements each.
bool TableCosts::can_halve(const EmbeddingTable& t, std::int64_t shards) const {
  const std::int64_t width = static_cast<std::int64_t>(t.width);
  return 2 * shards <= std::min(towers() ? d_.tower_ranks : ranks_, finest_) &&
         width % (2 * shards) == 0 &&
         row_bytes(r_, t.width / static_cast<double>(2 * shards)).value() >= kSector;
}
std::int64_t TableCosts::finest_columns(const EmbeddingTable& t) const {
  std::int64_t shards = 1;
  while (can_halve(t, shards)) shards *= 2;
  return shards;
}
// What is cut by rows in a tower is so over all of its ranks.
TableChoice TableCosts::uniform(const EmbeddingTable& t, TableSharding kind) const {
  switch (kind) {
    case TableSharding::column:
      return {kind, r_.column_shards > 0 ? r_.column_shards : finest_columns(t)};
    case TableSharding::row:
      return towers() ? by_rows() : TableChoice{kind, ranks_};
    case TableSharding::table_row:
      return {kind, d_.tower_ranks};
    case TableSharding::data:
      return {can_copy(t) ? kind : TableSharding::table, 1};
    default:
      return {kind, 1};
  }
}
TableChoice TableCosts::by_rows() const {
  if (towers() || d_.tower_ranks < ranks_) return {TableSharding::table_row, d_.tower_ranks};
  return {TableSharding::row, ranks_};
}
bool TableCosts::can_copy(const EmbeddingTable& t) const {
  return !r_.tower_modules && t.memory == TableMemory::device;
}

TableChoice TableCosts::first_choice(const EmbeddingTable& t, TableSharding kind,
                                     double exchanges) const {
  if (stated(t)) return uniform(t, t.sharding);
  const double exchanged = 2 * static_cast<double>(d_.micro_batch) * t.width * d_.element.value() /
                           rate(VectorExchange::Ranks::all, false);
  if (ranks_ > 1 && can_copy(t) && dense_seconds(t.rows * t.width) < exchanges * exchanged) {
    return {TableSharding::data, 1};
  }
  TableChoice out = uniform(t, kind);
  while (out.sharding != TableSharding::row && out.sharding != TableSharding::table_row &&
         memory_of(t, t.width / static_cast<double>(out.shards)) > room_) {
    out = halved(t, out);
  }
  return out;
}

double TableCosts::seconds(const TablePlacement& p) const {
  const auto own = static_cast<double>(d_.micro_batch);
  const double moved =
      (p.bags.looked_up + p.bags.updated + p.replicated_looked_up + p.replicated_updated).value();
  double time = own * (moved / d_.memory_bandwidth.value() + p.bags.stored.value()) +
                dense_seconds(p.replicated_parameters);
  if (d_.host_bandwidth.value() > 0) {
    time += own * (p.bags.fetched + p.bags.returned).value() / d_.host_bandwidth.value();
  }
  if (ranks_ == 1) return time;
  for (const auto* sends : {&p.sends, &p.module_sends}) {
    for (const VectorExchange& e : *sends) {
      const double bytes = e.elements * d_.element.value() *
                           (e.forward + (d_.trains ? e.backward : 0)) / rate(e.among, e.partial);
      const double directions = (e.forward < 1 ? 1 : 0) + (d_.trains && e.backward < 1 ? 1 : 0);
      time += own * (bytes + directions * (e.encode + e.decode).value());
    }
  }
  return time + own * p.bags.indices.value() / rate(VectorExchange::Ranks::all, false);
}

TableCosts::Option TableCosts::option(std::size_t table, const TableChoice& c) const {
  const EmbeddingTable& t = tables_[table];
  const auto own = static_cast<double>(d_.micro_batch);
  const auto rank_count = static_cast<double>(ranks_);
  const TableLoad l = piece(table, c);
  const double work = (l.looked_up + l.updated) / d_.memory_bandwidth.value() + host_seconds(l);
  if (c.sharding == TableSharding::data) {
    return {work + dense_seconds(t.rows * t.width), replicated_memory(t)};
  }
  const auto pieces = static_cast<double>(c.shards);
  Option out{work * pieces / rank_count, l.memory * pieces / rank_count};
  if (ranks_ == 1) return out;
  using Ranks = VectorExchange::Ranks;
  const double vectors = own * t.width * d_.element.value();
  const bool columns = c.sharding == TableSharding::column;
  out.seconds += own * kLookUpIndex * t.pooling * (columns ? pieces : 1) / rate(Ranks::all, false);
  const Path way = path(c.sharding);
  const VectorCoding& coded = coding(table, way);
  if (way == Path::all || way == Path::rows) {
    const bool partial = way == Path::rows;
    out.seconds +=
        (partial ? group_ : 1) * vectors * coded_seconds(coded, rate(Ranks::all, partial));
    return out;
  }
  const bool partial = way == Path::tower_rows;
  out.seconds += ways() * vectors * group_ * (partial ? pieces : 1) / rank_count /
                     rate(Ranks::tower, partial) +
                 vectors * coded_seconds(coded, rate(Ranks::peers, false)) / compression();
  return out;
}

// The greatest value of the dual function of the linear program, over the price of memory.
double TableCosts::bound(const TablePlacement& p) const {
  std::vector<std::vector<Option>> options(tables_.size());
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const EmbeddingTable& t = tables_[i];
    if (stated(t)) {
      options[i] = {option(i, uniform(t, t.sharding))};
      continue;
    }
    for (const TableSharding kind : {TableSharding::table, TableSharding::row,
                                     TableSharding::table_row, TableSharding::data}) {
      options[i].push_back(option(i, uniform(t, kind)));
    }
    for (std::int64_t shards = 1; can_halve(t, shards); shards *= 2) {
      options[i].push_back(option(i, {TableSharding::column, 2 * shards}));
    }
  }
  double best = 0;
  // Its value at a price, in seconds a byte, and whether more memory is used than there is.
  const auto above_room = [&](double price) {
    double value = -price * room_;
    double memory = 0;
    for (const std::vector<Option>& of_table : options) {
      const Option& least = *std::ranges::min_element(
          of_table, std::less{}, [&](const Option& o) { return o.seconds + price * o.memory; });
      value += least.seconds + price * least.memory;
      memory += least.memory;
    }
    best = std::max(best, value);
    return memory > room_;
  };
  if (!above_room(0) || !p.fits) return best;
  double low = 0;
  double high = p.time.value() / room_;
  constexpr int kSteps = 40;
  for (int i = 0; i < kSteps && above_room(high); ++i) high *= 2;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    (above_room(middle) ? low : high) = middle;
  }
  return best;
}

}  // namespace orrery
