// Where the embedding tables of a recommendation model lie, and which features share a tower, as
// text and as the JSON of `orrery tables`.
// Beside each table: what the planner of TorchRec thinks such a piece costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/memory/memory.h"
#include "document/description.h"
#include "document/value.h"
#include "model/division.h"
#include "model/recommendation/recommender.h"
#include "model/recommendation/table_placement.h"
#include "model/recommendation/tower_partition.h"
#include "report/drawing/text_style.h"

namespace orrery {

// One table, or several behind each other that are alike.
struct ReportedTables {
  std::int64_t first = 0;
  std::int64_t last = 0;
  EmbeddingTable table;
  PlacedTable placed;
  Bytes size;  // of one table, without its optimizer's state
  double torchrec_ms =
      0;  // of one piece: forward and backward (model/recommendation/torchrec_costs.h)
};

struct ReportedPlacement {
  std::string model;
  std::string cluster;
  std::int64_t ranks = 0;
  double imbalance = 1;
  Bytes busiest_memory;
  Bytes mean_memory;
  Bytes host_memory;  // of a rank, the mean
  Bytes storage;
  Seconds time;  // of a step's work on tables, by the planner's count
  Seconds bound;
  Bytes step_memory;  // that the whole step takes on the fullest rank
  Bytes capacity;
  bool fits = true;  // the step
  std::vector<ReportedTables> tables;
};

// `node`: accelerators of a node; `memory`: of the step with these tables.
ReportedPlacement reported_placement(const Recommender& r, const Division& d, std::int64_t node,
                                     const TablePlacement& placement, std::string cluster,
                                     const MemoryReport& memory, Bytes capacity);
std::string placement_text(const ReportedPlacement& placement, const TextStyle& style);
Value placement_json(const ReportedPlacement& placement);
const Description& placement_document();

// Of `orrery tables --similarities`.
struct ReportedTower {
  std::vector<std::int64_t> tables;   // from 0
  std::vector<std::string> features;  // their names in the file of similarities
  double look_ups = 0;                // of a sample
  Bytes size;                         // of the tables
  double width = 0;                   // elements that a sample leaves the tower with
};

struct ReportedTowers {
  std::string model;
  TowerStrategy strategy = TowerStrategy::coherent;
  std::optional<double> inside, across;  // as in TowerPartition
  double imbalance = 1;                  // look-ups of the busiest tower over the mean
  std::vector<ReportedTower> towers;
};

// Errors: another number of features than tables; those of partition_towers.
Result<ReportedTowers> reported_towers(const Recommender& recommender,
                                       const Similarities& similarities, std::int64_t towers,
                                       TowerStrategy strategy);
std::string towers_text(const ReportedTowers& towers, const TextStyle& style);
Value towers_json(const ReportedTowers& towers);
const Description& towers_document();

}  // namespace orrery
