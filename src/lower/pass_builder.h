// Builds the graph of one pass of a block and simulates it.
//
// Kernels follow each other on the computing stream; transfers lie on one stream per mesh axis. A
// transfer starts when the kernel before it has ended and runs beside what follows; a kernel waits
// for every transfer announced by wait_for since the last kernel. A kernel beside which a transfer
// runs is followed by an explicit loss (lower/cost_context.h, contention).
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "timeline/breakdown.h"
#include "units/picoseconds.h"

namespace orrery {

// One direction of one block: its graph, and what the simulation of it gives.
struct BlockPass {
  Graph graph;
  Picoseconds time;
  Breakdown breakdown;  // total() == time
  [[nodiscard]] Picoseconds computing() const;
};

class PassBuilder {
 public:
  // The share of computing throughput that a collective takes while it runs beside it.
  explicit PassBuilder(double compute_share_lost);

  void compute(std::string_view name, Category category, Seconds time);

  // A transfer that starts when the last kernel has ended (or at once) and runs beside what
  // follows. Nothing waits for it until wait_for. Returns nothing for a transfer that takes no
  // time.
  std::optional<NodeIndex> transfer(std::string_view name, StreamKind stream, Category category,
                                    Seconds time, NodeKind kind = NodeKind::collective);
  void wait_for(std::optional<NodeIndex> node) {
    if (node) waits_.push_back(*node);
  }
  // A kernel beside which `transfer_time` of communication runs: slowed by it.
  void slowed_compute(std::string_view name, Category category, Seconds time,
                      Seconds transfer_time);

  // The join: the pass ends when all its streams have.
  BlockPass finish();

 private:
  double compute_share_lost_;
  GraphBuilder builder_;
  std::array<StreamIndex, 4> streams_;  // compute, tp, cp, ep
  std::vector<NodeIndex> waits_;
  std::optional<NodeIndex> last_;
};

}  // namespace orrery
