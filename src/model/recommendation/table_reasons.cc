// What is said of a placement of tables, and why tables cannot lie so.
#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "model/recommendation/table_costs.h"
#include "model/recommendation/table_placement.h"
#include "units/quantity_text.h"

namespace orrery {

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
      case TableSharding::torchrec:
      case TableSharding::table:
        words = "whole on one rank";
        break;
      case TableSharding::column:
        words = fmt::format("in {} pieces of their width", t.shards);
        break;
      case TableSharding::row:
        words = fmt::format("cut by rows over {} ranks", t.shards);
        break;
      case TableSharding::table_row:
        words = fmt::format("cut by rows over the {} ranks of a {}", t.shards,
                            d.towers > 1 ? "tower" : "node");
        break;
      case TableSharding::data:
        words = "on every rank";
        break;
    }
    if (t.memory == TableMemory::cached) words += ", cached from memory of the host";
    if (t.memory == TableMemory::host) words += ", in memory of the host";
    if (t.memory == TableMemory::storage) words += ", cached from disks";
    if (t.codec != VectorCodec::none) {
      words += fmt::format(", their vectors sent as {}", to_text(t.codec));
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
  if (placement.host_memory + placement.storage > Bytes(0)) {
    out.push_back(fmt::format("of a rank, {} of tables lie in memory of the host and {} on disks",
                              to_text(placement.host_memory), to_text(placement.storage)));
  }
  if (!placement.fits) {
    out.push_back(fmt::format(
        "the tables take more than {:.0f} % of the memory of a rank, which the planner plans with",
        100 * kMemoryForTables));
  }
  if (placement.bags.replicated) {
    out.push_back(
        fmt::format("{} groups of {} ranks hold the same tables and average them in every "
                    "step",
                    d.ranks / d.ep, d.ep));
  }
  return out;
}

namespace {

// Tables that the planner may put anywhere, and that have room nowhere.
void say_without_room(const Recommender& r, const Division& d, std::vector<std::string>& out) {
  const TableCosts costs(r, d);
  if (costs.without_room().empty()) return;
  const std::size_t first = costs.without_room().front();
  const EmbeddingTable& t = costs.tables()[first];
  const auto ranks = static_cast<double>(d.ep);
  out.push_back(
      fmt::format("table {} takes {} and fits nowhere: {} GPUs have {} of memory for tables "
                  "({:.0f} % of it), {} of "
                  "memory of their hosts and {} of disks; take more GPUs, state memory and "
                  "local_storage of the "
                  "host, or write table_memory: device to fill the GPUs further",
                  first, to_text(Bytes(t.rows * costs.row_memory(t.width))), d.ep,
                  to_text(Bytes(costs.room() * ranks)), 100 * kMemoryForTables,
                  to_text(d.host_memory * ranks), to_text(d.storage * ranks)));
}

}  // namespace

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
  if (r.tower_modules && r.tower_modules->towers != d.towers) {
    out.push_back(
        fmt::format("towers {}: {} has modules for {}", d.towers, r.name, r.tower_modules->towers));
  }
  constexpr std::int64_t kMostTowerRanks = 1 << 20;
  if (d.towers > 1 && d.ep > kMostTowerRanks) {
    out.push_back(fmt::format("towers on {} ranks are more than the {} that are placed", d.ep,
                              kMostTowerRanks));
  }
  if (d.codec == VectorCodec::lossy && !r.lossy) {
    out.push_back(
        fmt::format("codec lossy needs the field lossy of {}, with the ratio that "
                    "`orrery numerics vectors` measures",
                    r.name));
  }
  if (d.towers > 1 && r.column_shards > d.tower_ranks) {
    out.push_back(fmt::format("column_shards {} are more than the {} ranks of a tower",
                              r.column_shards, d.tower_ranks));
  }
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
  double all = 0;      // of all tables, wherever they lie
  double device = 0;   // what has to lie on accelerators
  double host = 0;     // and in memory of the host
  double storage = 0;  // and on disks
  double largest = 0;
  std::size_t index = 0;
  std::int64_t too_large = 0;
  bool open = false;
  bool by_torchrec = false;
  std::int64_t not_copied = 0;
  const std::vector<EmbeddingTable> tables = tables_of(r);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const EmbeddingTable& t = tables[i];
    const Bytes row = row_bytes(r, t.width) + (d.trains ? row_state(r, t.width) : Bytes(0));
    const double bytes = t.rows * row.value();
    all += bytes;
    const TableSharding sharding =
        t.sharding == TableSharding::automatic ? d.table_sharding : t.sharding;
    by_torchrec |= sharding == TableSharding::torchrec;
    const bool copied = sharding == TableSharding::data;
    if (copied && (t.memory != TableMemory::device || r.tower_modules)) ++not_copied;
    switch (t.memory) {
      case TableMemory::device:
        device += bytes;
        break;
      case TableMemory::automatic:
        open = true;
        continue;
      case TableMemory::cached:
        device += r.cache_share * bytes;
        [[fallthrough]];
      case TableMemory::host:
        host += bytes;
        continue;
      case TableMemory::storage:
        device += r.cache_share * bytes;
        storage += bytes;
        continue;
    }
    if (t.sharding != TableSharding::table && t.sharding != TableSharding::data) continue;
    if (bytes <= d.memory.value()) continue;
    ++too_large;
    if (bytes > largest) {
      largest = bytes;
      index = i;
    }
  }
  const auto ranks = static_cast<double>(d.ep);
  // What is divided over all ranks and has no room there.
  const auto too_much = [&](double bytes, Bytes of_rank, std::string_view what,
                            std::string_view where) {
    if (bytes <= of_rank.value() * ranks) return;
    out.push_back(fmt::format("{} take {}; {} GPUs have {} of {}", what, to_text(Bytes(bytes)),
                              d.ep, to_text(of_rank * ranks), where));
  };
  too_much(device, d.memory, "the tables and their optimizer's states", "memory");
  too_much(host, d.host_memory, "tables in memory of the host", "it");
  too_much(storage, d.storage, "tables on disks", "them");
  if (open) {
    const std::size_t said = out.size();
    too_much(all, d.memory + d.host_memory + d.storage, "the tables and their optimizer's states",
             "memory, memory of their hosts and disks");
    if (out.size() == said) say_without_room(r, d, out);
  }
  if (by_torchrec && d.towers > 1) {
    out.push_back(fmt::format(
        "table_sharding torchrec: TorchRec's planner knows no towers, of which there are {}; write "
        "towers 1 or table_sharding automatic",
        d.towers));
  }
  if (not_copied > 0) {
    out.push_back(
        fmt::format("{} tables are stated to lie on every rank, which needs table_memory "
                    "device and no tower_modules",
                    not_copied));
  }
  if ((host > 0 || storage > 0 || open) && d.host_bandwidth <= BytesPerSecond(0)) {
    out.emplace_back("tables outside the accelerators need the bandwidth of their host_link");
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
