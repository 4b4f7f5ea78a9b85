#include "lower/stage_memory.h"

#include <algorithm>

#include "lower/held_units.h"

namespace orrery {

MemoryReport stage_memory(const StepCosts& step, int device) {
  const InFlight units = held_units(step, device);
  MemoryInputs in;
  in.dense_shard = step.layout->dense_shard.size;
  in.expert_shard = step.layout->expert_shard.size;
  in.zero = static_cast<int>(step.plan.zero);
  in.gradient_bytes = step.gradient_bytes;
  in.optimizer_bytes = step.cache->training().optimizer == Optimizer::adamw ? 12 : 8;

  // Beside what is kept, one block at a time has its recomputed activations, and under ZeRO 2 and 3
  // its whole gradients, under ZeRO 3 its own gathered weights and those fetched ahead.
  Bytes working;
  double largest_block = 0;
  const auto visit = [&](const BlockCost& block) {
    working = std::max(working, block.working);
    largest_block = std::max(largest_block, block.dense_parameters + block.expert_parameters);
  };
  for (int c = 0; c < step.chunks_held(); ++c) {
    const VirtualStage& stage = step.chunk(device, c);
    in.dense_parameters += stage.totals.dense_parameters;
    in.expert_parameters += stage.totals.expert_parameters;
    in.activations += stage.totals.saved * units.held[static_cast<std::size_t>(c)];
    in.activations +=
        stage.totals.saved_for_weight_gradient * units.pending[static_cast<std::size_t>(c)];
    // Of equal layers the first and the last tell: those computed again come first.
    const bool equal = step.cache->model().blocks.size() == 1 && stage.layers > 1;
    for (std::size_t i = 0; i < stage.layers; i += equal ? stage.layers - 1 : 1) {
      visit(step.block(stage, stage.first_layer + i));
    }
    if (stage.embedding) visit(step.kept->embedding);
    if (stage.head) visit(step.kept->head);
  }
  // Vocabulary parallelism: between its S and T pass a microbatch holds its part of the logits.
  in.dense_parameters += step.vocabulary.parameters;
  in.activations += step.vocabulary.saved * (1 + step.schedule->vocabulary_barriers);
  const bool sharded = in.dense_shard > 1 || in.expert_shard > 1;
  double unsharded_bytes = 0;
  if (sharded && in.zero >= 2) unsharded_bytes += in.gradient_bytes * largest_block;
  if (sharded && in.zero >= 3) unsharded_bytes += 2 * 2 * largest_block;
  in.transient = working + Bytes(unsharded_bytes);
  return memory(in);
}

std::string fullest_moment(const StepCosts& step, int device) {
  int held = 0;
  for (const int n : held_units(step, device).held) held += n;
  return "the first backward begins with " + std::to_string(held) +
         (step.shape.chunks > 1 ? " chunk passes in flight" : " microbatches in flight");
}

}  // namespace orrery
