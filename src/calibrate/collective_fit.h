// Parameters of the collectives of one accelerator generation from measurements of one node.
//
// Fitted by log(predicted / measured) with the robust loss of calibrate/fit.h:
//
//   ring.base, ring.<link>        start and step of LL, LL128 and Simple; trees keep NCCL's
//                                 differences
//   low_latency_total             ceiling of LL
//   low_latency_128_share         share of the payload in what LL128 sends
//   ring_share                    share of the links' bandwidth that a ring reaches
//   local_copy                    rate at which a rank copies its own part
//   in_switch.step, .efficiency   where the switch reduces
//   pairwise.base, .peer, .efficiency, .low_latency_ceiling
//                                 all-to-all and other exchanges between pairs
//   low_latency_share, host_path.socket, .node
//                                 where accelerators reach each other over PCIe
//
// Two choices of the library are tried in turn, and the best fit is kept: low_latency_until (no
// limit or some MiB) and latency_overlap (1 or 2). Parameters of links between nodes are not fitted
// here.
//
// Valid where one node was measured with 2, 4 and 8 members; the levels are those that a cluster of
// the catalog would have. Deterministic. About 10 s for a thousand rows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibrate/collective_measurements.h"
#include "calibrate/fit.h"
#include "cluster/fabric_level.h"
#include "cost/collective/collective_parameters.h"

namespace orrery {

// Measurements of one generation, with the level that joins each accelerator's node.
struct CollectiveGeneration {
  std::string architecture;
  Hertz clock;                 // of the accelerator measured first; 0: unknown
  CollectiveParameters start;  // what the catalog holds now
  std::vector<CollectiveMeasurement> rows;
  std::vector<std::vector<FabricLevel>> levels;  // of each row; with or without reduction
};

// By architecture, in order of first appearance. Rows of accelerators without a node in the catalog
// become problems. Errors: parameters that cannot be read.
Result<std::vector<CollectiveGeneration>> collective_generations(
    std::vector<CollectiveMeasurement> rows, const Catalog& catalog,
    std::vector<RowProblem>& problems);

struct FittedCollectives {
  CollectiveParameters parameters;
  Fit fit;
};

// Fits the rows with these indices. Errors: those of fit().
Result<FittedCollectives> fit_collectives(const CollectiveGeneration& generation,
                                          std::span<const std::size_t> rows);

// What is known of a generation that was not measured, whose accelerators run at `clock` and are
// joined by `link`: `facts`, with the geometric mean over `others` of every quantity that is fitted
// but two. NCCL publishes the ceiling of LL for each generation (llMaxBws in graph/tuning.cc). A
// rank copies its own part with the same number of thread blocks in every generation, so the mean is
// taken of bytes per clock cycle (Hopper 532, Blackwell 539); of the rates where a clock is unknown.
CollectiveParameters typical_parameters(const CollectiveParameters& facts, LinkKind link,
                                        Hertz clock, std::span<const CollectiveGeneration> others);

Seconds predicted_time(const CollectiveGeneration& generation, std::size_t row,
                       const CollectiveParameters& parameters);

}  // namespace orrery
