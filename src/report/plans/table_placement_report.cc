#include "report/plans/table_placement_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "document/results.h"
#include "model/recommendation/torchrec_planner.h"
#include "outcome/enum_names.h"
#include "report/drawing/figures.h"
#include "report/drawing/table.h"
#include "units/grouped.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

std::string range_of(const ReportedTables& t) {
  return t.first == t.last ? std::to_string(t.first) : fmt::format("{}-{}", t.first, t.last);
}

}  // namespace

ReportedPlacement reported_placement(const Recommender& r, const Division& d, std::int64_t node,
                                     const TablePlacement& placement, std::string cluster,
                                     const MemoryReport& memory, Bytes capacity) {
  ReportedPlacement out{r.name,
                        std::move(cluster),
                        d.ep,
                        placement.imbalance,
                        placement.busiest_memory,
                        placement.mean_memory,
                        placement.host_memory,
                        placement.storage,
                        placement.time,
                        placement.bound,
                        Bytes(static_cast<double>(memory.peak)),
                        capacity,
                        Bytes(static_cast<double>(memory.peak)) <= capacity,
                        {}};
  const std::vector<EmbeddingTable> tables = tables_of(r);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const EmbeddingTable& t = tables[i];
    const PlacedTable& placed = placement.tables[i];
    const auto index = static_cast<std::int64_t>(i);
    if (!out.tables.empty()) {
      ReportedTables& before = out.tables.back();
      if (before.table == t && before.placed == placed) {
        before.last = index;
        continue;
      }
    }
    EmbeddingTable on_its_memory = t;
    on_its_memory.memory = placed.memory;
    out.tables.push_back(
        {index, index, t, placed, t.rows * row_bytes(r, t.width),
         torchrec_perf(r, d, on_its_memory, {placed.sharding, placed.shards}, std::min(d.ep, node))
             .total()});
  }
  return out;
}

std::string placement_text(const ReportedPlacement& placement, const TextStyle& style) {
  const bool outside = std::ranges::any_of(placement.tables, [](const ReportedTables& t) {
    return t.placed.memory != TableMemory::device;
  });
  const bool coded = std::ranges::any_of(placement.tables, [](const ReportedTables& t) {
    return t.placed.codec != VectorCodec::none;
  });
  Table table(left("table", 2), right("rows", 2), right("columns", 2), right("look-ups", 2),
              right("size", 2), left("division", 2), right("pieces", 2),
              left("memory", 2).shown_if(outside), left("sent as", 2).shown_if(coded),
              right("TorchRec", 2), left("why", 2));
  for (const ReportedTables& t : placement.tables) {
    table.row(range_of(t), grouped(static_cast<std::int64_t>(t.table.rows)),
              std::to_string(static_cast<std::int64_t>(t.table.width)),
              fmt::format("{:g}", t.table.pooling), to_text(t.size),
              std::string(to_text(t.placed.sharding)), std::to_string(t.placed.shards),
              std::string(to_text(t.placed.memory)),
              t.placed.codec == VectorCodec::none ? "" : std::string(to_text(t.placed.codec)),
              fmt::format("{:.3g} ms", t.torchrec_ms), t.placed.reason);
  }
  const auto figure = [](const auto& quantity) { return unbroken(to_text(quantity)); };
  std::string out = paragraph(style, "{} on {} ranks of {}", placement.model,
                              grouped(placement.ranks), placement.cluster);
  out += "\n" + table.text(style) + "\n";
  out += paragraph(
      style,
      "the busiest rank looks up, updates and sends for {:.3f} times the mean; its tables and "
      "their optimizer's states take {}, the mean {}",
      placement.imbalance, figure(placement.busiest_memory), figure(placement.mean_memory));
  if (placement.host_memory + placement.storage > Bytes(0)) {
    out += paragraph(style, "of a rank, {} lie in memory of the host and {} on disks",
                     figure(placement.host_memory), figure(placement.storage));
  }
  out += paragraph(style,
                   "by the planner's count they take {} of a step; no division of its kinds takes "
                   "less than {}",
                   figure(placement.time), figure(placement.bound));
  return out + paragraph(style, "the step takes {} of the {} of a rank{}",
                         figure(placement.step_memory), figure(placement.capacity),
                         placement.fits ? "" : ": it does not fit");
}

template <>
inline constexpr auto kResults<ReportedTables> = table<ReportedTables>(
    "placed tables", "Embedding tables behind each other that are alike.",
    field<&ReportedTables::first>("table, from 0"), field<&ReportedTables::last>("table"),
    field("rows", "of one", [](auto& t) { return t.table.rows; }),
    field("columns", "of one", [](auto& t) { return t.table.width; }),
    field("pooling", "look-ups of a sample", [](auto& t) { return t.table.pooling; }),
    field("size_bytes", "of one, without its optimizer's state", [](auto& t) { return t.size; }),
    field("sharding", "how it is divided", [](auto& t) { return t.placed.sharding; }),
    field("shards", "pieces", [](auto& t) { return t.placed.shards; }),
    field("memory", "where its rows lie", [](auto& t) { return t.placed.memory; }),
    field("codec", "what its vectors are sent as between nodes",
          [](auto& t) { return t.placed.codec; }),
    field("reason", "why it is not whole on one rank, in its memory; may be empty",
          [](auto& t) { return t.placed.reason; }),
    field<&ReportedTables::torchrec_ms>(
        "of one piece by the cost model of TorchRec's planner, forward and backward"));

