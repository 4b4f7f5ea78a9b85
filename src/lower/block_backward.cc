// The backward of one operator: gradients of its input and of its weights, and the collectives that
// go with them (lower/block_lowering.h).
#include <optional>
#include <string_view>

#include "lower/block_lowering.h"

namespace orrery {

void BlockLowering::backward(PassBuilder& out, const Operator& op, Part part) {
  prefetch(out, op, Phase::input_gradient);
  if (!op.sends.empty()) receive_pooled(out);
  backward_alone(out, op, part);
  if (is_product(op) && op.bags.weights > Bytes(0)) update_module(out, op);
  if (op.boundary == Boundary::pooled) send_gradients(out, op);
}

void BlockLowering::backward_alone(PassBuilder& out, const Operator& op, Part part) {
  const Category category = category_of(op.op_class);
  // Before the first layer nothing is trained, so nothing asks for a gradient.
  if (op.frozen && op.op_class == OperatorClass::embedding) return;
  out.launch_as_graph(in_graph(op));
  if (runs_products(op)) out.launch_module();
  host_work(out, op, category, Direction::backward);
  if (hands_on(op)) {
    carry_states(out, op, category, Direction::backward);
    return;
  }
  switch (op.kind) {
    case OperatorKind::gemm:
      if (op.name == "router") route(out, op, Phase::input_gradient, category);
      if (part == Part::both && has_weight_gradient(op)) {
        backward_product(out, op, category);
      } else {
        input_gradient_product(out, op, category);
      }
      return;
    case OperatorKind::grouped_gemm: {
      const double m = rows_of_expert(op);
      cast(out, op, extent(op.m) * extent(op.n), category);
      expert_product(out, op, category, product(op, m, extent(op.k), extent(op.n), experts_of(op)));
      if (part == Part::both && has_weight_gradient(op)) {
        expert_product(out, op, category, weight_gradient(op));
        accumulate(out, op);
      }
      return;
    }
    case OperatorKind::batched_gemm:
      // One product of the same FLOPs for the gradient of either factor.
      for (int i = 0; i < op.backward_products; ++i) {
        out.compute(op.name, category, batched_product(op));
      }
      return;
    case OperatorKind::attention:
      backward_attention(out, op, category);
      return;
    case OperatorKind::elementwise:
      if (op.boundary == Boundary::combine) {
        permute(out, op, category, Direction::backward);
        exchange_tokens(out, op, Way::gradients_out, [&] {
          for (std::size_t i = block_.operators.size(); i-- > 0;) {
            if (beside_exchange(block_.operators[i])) backward(out, block_.operators[i], part);
          }
        });
      } else if (op.boundary == Boundary::dispatch) {
        if (portion_ != Portion::rest) exchange_tokens(out, op, Way::gradients_back, [] {});
        if (portion_ != Portion::exchange) permute(out, op, category, Direction::backward);
      } else {
        elementwise(out, op, Phase::input_gradient, category);
      }
      return;
    case OperatorKind::embedding:
      if (sharded_sequence()) {
        out.wait_for(transfer(out, "all-gather of gradients",
                              tensor_collective(CollectiveKind::all_gather,
                                                activation_bytes(extent(op.m), extent(op.k)))));
      }
      elementwise(out, op, Phase::input_gradient, category);
      return;
    case OperatorKind::embedding_bag:
      update_tables(out, op, category);
      return;
    case OperatorKind::cross_entropy:
      if (gathers_logits()) {
        gathered_loss(out, op, Phase::input_gradient, category);
        return;
      }
      elementwise(out, op, Phase::input_gradient, category);
      return;
  }
}

void BlockLowering::backward_product(PassBuilder& out, const Operator& op, Category category) {
  const double m = extent(op.m);
  const double n = extent(op.n);
  const double k = extent(op.k);
  const Kernel input_gradient = this->input_gradient(op);
  const Kernel of_weights = weight_gradient(op);
  const bool tensor_parallel = s_.binding.tp > 1;
  cast(out, op, m * n / (op.boundary == Boundary::row && sharded_sequence() ? s_.binding.tp : 1),
       category);
  if (tensor_parallel && op.boundary == Boundary::column) {
    Seconds gather;
    std::optional<NodeIndex> gathered;
    if (sharded_sequence() && !s_.costs.software.memory.keeps_gathered_input) {
      const Communication inputs =
          tensor_collective(CollectiveKind::all_gather, activation_bytes(m, k));
      gather = time(inputs);
      gathered = transfer(out, "all-gather of inputs", inputs);
    }
    out.slowed_compute(op.name, category, input_gradient, gather);
    Communication reduce = tensor_collective(reduction(), activation_bytes(m, k));
    reduce.times = input_gradients(op);
    if (!sums_up(op)) reduce = {};
    copy_sequence(out, category, reduce.payload * reduce.times);
    const bool overlaps = s_.costs.software.overlaps_input_gradients;
    constexpr std::string_view kReduction = "reduction of input gradients";
    if (sums_late(block_.residual)) {
      // The weight gradient is among what runs beside it.
      sum_up(out, kReduction, reduce);
      out.wait_for(gathered);
      out.compute(op.name, category, of_weights);
      accumulate(out, op);
      return;
    }
    const auto reduced = transfer(out, kReduction, reduce);
    out.wait_for(gathered);
    if (!overlaps) out.wait_for(reduced);
    out.slowed_compute(op.name, category, of_weights, overlaps ? time(reduce) : Seconds(0));
    accumulate(out, op);
    out.wait_for(reduced);
  } else if (tensor_parallel && op.boundary == Boundary::row && sharded_sequence()) {
    const Communication gather =
        tensor_collective(CollectiveKind::all_gather, activation_bytes(m, n));
    if (s_.plan.overlap.tensor_parallel) {
      pipelined(out, op, category, gather, "all-gather of output gradients", Order::transfer_first,
                m, k, n);
    } else {
      out.wait_for(transfer(out, "all-gather of output gradients", gather));
      copy_sequence(out, category, gather.payload);
      out.compute(op.name, category, input_gradient);
    }
    out.compute(op.name, category, of_weights);
    accumulate(out, op);
  } else {
    out.compute(op.name, category, input_gradient);
    out.compute(op.name, category, of_weights);
    accumulate(out, op);
  }
}

void BlockLowering::input_gradient_product(PassBuilder& out, const Operator& op,
                                           Category category) {
  const double m = extent(op.m);
  const double n = extent(op.n);
  const double k = extent(op.k);
  const bool tensor_parallel = s_.binding.tp > 1;
  cast(out, op, m * n / (op.boundary == Boundary::row && sharded_sequence() ? s_.binding.tp : 1),
       category);
  if (tensor_parallel && op.boundary == Boundary::column) {
    constexpr std::string_view kReduction = "reduction of input gradients";
    Communication reduce = tensor_collective(reduction(), activation_bytes(m, k));
    reduce.times = input_gradients(op);
    if (s_.plan.overlap.tensor_parallel || s_.plan.overlap.tensor_tiles) {
      pipelined(out, op, category, reduce, kReduction, Order::product_first, m, k, n);
    } else {
      out.compute(op.name, category, product(op, m, k, n));
      if (!sums_up(op)) reduce = {};
      copy_sequence(out, category, reduce.payload * reduce.times);
      sum_up(out, kReduction, reduce);
    }
  } else if (tensor_parallel && op.boundary == Boundary::row && sharded_sequence()) {
    constexpr std::string_view kGather = "all-gather of output gradients";
    const Communication gather =
        tensor_collective(CollectiveKind::all_gather, activation_bytes(m, n));
    if (s_.plan.overlap.tensor_parallel) {
      pipelined(out, op, category, gather, kGather, Order::transfer_first, m, k, n);
    } else {
      out.wait_for(transfer(out, kGather, gather));
      copy_sequence(out, category, gather.payload);
      out.compute(op.name, category, product(op, m, k, n));
    }
  } else {
    out.compute(op.name, category, input_gradient(op));
  }
}

}  // namespace orrery
