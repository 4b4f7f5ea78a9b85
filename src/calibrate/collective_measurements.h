// Measured collectives of one node, as rows of a table.
//
// Columns: accelerator, collective (all-reduce, all-gather, reduce-scatter, all-to-all, broadcast),
// dtype, num_gpus, bytes, latency_us. `bytes` follows nccl-tests (cost/collective/collective.h).
// Rows of dtype int8 ran without in-switch reduction. Source of the table shipped with the product:
// validation/kernels/README-collectives.md.
//
// A row is reported and left out if a cell is missing or not a number, if it repeats another row,
// or if it is faster than the links of its accelerator allow.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibrate/calibration.h"
#include "cost/collective/collective.h"

namespace orrery {

struct CollectiveMeasurement {
  std::string accelerator;
  CollectiveKind kind = CollectiveKind::all_reduce;
  bool reduces_in_switch = true;  // the library was allowed to
  int ranks = 2;
  Bytes payload;
  Seconds time;
  std::string where;  // "file.csv:12"

  // The key of a fold, which keeps the same shape together across accelerators and element types.
  [[nodiscard]] std::string shape() const;
};

bool holds_collective_measurements(const CommaSeparated& table);

// The usable rows in the order of the tables.
std::vector<CollectiveMeasurement> collective_measurements(std::span<const CommaSeparated> tables,
                                                           const Catalog& catalog,
                                                           std::vector<RowProblem>& problems);

}  // namespace orrery
