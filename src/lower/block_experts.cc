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

// What cuda_graph_scope captures: with `attn` attention and its norm in every layer, with
// `moe_router` the norm behind it, the router and the shared expert unless that runs beside an
// exchange. Source: NVIDIA/Megatron-LM core_v0.16.0 megatron/core/transformer/
// transformer_layer.py:942 to 1005 (_get_submodules_under_cudagraphs, _te_cuda_graph_capture: one
// graph a layer), moe/moe_layer.py:285 to 310 and :390 to 394, cuda_graphs.py:1648 to 1661.
bool BlockLowering::in_graph(const Operator& op) const {
  if (op.name.starts_with("attention.")) return in_graph(GraphModule::attention);
  if (!has_experts(block_) || beside_exchange(op)) return false;
  const auto routes_or_shares = [](const Operator& part) {
    return part.name == "router" ||
           (part.name.starts_with("shared_expert.") && part.name != "shared_expert.sum");
  };
  const bool norm = op.name == "feed_forward.norm" && &op != &block_.operators.back() &&
                    routes_or_shares(*(&op + 1));
  return (norm || routes_or_shares(op)) && in_graph(GraphModule::router);
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
