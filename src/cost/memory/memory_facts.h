// What a training framework keeps in memory where the mathematics leaves a choice.
//
// Every field is a fact that can be read in the framework's code or measured in one tensor: which
// copy exists, in which format, until when. Bytes are per element of the tensor that the field
// names. The initial values are those of Megatron Core with Transformer Engine (2025); the profiles
// of catalog/software state those of other frameworks, with the files they were read in.
#pragma once

#include <string>

#include "document/fields.h"

namespace orrery {

struct MemoryFacts {
  // --- parameters, gradients, optimizer ---

  // FSDP: the sharded parameter is its own fp32 master; the 16-bit copy exists only while gathered.
  bool parameters_are_master = false;
  // Gradients accumulate in this width in memory whatever they are reduced in (autograd's own
  // `.grad` has the format of the weight). 0: the width of the training's `gradients`.
  double gradient_bytes = 0;
  // A 16-bit gradient held beside an fp32 accumulated one, if there is one.
  double gradient_copy_bytes = 0;
  // Gradients narrower than fp32 are copied to fp32 all at once for the optimizer step.
  bool fp32_gradient_copies = true;
  // Buckets of flattened gradients and parameters, allocated once.
  double bucket_bytes = 0;
  // The weight gradient is added to the accumulated one inside its product. Otherwise the
  // largest matrix has a 16-bit gradient of its own for a moment.
  bool fused_weight_gradients = true;
  // One uninitialised 16-bit tensor per distinct shape of weight is kept for autograd to pass round
  // when weight gradients are fused (Transformer Engine: get_dummy_wgrad).
  bool weight_gradient_placeholders = true;

  // Frozen weights are kept in the format of the products alone (NeMo: fp8_params).
  bool narrow_frozen_weights = false;

  // --- activations ---

  double norm_kept_bytes = 2;  // of the input of a normalisation and its copies
  bool fused_gate = true;      // otherwise the activated gate is kept as well as gate and up
  // Gate and up are kept in the format of the products until the backward casts them back
  // (Megatron Core: activation_func_fp8_input_store).
  bool narrow_gate_inputs = false;
  bool keeps_gathered_input = false;   // sequence parallel; otherwise gathered again
  double attention_outputs = 1;        // copies of the attention's output that are kept
  double score_bytes = 4;              // unfused attention: kept of one score
  double residual_mask_bytes = 0;      // dropout behind attention and feed-forward
  bool releases_stage_outputs = true;  // what was sent to the next stage is freed at once

  // --- logits and loss, per logit ---

  bool vocabulary_parallel_loss = true;  // otherwise every rank holds all logits
  double loss_kept_bytes = 4;            // from the loss's forward to its backward
  double loss_peak_bytes = 8;            // at the fullest moment of either, logits included
  // The same where the vocabulary is cut over tensor-parallel ranks; 0: no difference.
  double sharded_loss_peak_bytes = 0;

  // --- allocator ---

  // Blocks are mapped page by page, so that a freed one serves any size
  // (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True).
  bool expandable_segments = false;
  bool operator==(const MemoryFacts&) const = default;
};

const Fields<MemoryFacts>& fields_of(const MemoryFacts*);

// Why these facts are impossible; empty if they are possible.
std::string memory_facts_problem(const MemoryFacts& facts);

// Deviations of a single run from the profile of its framework.
MemoryFacts with_fused_cross_entropy(MemoryFacts facts);
MemoryFacts with_unfused_norms(MemoryFacts facts);
MemoryFacts with_narrow_adapted_layers(MemoryFacts facts);  // frozen weights, inputs of the gate

}  // namespace orrery
