// What a training framework keeps in memory where the mathematics leaves a choice.
//
// Every field is a fact that can be found in the framework's code or measured in one tensor: which
// copy exists, in which format, until when. Bytes are per element of the tensor in question. The
// initial values are those of Megatron Core with Transformer Engine (2025); the profiles of
// catalog/software state those of other frameworks, with their sources.
#pragma once

#include <string>

#include "document/fields.h"

namespace orrery {

struct MemoryFacts {
  // --- parameters, gradients, optimizer ---

  // FSDP: the sharded parameter is its own fp32 master; the 16-bit copy exists only while gathered.
  bool parameters_are_master = false;
  // Bytes in which gradients accumulate in memory, whatever format they are reduced in (autograd's
  // own `.grad` has the format of the weight). 0: the width of the training's `gradients`.
  double gradient_bytes = 0;
  // A 16-bit gradient kept in addition to an accumulated fp32 one.
  double gradient_copy_bytes = 0;
  // Gradients narrower than fp32 are copied to fp32 all at once for the optimizer step.
  bool fp32_gradient_copies = true;
  // Buckets of flattened gradients and parameters, allocated once.
  double bucket_bytes = 0;
  // The weight gradient is added to the accumulated one inside its product. Otherwise the
  // largest matrix has a 16-bit gradient of its own for a moment.
  bool fused_weight_gradients = true;
  // If weight gradients are fused, one uninitialised 16-bit tensor per distinct shape of weight is
  // kept, which autograd receives instead of a gradient (Transformer Engine: get_dummy_wgrad).
  bool weight_gradient_placeholders = true;

  // Frozen weights are kept only in the format of the products (NeMo: fp8_params).
  bool narrow_frozen_weights = false;

  // --- activations ---

  double norm_kept_bytes = 2;  // of the input of a normalisation and its copies
  bool fused_gate = true;      // otherwise the activated gate is kept in addition to gate and up
  // Gate and up are kept in the format of the products until the backward casts them back
  // (Megatron Core: activation_func_fp8_input_store).
  bool narrow_gate_inputs = false;
  bool keeps_gathered_input = false;   // sequence parallel; otherwise gathered again
  double attention_outputs = 1;        // copies of the attention's output that are kept
  double score_bytes = 4;              // unfused attention: kept per score
  double residual_mask_bytes = 0;      // of dropout after attention and feed-forward
  bool releases_stage_outputs = true;  // what was sent to the next stage is freed at once

  // --- logits and loss, per logit ---

  bool vocabulary_parallel_loss = true;  // otherwise every rank holds all logits
  double loss_kept_bytes = 4;            // from the loss's forward to its backward
  double loss_peak_bytes = 8;            // at the fullest moment of either, logits included
  // The same if the vocabulary is divided over tensor-parallel ranks; 0: no difference.
  double sharded_loss_peak_bytes = 0;

  // --- allocator ---

  // Blocks are mapped page by page, so that a freed block serves any size
  // (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True).
  bool expandable_segments = false;
  bool operator==(const MemoryFacts&) const = default;
};

const Fields<MemoryFacts>& fields_of(const MemoryFacts*);

// The reason why these facts are impossible; empty if they are possible.
std::string memory_facts_problem(const MemoryFacts& facts);

// Deviations of a single run from the profile of its framework.
MemoryFacts with_fused_cross_entropy(MemoryFacts facts);
MemoryFacts with_unfused_norms(MemoryFacts facts);
MemoryFacts with_narrow_adapted_layers(MemoryFacts facts);  // frozen weights, inputs of the gate

}  // namespace orrery
