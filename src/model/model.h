// A model as a chain of blocks: embedding, layers, head.
//
// Identical layers share one Block; `layers` lists, in execution order, which block each layer is.
// Parameter counts, FLOPs and activations all come from the blocks' operators: there is no second
// formula.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/architecture.h"
#include "model/operator.h"
#include "outcome/result.h"

namespace orrery {

struct Block {
  std::string name;  // "dense layer", "expert layer", "local attention layer", "embedding", "head"
  std::vector<Operator> operators;
};

struct Model {
  Architecture architecture;
  std::vector<Block> blocks;          // the distinct layers
  std::vector<std::uint16_t> layers;  // block of each layer; encoder layers first
  Block embedding;
  Block head;  // final norm, logits, loss, and multi-token prediction modules
};

// Builds the chain. Errors: a contradictory or absurd architecture (each number in range; heads,
// experts and windows consistent), naming the field.
Result<Model> build_model(const Architecture& architecture);
// The same model, frozen, with adapters. Errors: those of build_model.
Result<Model> with_adapters(const Model& model, const Adapters& adapters);

// Parameters of the whole model, adapters included, embeddings once when tied; `active_` counts
// only the top_k (and shared) experts of each layer.
double parameters(const Model& model);
double trained_parameters(const Model& model);  // all of them, or those of adapters
double active_parameters(const Model& model);

// Model FLOPs of one sequence, forward and backward: every matrix product and attention, embedding
// look-up and gradients of frozen weights excluded, logits included, no recomputation. `causal`
// halves attention.
enum class AttentionCount { full, causal };
// `source_length`: tokens of the encoder side of an encoder-decoder; 0: as many.
Flops model_flops_per_sequence(const Model& model, double sequence_length, AttentionCount count,
                               double source_length = 0);

}  // namespace orrery
