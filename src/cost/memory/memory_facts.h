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

// What is kept of a gated feed-forward, and as what it was made.
enum class Gate {
  fused,    // gate and up are one product; activation and what multiplies it are one kernel
  narrow,   // the same, kept as narrow as products' inputs (activation_func_fp8_input_store)
  apart,    // the activation is a kernel of its own, so that its result is kept as well
  modules,  // and gate and up are two products: without sequence parallelism each reduces its
            // input gradient over tensor-parallel ranks by itself
};

// How the loss over the vocabulary is computed (bytes_of says what it holds).
enum class Loss {
  in_place,              // the gradient overwrites the 16-bit logits
  fused,                 // an fp32 softmax is kept
  fp32_softmax,          // of an fp32 copy of the logits
  log_softmax,           // framework operators: fp32 copy, log-softmax, its gradient
  sharded_log_softmax,   // the same on vocabulary shards: of the gradient one-hot, exponential, sum
  gathered_log_softmax,  // on all logits, which every tensor-parallel rank gathers
};

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
  Gate gate = Gate::fused;
  bool keeps_gathered_input = false;  // sequence parallel; otherwise gathered again
  // Unfused attention: kept of one score. From 6 on an eager softmax works on an fp32 copy, and the
  // next product reads a 16-bit one of its result.
  double score_bytes = 4;
  double residual_mask_bytes = 0;      // dropout behind attention and feed-forward
  bool releases_stage_outputs = true;  // what was sent to the next stage is freed at once

  Loss loss = Loss::fused;

  // --- allocator ---

  // Blocks are mapped page by page, so that a freed block serves any size
  // (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True).
  bool expandable_segments = false;
  bool operator==(const MemoryFacts&) const = default;
};

Fields<MemoryFacts> fields_of(const MemoryFacts*);

// Of one logit.
struct LossBytes {
  double kept = 0;           // from the loss's forward to its backward
  double peak = 0;           // at the fullest moment of either, logits included
  double sharded_peak = 0;   // the same where the vocabulary is cut over tensor-parallel ranks
  bool gathers_all = false;  // instead of being cut
};
const LossBytes& bytes_of(Loss loss);

// The reason why these facts are impossible; empty if they are possible.
std::string memory_facts_problem(const MemoryFacts& facts);

// Deviations of a single run from the profile of its framework.
MemoryFacts with_fused_cross_entropy(MemoryFacts facts);
MemoryFacts with_unfused_norms(MemoryFacts facts);
MemoryFacts with_narrow_adapted_layers(MemoryFacts facts);  // frozen weights, inputs of the gate

}  // namespace orrery
