#include "report/plans/tower_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "document/results.h"
#include "outcome/printable.h"
#include "report/drawing/table.h"
#include "units/quantity_text.h"

namespace orrery {

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
  std::string out = fmt::format("{}: {} towers, {}\n\n", towers.model, towers.towers.size(),
                                towers.strategy == TowerStrategy::coherent
                                    ? "of features that are alike"
                                    : "of features that are unlike each other");
  Table table(right("tower", 2), right("features", 2), right("elements", 2), right("look-ups", 2),
              right("size", 2), left("which", 2));
  for (std::size_t i = 0; i < towers.towers.size(); ++i) {
    const ReportedTower& t = towers.towers[i];
    std::string names;
    for (const std::string& name : t.features)
      names += (names.empty() ? "" : " ") + printable(name);
    table.row(std::to_string(i), std::to_string(t.features.size()), fmt::format("{:g}", t.width),
              fmt::format("{:g}", t.look_ups), to_text(t.size), names);
  }
  out += table.text(style);
  out += "\n";
  if (towers.inside && towers.across) {
    out += fmt::format(
        "The mean similarity is {:.3f} between features of one tower and {:.3f} between features "
        "of different towers.\n",
        *towers.inside, *towers.across);
  } else if (towers.across) {
    out += fmt::format("The mean similarity of features of different towers is {:.3f}.\n",
                       *towers.across);
  }
  out += fmt::format("The busiest tower has {:.3f} times the mean number of look-ups.\n",
                     towers.imbalance);
  return out;
}

template <>
inline constexpr auto kResults<ReportedTower> = table<ReportedTower>(
    "tower", "Features that share a tower.",
    field<&ReportedTower::tables>("tables", "of the model, from 0"),
    field<&ReportedTower::features>("features", "their names in the file of similarities"),
    field<&ReportedTower::width>("columns", "elements per sample that enter the tower's module"),
    field<&ReportedTower::look_ups>("pooling", "look-ups of a sample"),
    field<&ReportedTower::size>("size_bytes", "of the tables, without optimizer states"));

template <>
inline constexpr auto kResults<ReportedTowers> = table<ReportedTowers>(
    "towers", "Which features share a tower.", schema_version<1>(),
    constant("kind", "what the document is", "towers"),
    field<&ReportedTowers::model>("model", "whose tables they are"),
    field<&ReportedTowers::strategy>("strategy",
                                     "whether features that are alike share a tower, or others"),
    field<&ReportedTowers::inside>("similarity_inside",
                                   "mean absolute similarity of two features of a tower; "
                                   "null: no tower has two"),
    field<&ReportedTowers::across>("similarity_across", "of two features of different towers"),
    field<&ReportedTowers::imbalance>("imbalance", "look-ups of the busiest tower over the mean"),
    field<&ReportedTowers::towers>("towers", "in the order of the partition"));

Value towers_json(const ReportedTowers& towers) { return answer(towers); }
const Description& towers_document() { return description_of<ReportedTowers>(); }

}  // namespace orrery
