#include "model/model.h"

#include <algorithm>

namespace orrery {
namespace {

// Sums over the operators of the whole model, each layer as often as it occurs.
template <class F>
double sum(const Model& model, F&& of) {
  std::vector<double> occurrences(model.blocks.size(), 0);
  for (const std::uint16_t block : model.layers) occurrences[block] += 1;
  double total = 0;
  for (const Operator& op : model.embedding.operators) total += of(op);
  for (const Operator& op : model.head.operators) total += of(op);
  for (std::size_t i = 0; i < model.blocks.size(); ++i) {
    for (const Operator& op : model.blocks[i].operators) total += occurrences[i] * of(op);
  }
  return total;
}

}  // namespace

double parameters(const Model& model) {
  return sum(model, [](const Operator& op) { return op.auxiliary ? 0 : op.parameters; });
}

double trained_parameters(const Model& model) {
  return sum(model,
             [](const Operator& op) { return op.frozen || op.auxiliary ? 0 : op.parameters; });
}

double table_parameters(const Model& model) {
  return sum(model, [](const Operator& op) {
    return op.kind == OperatorKind::embedding_bag ? op.parameters : 0;
  });
}

double expert_parameters(const Model& model) {
  return sum(model, [](const Operator& op) {
    return !op.auxiliary && op.parameter_axis == LogicalAxis::experts ? op.parameters : 0;
  });
}
double active_parameters(const Model& model) {
  const double share = model.experts > 0 ? static_cast<double>(model.experts_of_a_token) /
                                               static_cast<double>(model.experts)
                                         : 1;
  return sum(model, [share](const Operator& op) {
    if (op.auxiliary) return 0.0;
    return op.parameters * (op.parameter_axis == LogicalAxis::experts ? share : 1);
  });
}

Flops model_flops_per_sequence(const Model& model, double sequence_length, AttentionCount count,
                               double source_length, Workload workload,
                               const std::function<double(const Operator&)>& share) {
  const auto own = static_cast<double>(model.published.source_length);
  const Binding whole{.sequence_length = sequence_length,
                      .source_length = source_length > 0 ? source_length
                                       : own > 0         ? own
                                                         : sequence_length};
  return Flops(sum(model, [&](const Operator& op) {
    if (!op.counts_in_model_flops) return 0.0;
    double flops = model_flops(op, Phase::forward, whole).value();
    if (passes_of(workload).backward) {
      flops += model_flops(op, Phase::input_gradient, whole).value();
      flops += model_flops(op, Phase::weight_gradient, whole).value();
    }
    if (op.kind == OperatorKind::attention && op.attention.causal &&
        count == AttentionCount::causal) {
      // The q-th query sees min(q, w) keys: w (1 - w / 2s) in the mean, half of s without a window,
      // half of w in a chunk.
      const double window = op.attention.window > 0 ? op.attention.window : sequence_length;
      const double seen = std::min(window, sequence_length);
      flops *= 1 - seen / (2 * (op.attention.chunked ? seen : sequence_length));
    }
    return share ? flops * share(op) : flops;
  }));
}

}  // namespace orrery
