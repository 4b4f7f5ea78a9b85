// Builds the graph of one pass of a block and simulates it.
//
// Kernels follow each other on the computing stream; transfers lie on one stream per mesh axis. A
// transfer starts when the kernel before it has ended and runs beside what follows; a kernel waits
// for every transfer announced by wait_for since the last kernel. A kernel beside which a transfer
// runs is followed by an explicit loss (lower/cost_context.h, contention).
//
// The host launches what a pass is made of, one after the other:
//
//   host = kernels * c_kernel + modules * c_product + collectives * c_collective     (s)
//
// or one launch if a graph holds them (plan/software.h, HostCosts). It runs ahead of the device; a
// pass in which the device must wait for it is finished with that idle time behind its last kernel.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "plan/software.h"
#include "timeline/breakdown.h"
#include "units/picoseconds.h"

namespace orrery {

// One direction of one block: its graph, and what the simulation of it gives.
struct BlockPass {
  Graph graph;
  Picoseconds time;
  Breakdown breakdown;  // total() == time
  Picoseconds host;     // what launching it takes the host
  [[nodiscard]] Picoseconds computing() const;
};

class PassBuilder {
 public:
  // The share of computing throughput that a collective takes while it runs beside it.
  PassBuilder(double compute_share_lost, const HostCosts& host);

  // One kernel, or a chain of them as one node.
  void compute(std::string_view name, Category category, Seconds time, int kernels = 1);

  // A module of the framework whose kernels follow.
  void launch_module() { ++modules_; }

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

  // The join: the pass ends when all its streams have, after `slowed` that computing loses to
  // communication of another pass, and after the device has waited for the host for `idle`.
  BlockPass finish(Picoseconds idle = {}, Picoseconds slowed = {});

 private:
  double compute_share_lost_;
  const HostCosts& host_;
  int kernels_ = 0, modules_ = 0, collectives_ = 0;
  GraphBuilder builder_;
  std::array<StreamIndex, 4> streams_;  // compute, tp, cp, ep
  std::vector<NodeIndex> waits_;
  std::optional<NodeIndex> last_;
};

}  // namespace orrery
