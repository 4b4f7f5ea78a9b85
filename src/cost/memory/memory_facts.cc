#include "cost/memory/memory_facts.h"

#include <algorithm>
#include <array>

namespace orrery {

const Fields<MemoryFacts>& fields_of(const MemoryFacts*) {
  using F = MemoryFacts;
  static const Fields<F> kTable =
      Fields<F>("memory")
          .optional("parameters_are_master", &F::parameters_are_master,
                    "sharded parameters are fp32 and their own master")
          .optional("gradient_bytes", &F::gradient_bytes,
                    "of an accumulated gradient; 0: as the training's gradients")
          .optional("gradient_copy_bytes", &F::gradient_copy_bytes,
                    "of a 16-bit gradient beside an fp32 one")
          .optional("fp32_gradient_copies", &F::fp32_gradient_copies,
                    "narrower gradients are copied to fp32 for the step")
          .optional("bucket_bytes", &F::bucket_bytes, "communication buckets, allocated once")
          .optional("fused_weight_gradients", &F::fused_weight_gradients,
                    "products add into the accumulated gradient")
          .optional("weight_gradient_placeholders", &F::weight_gradient_placeholders,
                    "a 16-bit stand-in for each shape of weight")
          .optional("narrow_frozen_weights", &F::narrow_frozen_weights,
                    "frozen weights are kept in the format of the products alone")
          .optional("norm_kept_bytes", &F::norm_kept_bytes, "of a norm's input and its copies")
          .optional("fused_gate", &F::fused_gate, "gate and product are one kernel")
          .optional("narrow_gate_inputs", &F::narrow_gate_inputs,
                    "gate and up are kept in the format of the products")
          .optional("keeps_gathered_input", &F::keeps_gathered_input,
                    "sequence parallel inputs stay gathered")
          .optional("attention_outputs", &F::attention_outputs, "kept copies of the output")
          .optional("score_bytes", &F::score_bytes, "kept of a score of unfused attention")
          .optional("residual_mask_bytes", &F::residual_mask_bytes, "dropout of the residuals")
          .optional("releases_stage_outputs", &F::releases_stage_outputs,
                    "what was sent to the next stage is freed")
          .optional("vocabulary_parallel_loss", &F::vocabulary_parallel_loss,
                    "logits stay cut over tensor-parallel ranks")
          .optional("loss_kept_bytes", &F::loss_kept_bytes, "of a logit, until its backward")
          .optional("loss_peak_bytes", &F::loss_peak_bytes, "of a logit, at most")
          .optional("sharded_loss_peak_bytes", &F::sharded_loss_peak_bytes,
                    "the same over tensor-parallel ranks; 0: no difference")
          .optional("expandable_segments", &F::expandable_segments,
                    "the allocator maps page by page");
  return kTable;
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
                             Bound{"attention_outputs", f.attention_outputs, 16},
                             Bound{"score_bytes", f.score_bytes, 64},
                             Bound{"residual_mask_bytes", f.residual_mask_bytes, 64},
                             Bound{"loss_kept_bytes", f.loss_kept_bytes, 64},
                             Bound{"loss_peak_bytes", f.loss_peak_bytes, 64},
                             Bound{"sharded_loss_peak_bytes", f.sharded_loss_peak_bytes, 64}};
  const auto* wrong = std::find_if(bounds.begin(), bounds.end(), [](const Bound& b) {
    return !(b.value >= 0 && b.value <= b.most);
  });
  if (wrong != bounds.end()) return "memory." + std::string(wrong->name) + " is out of range";
  if (f.loss_peak_bytes < f.loss_kept_bytes) {
    return "memory.loss_peak_bytes is below loss_kept_bytes, which it contains";
  }
  return "";
}

// The gradient overwrites the 16-bit logits, no fp32 copy (TransformerEngine, pytorch/triton/
// cross_entropy.py; flash_attn/losses/cross_entropy.py with inplace_backward).
MemoryFacts with_fused_cross_entropy(MemoryFacts f) {
  f.loss_kept_bytes = 2;
  f.loss_peak_bytes = 2;
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
  f.narrow_gate_inputs = true;
  return f;
}

}  // namespace orrery