template <>
inline constexpr auto kResults<ReportedPlacement> = table<ReportedPlacement>(
    "tables", "Where the embedding tables of a model lie.", schema_version<1>(),
    constant("kind", "what the document is", "tables"),
    field<&ReportedPlacement::model>("whose tables they are"),
    field<&ReportedPlacement::cluster>("that holds them"),
    field<&ReportedPlacement::ranks>("that share them"),
    field<&ReportedPlacement::imbalance>(
        "seconds of the busiest rank over the mean of this placement"),
    field<&ReportedPlacement::busiest_memory>("busiest_memory_bytes",
                                              "tables and optimizer states of the fullest rank"),
    field<&ReportedPlacement::mean_memory>("mean_memory_bytes", "the mean over ranks"),
    field<&ReportedPlacement::host_memory>("host_memory_bytes", "of a rank, the mean"),
    field<&ReportedPlacement::storage>("storage_bytes", "on disks, of a rank, the mean"),
    field<&ReportedPlacement::time>("time_s", "of the work on tables, by the planner's count"),
    field<&ReportedPlacement::bound>("bound_s", "below which no division of its kinds comes"),
    field<&ReportedPlacement::step_memory>("step_memory_bytes", "of the fullest rank, all in all"),
    field<&ReportedPlacement::capacity>("memory_capacity_bytes", "of a rank"),
    field<&ReportedPlacement::fits>("whether the step does"),
    field<&ReportedPlacement::tables>("in the order of the model"));

Value placement_json(const ReportedPlacement& placement) { return answer(placement); }
const Description& placement_document() { return description_of<ReportedPlacement>(); }

Result<ReportedTowers> reported_towers(const Recommender& recommender,
                                       const Similarities& similarities, std::int64_t towers,
                                       TowerStrategy strategy) {
  const std::vector<EmbeddingTable> tables = tables_of(recommender);
  if (similarities.features.size() != tables.size()) {
    return bad_input(fmt::format("the file has {} features, and {} has {} tables",
                                 similarities.features.size(), recommender.name, tables.size()),
                     "similarities", "a row and a column for each table, in the model's order");
  }
  ORRERY_TRY(const TowerPartition partition, partition_towers(similarities, towers, strategy));
  ReportedTowers out{recommender.name, strategy, partition.inside, partition.across, 1, {}};
  out.towers.resize(static_cast<std::size_t>(towers));
  double all = 0;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    ReportedTower& t = out.towers[static_cast<std::size_t>(partition.tower[i])];
    t.tables.push_back(static_cast<std::int64_t>(i));
    t.features.push_back(similarities.features[i]);
    t.look_ups += tables[i].pooling;
    t.size += tables[i].rows * row_bytes(recommender, tables[i].width);
    t.width += tables[i].width;
    all += tables[i].pooling;
  }
  const double busiest = std::ranges::max(out.towers, {}, &ReportedTower::look_ups).look_ups;
  if (all > 0) out.imbalance = busiest * static_cast<double>(towers) / all;
  return out;
}

std::string towers_text(const ReportedTowers& towers, const TextStyle& style) {
  std::string out = paragraph(style, "{}: {} towers, {}", towers.model, towers.towers.size(),
                              towers.strategy == TowerStrategy::coherent
                                  ? "of features that are alike"
                                  : "of features that are unlike each other");
  Table table(right("tower", 2), right("features", 2), right("elements", 2), right("look-ups", 2),
              right("size", 2), left("which", 2));
  for (std::size_t i = 0; i < towers.towers.size(); ++i) {
    const ReportedTower& t = towers.towers[i];
    table.row(std::to_string(i), std::to_string(t.features.size()), fmt::format("{:g}", t.width),
              fmt::format("{:g}", t.look_ups), to_text(t.size), joined(t.features, " "));
  }
  out += "\n" + table.text(style) + "\n";
  if (towers.inside && towers.across) {
    out += paragraph(
        style,
        "the mean similarity is {:.3f} between features of one tower and {:.3f} between features "
        "of different towers",
        *towers.inside, *towers.across);
  } else if (towers.across) {
    out += paragraph(style, "the mean similarity of features of different towers is {:.3f}",
                     *towers.across);
  }
  return out + paragraph(style, "the busiest tower has {:.3f} times the mean number of look-ups",
                         towers.imbalance);
}

template <>
inline constexpr auto kResults<ReportedTower> = table<ReportedTower>(
    "tower", "Features that share a tower.", field<&ReportedTower::tables>("of the model, from 0"),
    field<&ReportedTower::features>("their names in the file of similarities"),
    field<&ReportedTower::width>("columns", "elements per sample that enter the tower's module"),
    field<&ReportedTower::look_ups>("pooling", "look-ups of a sample"),
    field<&ReportedTower::size>("size_bytes", "of the tables, without optimizer states"));

template <>
inline constexpr auto kResults<ReportedTowers> = table<ReportedTowers>(
    "towers", "Which features share a tower.", schema_version<1>(),
    constant("kind", "what the document is", "towers"),
    field<&ReportedTowers::model>("whose tables they are"),
    field<&ReportedTowers::strategy>("whether features that are alike share a tower, or others"),
    field<&ReportedTowers::inside>("similarity_inside",
                                   "mean absolute similarity of two features of a tower; "
                                   "null: no tower has two"),
    field<&ReportedTowers::across>("similarity_across", "of two features of different towers"),
    field<&ReportedTowers::imbalance>("look-ups of the busiest tower over the mean"),
    field<&ReportedTowers::towers>("in the order of the partition"));

Value towers_json(const ReportedTowers& towers) { return answer(towers); }
const Description& towers_document() { return description_of<ReportedTowers>(); }

}  // namespace orrery
