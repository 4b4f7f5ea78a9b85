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
//   host = kernels * c_kernel + modules * c_product + collectives * c_collective
//          + operators that launch nothing * c_dispatch                             (s)
//
// or one launch if a graph holds them (plan/software.h, HostCosts). One graph holds what is captured
// of a pass, and of either half of a microbatch; it is assumed to cost as much as a module with one
// kernel. The host runs ahead of the device; a pass in which the device must wait for it is finished
// with that idle time behind its last kernel.
#pragma once

#include <array>
#include <cstddef>
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

  // Halves of a microbatch that take turns (lower/block_lowering.h): what one waits for, the other
  // does not, and its kernels are slowed by the transfers of the one that waits.
  void turn_to(std::size_t half) { half_ = half; }
  [[nodiscard]] bool waits() const { return !waits_[half_].empty(); }

  // What the next kernel waits for, a transfer of the other half: those behind it are still under way.
  void wait_for_other_half(NodeIndex node);

  // A transfer that follows the last kernel of a block overlaps with the next block, which waits for
  // it where its own half, or module, does. Since identical blocks follow each other, it is emitted at
  // the start of its own block instead: there is still one such transfer per block.
  struct Carried {
    std::size_t ordinal = 0;  // among the transfers of the pass
    std::string_view name;
    StepStream stream = StepStream::tp;
    Category category = Category::exposed_tp;
    Activity activity;
    std::size_t half = 0;
    Picoseconds time;
    NodeIndex node{};
  };
  // Those that a half still waits for, and `late`.
  [[nodiscard]] std::vector<Carried> unfinished(std::optional<NodeIndex> late) const;
  // Call at the start of a pass that is built again; the same transfers then take no time at its end.
  void carry(std::vector<Carried> carried);
  [[nodiscard]] const std::vector<Carried>& carried() const { return carried_; }

  // A module of the framework whose kernels follow.
  void launch_module() { modules_ += graph_ ? 0 : 1; }
  // Whether what follows is launched by the graph of the pass, up to the next call that says
  // otherwise.
  void launch_as_graph(bool graph);
  // What the host launches beside what holds the streams for long.
  void launch(int kernels, int collectives);
  // Operators that launch nothing.
  void dispatch(int operators) { operators_ += graph_ ? 0 : operators; }

  // A transfer that starts when the last kernel has ended (or at once) and runs beside what
  // follows. Nothing waits for it until wait_for. Returns nothing for a transfer that takes no
  // time.
  std::optional<NodeIndex> transfer(std::string_view name, StepStream stream, Category category,
                                    const Activity& activity, NodeKind kind = NodeKind::collective);
  void wait_for(std::optional<NodeIndex> node) {
    if (node) waits_[half_].push_back(*node);
  }
  // A kernel beside which `transfer_time` of communication runs: slowed by it, by the pass's share or
  // a share of its own.
  void slowed_compute(std::string_view name, Category category, const Activity& activity,
                      Seconds transfer_time, std::optional<double> share_lost = {});

  // The join: the pass ends when all its streams have, after `slowed` that computing loses to
  // communication of another pass, and after the device has waited for the host for `idle`.
  BlockPass finish(Picoseconds idle = {}, Picoseconds slowed = {});

 private:
  NodeIndex add(NodeKind kind, std::string_view name, Category category, StepStream stream,
                Picoseconds duration, OperationParts parts, std::span<const NodeIndex> after = {});
  void lose(Picoseconds transfer_time, double share_lost);

  double compute_share_lost_;
  const CostContext& costs_;
  std::span<const Group> groups_;
  int kernels_ = 0, modules_ = 0, collectives_ = 0, operators_ = 0;
  bool graph_ = false;
  std::array<bool, 2> launched_graph_{};  // of each half
  GraphBuilder builder_{step_categories()};
  std::array<std::vector<NodeIndex>, 2> waits_;  // of each half
  std::array<Picoseconds, 2> under_way_;         // transfers of it that nothing has waited for
  std::size_t half_ = 0;
  std::size_t transfers_ = 0;
  std::vector<Carried> emitted_;  // every transfer of the pass, of which some may be carried
  std::vector<Carried> carried_;
  std::optional<NodeIndex> last_;  // on the computing stream
  Picoseconds last_time_;
};

}  // namespace orrery
