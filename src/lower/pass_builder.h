// Builds the graph of one pass of a block and simulates it.
//
// Kernels follow each other on the computing stream; transfers lie on one stream per mesh axis. A
// transfer starts when the kernel before it has ended and runs beside what follows; a kernel waits
// for every transfer announced by wait_for since the last kernel. A kernel beside which a transfer
// runs is followed by an explicit loss (lower/cost_context.h, contention). Durations are prices of
// the operations (lower/price.h).
//
// The host launches what a pass is made of, one after the other:
//
//   host = kernels * c_kernel + modules * c_product + collectives * c_collective     (s)
//
// or one launch if a graph holds them (plan/software.h, HostCosts). It runs ahead of the device; a
// pass in which the device must wait for it is finished with that idle time behind its last kernel.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lower/price.h"
#include "lower/step_category.h"
#include "lower/step_stream.h"
#include "timeline/breakdown.h"

namespace orrery {

// What a kernel loses to the transfers beside it.
inline constexpr std::string_view kSlowed = "slowed by communication";

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
  // `compute_share_lost`: of computing throughput, what a collective takes while it runs beside it.
  // Communications name their groups by their place in `groups`.
  PassBuilder(double compute_share_lost, const CostContext& costs, std::span<const Group> groups);

  // One kernel, or a chain of them as one node.
  void compute(std::string_view name, Category category, const Kernel& kernel) {
    compute(name, category, kernel, kernel.launches);
  }
  // Whatever holds the computing stream, for which the host launches so many kernels.
  void compute(std::string_view name, Category category, const Activity& activity, int launches);

  // A module of the framework whose kernels follow.
  void launch_module() { ++modules_; }

  // A transfer that starts when the last kernel has ended (or at once) and runs beside what
  // follows. Nothing waits for it until wait_for. Returns nothing for a transfer that takes no
  // time.
  std::optional<NodeIndex> transfer(std::string_view name, StepStream stream, Category category,
                                    const Activity& activity, NodeKind kind = NodeKind::collective);
  void wait_for(std::optional<NodeIndex> node) {
    if (node) waits_.push_back(*node);
  }
  // A kernel beside which `transfer_time` of communication runs: slowed by it.
  void slowed_compute(std::string_view name, Category category, const Activity& activity,
                      Seconds transfer_time);

  // The join: the pass ends when all its streams have, after `slowed` that computing loses to
  // communication of another pass, and after the device has waited for the host for `idle`.
  BlockPass finish(Picoseconds idle = {}, Picoseconds slowed = {});

 private:
  NodeIndex add(NodeKind kind, std::string_view name, Category category, StepStream stream,
                Picoseconds duration, OperationParts parts, std::span<const NodeIndex> after = {});

  double compute_share_lost_;
  const CostContext& costs_;
  std::span<const Group> groups_;
  int kernels_ = 0, modules_ = 0, collectives_ = 0;
  GraphBuilder builder_{step_categories()};
  std::vector<NodeIndex> waits_;
  std::optional<NodeIndex> last_;  // on the computing stream
  Picoseconds last_time_;
};

}  // namespace orrery
