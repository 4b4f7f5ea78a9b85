// What a layer of experts launches besides its products (lower/expert_launches.h), and for what the
// host waits there: how many tokens each expert gets is copied to the host before they are sent, so
// that the device stands still from the end of that copy until the host has launched the exchange.
// Without an exchange the host waits behind the permutation, which it has launched before
// (NVIDIA/Megatron-LM core_v0.12.0 token_dispatcher.py:460 and :571, "before_finish").
#include <algorithm>
#include <vector>

#include "lower/block_lowering.h"

namespace orrery {

bool BlockLowering::in_graph(GraphModule module) const {
  const std::vector<GraphModule>& graphs = s_.costs.software.host.graph_modules;
  return std::find(graphs.begin(), graphs.end(), module) != graphs.end();
}

bool BlockLowering::in_graph(const Operator& op) const {
  if (!has_experts(block_)) return false;
  if (op.name.starts_with("attention.")) return in_graph(GraphModule::attention);
  return (op.name == "router" || op.name == "feed_forward.norm") && in_graph(GraphModule::router);
}

// Experts' products are one node however they are launched.
void BlockLowering::expert_product(PassBuilder& out, const Operator& op, Category category,
                                   const Kernel& kernel) const {
  out.compute(op.name, category, Activity(kernel), product_launches(s_, experts_of(op)));
}

void BlockLowering::route(PassBuilder& out, const Operator& op, Phase phase,
                          Category category) const {
  passes_over(out, "routing", category, routing_work(phase, s_.costs.software),
              extent(op.m) * extent(op.n));
}

void BlockLowering::count_tokens(PassBuilder& out, Category category) const {
  const HostCosts& host = s_.costs.software.host;
  const int ranks = s_.binding.ep * s_.binding.etp;
  out.launch_as_graph(in_graph(GraphModule::counting));
  passes_over(out, "count tokens", category, {0, counting_kernels(s_.plan.dispatch, ranks)}, 0);
  out.launch_as_graph(false);
  out.launch(0, counting_collectives(s_.plan.dispatch, ranks));
  // Where nothing is sent, rows are permuted meanwhile.
  if (reads_counts(block_, s_) && sends_tokens(s_.binding)) {
    out.compute("wait for the host", Category::host, StatedTime{host.collective}, 0);
  }
}

}  // namespace orrery
