// Measured collectives of one node, and collectives and messages between nodes, as rows of a table.
//
// Columns: accelerator, collective (all-reduce, all-gather, reduce-scatter, all-to-all, broadcast),
// dtype, num_gpus, bytes, latency_us; between nodes machine and num_nodes as well instead of dtype,
// send-recv for one message, and `node`, one of the catalog, where the machine does not have the
// usual one of its accelerator. `bytes` follows nccl-tests (cost/collective/collective.h). Rows of
// dtype int8 ran without in-switch reduction. `machine` names the system that is fitted, of one
// node or more; the node determines the links inside and outside of it. Source of the tables
// shipped with the product: validation/kernels/README-collectives.md.
//
// A row is reported and left out if a cell is missing or not a number, if it repeats another row,
// if it is faster than the links of its accelerator allow, or if its ranks do not fill its nodes
// evenly.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/calibration.h"
#include "cluster/fabric_level.h"
#include "cost/collective/collective.h"

namespace orrery {

struct CollectiveMeasurement {
  std::string machine;  // of rows between nodes
  std::string accelerator;
  std::string node;  // of the catalog; empty: the usual one of the accelerator
  CollectiveKind kind = CollectiveKind::all_reduce;
  bool message = false;           // one, between two ranks, instead of a collective
  bool reduces_in_switch = true;  // the library was allowed to
  int ranks = 2;
  int nodes = 1;
  Bytes payload;
  Seconds time;
  std::string where;  // "file.csv:12"

  // The key of a fold, which keeps the same shape together across accelerators and element types.
  [[nodiscard]] std::string shape() const;
  [[nodiscard]] int ranks_of_node() const { return ranks / nodes; }
};

bool holds_collective_measurements(const CommaSeparated& table);
bool holds_network_measurements(const CommaSeparated& table);

// The usable rows in the order of the tables: of one node, and between nodes.
std::vector<CollectiveMeasurement> collective_measurements(std::span<const CommaSeparated> tables,
                                                           const Catalog& catalog,
                                                           std::vector<RowProblem>& problems);
std::vector<CollectiveMeasurement> network_measurements(std::span<const CommaSeparated> tables,
                                                        std::vector<RowProblem>& problems);

// A node of the catalog.
struct MeasuredNode {
  std::string architecture;
  Hertz clock;                       // of its accelerators; 0: unknown
  FabricLevel level;                 // the scale-up domain
  std::vector<FabricLevel> outside;  // levels between domains, as its datasheet has them
  std::int64_t size = 1;             // accelerators in one node; the domain may span several
};

// Those of the catalog, each looked up once.
class MeasuredNodes {
 public:
  explicit MeasuredNodes(const Catalog& catalog) : catalog_(catalog) {}
  // The scale-up domain as it is in a cluster of `ranks`, at least 8, of an accelerator or a node of
  // the catalog. Null: it has none of that name, or its accelerators are not joined in a node.
  const MeasuredNode* of(const std::string& name, std::int64_t ranks = 8);

 private:
  const Catalog& catalog_;
  std::map<std::pair<std::string, std::int64_t>, std::optional<MeasuredNode>> known_;
};

}  // namespace orrery
