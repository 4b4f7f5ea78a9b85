// Where the embedding tables of a recommendation model lie, as text and as the JSON of `orrery
// tables`.
// Beside each table: what the planner of TorchRec thinks such a piece costs.
#pragma once

#include <string>
#include <vector>

#include "cost/memory/memory.h"
#include "document/description.h"
#include "document/value.h"
#include "model/division.h"
#include "model/recommendation/recommender.h"
#include "model/recommendation/table_placement.h"
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

}  // namespace orrery
