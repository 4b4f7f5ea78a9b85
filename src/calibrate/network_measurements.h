// Measured collectives and messages between nodes, as rows of a table.
//
// Columns: machine, accelerator, collective (those of collective_measurements.h, or send-recv for
// one message), num_gpus, num_nodes, bytes, latency_us. `bytes` follows nccl-tests
// (cost/collective/collective.h). `machine` names the fabric that is fitted; the accelerator
// determines the links inside its nodes. Source of the table shipped with the product:
// validation/kernels/README-collectives.md.
//
// A row is reported and left out if a cell is missing or not a number, if it repeats another row,
// if its ranks do not fill its nodes evenly, or if there are more than a node of the catalog has.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/calibration.h"
#include "cost/collective/collective.h"

namespace orrery {

struct NetworkMeasurement {
  std::string machine;
  std::string accelerator;
  std::optional<CollectiveKind> kind;  // nothing: one message between two ranks
  int ranks = 2;
  int nodes = 2;
  Bytes payload;
  Seconds time;
  std::string where;  // "file.csv:12"

  [[nodiscard]] int ranks_of_node() const { return ranks / nodes; }
};

bool holds_network_measurements(const CommaSeparated& table);

// The usable rows in the order of the tables.
std::vector<NetworkMeasurement> network_measurements(std::span<const CommaSeparated> tables,
                                                     std::vector<RowProblem>& problems);

}  // namespace orrery
