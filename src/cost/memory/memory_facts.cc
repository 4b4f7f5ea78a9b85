#include "cost/memory/memory_facts.h"

#include <algorithm>
#include <array>

namespace orrery {

Fields<MemoryFacts> fields_of(const MemoryFacts*) {
  using F = MemoryFacts;
  return Fields<F>("memory")
      .optional<&F::parameters_are_master>("sharded parameters are fp32 and their own master")
      .optional<&F::gradient_bytes>("of an accumulated gradient; 0: as the training's gradients")
      .optional<&F::gradient_copy_bytes>("of a 16-bit gradient beside an fp32 one")
      .optional<&F::fp32_gradient_copies>("narrower gradients are copied to fp32 for the step")
      .optional<&F::bucket_bytes>("communication buckets, allocated once")
      .optional<&F::fused_weight_gradients>("products add into the accumulated gradient")
      .optional<&F::weight_gradient_placeholders>("a 16-bit stand-in for each shape of weight")
      .optional<&F::narrow_frozen_weights>(
          "frozen weights are kept in the format of the products alone")
      .optional<&F::norm_kept_bytes>("of a norm's input and its copies")
      .optional<&F::gate>("what is kept of a gated feed-forward")
      .optional<&F::keeps_gathered_input>("sequence parallel inputs stay gathered")
      .optional<&F::score_bytes>("kept of a score of unfused attention")
      .optional<&F::residual_mask_bytes>("dropout of the residuals")
      .optional<&F::releases_stage_outputs>("what was sent to the next stage is freed")
      .optional<&F::loss>("what the loss makes of the logits")
      .optional<&F::expandable_segments>("the allocator maps page by page");
}

std::string memory_facts_problem(const MemoryFacts& f) {
  struct Bound {
    std::string_view name;
    double value, most;
  };
  // Limits far above what any framework uses: fp32 has 4 bytes, and a bucket fits into a GPU.
  const std::array bounds = {Bound{"gradient_bytes", f.gradient_bytes, 8},
                             Bound{"gradient_copy_bytes", f.gradient_copy_bytes, 8},
                             Bound{"bucket_bytes", f.bucket_bytes, 1e12},
                             Bound{"norm_kept_bytes", f.norm_kept_bytes, 64},
                             Bound{"score_bytes", f.score_bytes, 64},
                             Bound{"residual_mask_bytes", f.residual_mask_bytes, 64}};
  const auto* wrong = std::ranges::find_if(
      bounds, [](const Bound& b) { return !(b.value >= 0 && b.value <= b.most); });
  return wrong == bounds.end() ? "" : "memory." + std::string(wrong->name) + " is out of range";
}

// In place: TransformerEngine, pytorch/triton/cross_entropy.py; flash_attn/losses/cross_entropy.py
// with inplace_backward. fp32 softmax: 16-bit logits, fp32 copy and the softmax made of it
// (megatron/core/tensor_parallel/cross_entropy.py). Log-softmax: torch.nn.functional.cross_entropy
// on fp32 logits, 2 + 4 + 4 (kept) and in the backward the gradient of the log-softmax, 4; on
// shards torch/distributed/tensor/parallel/loss.py, in its backward log-softmax, one-hot gradient,
// exponential and their sum in fp32; gathered: both gradients and a 16-bit one (Aleph-Alpha/scaling
// 01b9d21, transformer/model/losses/cross_entropy.py).
const LossBytes& bytes_of(Loss loss) {
  static constexpr LossBytes kBytes[] = {{2, 2, 2},   {4, 8, 8},   {4, 10, 10},
                                         {6, 14, 14}, {6, 14, 18}, {6, 20, 20, true}};
  return kBytes[static_cast<std::size_t>(loss)];
}

MemoryFacts with_fused_cross_entropy(MemoryFacts f) {
  f.loss = Loss::in_place;
  return f;
}

// A normalisation of single PyTorch operators in fp32 keeps two fp32 copies of its input, for the
// mean square and for the quotient, and the 16-bit normalised value that meets the weight. Source:
// which plans of the unfused rows of validation/measured/aleph-alpha-layouts.csv run out of memory
// leaves 9 to 11 bytes; the order of operators of that version is not published.
MemoryFacts with_unfused_norms(MemoryFacts f) {
  f.norm_kept_bytes = 10;
  return f;
}

MemoryFacts with_narrow_adapted_layers(MemoryFacts f) {
  f.narrow_frozen_weights = true;
  if (f.gate == Gate::fused) f.gate = Gate::narrow;
  return f;
}

}  // namespace orrery
