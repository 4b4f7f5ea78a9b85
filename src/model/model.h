// What every family of models gives (family.h): a chain of blocks of operators, from the embedding
// through the layers to the head, and the few numbers that plans and prices ask for.
//
// Identical layers share one Block; `layers` lists, in execution order, which block each layer is.
// Parameter counts, FLOPs and activations all come from the blocks' operators: there is no second
// formula.
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/operator.h"
#include "model/workload.h"

namespace orrery {

struct Block {
  std::string name;  // "dense layer", "expert layer", "local attention layer", "embedding", "head"
  std::vector<Operator> operators;
  double input_width = 0;  // elements of a row of its input; 0: the model's width
  Residual residual = Residual::standard;
};

struct ModelFamily;

// How the published model was trained; 0: not known.
struct PublishedTraining {
  std::int64_t sequence_length = 0;
  std::int64_t global_batch_tokens = 0;
  std::int64_t source_length = 0;  // of the text beside an image; 0: as long as the sequence
};

struct Model {
  const ModelFamily* family = nullptr;
  std::string name = "unnamed";
  std::vector<Block> blocks;          // the distinct layers
  std::vector<std::uint16_t> layers;  // block of each layer; encoder layers first
  Block embedding;
  Block head;                     // final norm, logits, loss, and multi-token prediction modules
  double width = 0;               // elements of a token between layers
  std::int64_t tensor_parts = 1;  // what tensor parallelism divides: attention heads
  std::int64_t experts = 0;       // what expert parallelism divides; 0: nothing
  std::int64_t experts_of_a_token = 0;  // of these, that a token is sent to
  std::int64_t tables = 0;              // embedding tables that are divided over ep ranks
  std::int64_t towers = 0;              // that modules of tables are made for; 0: any number
  bool ties_ends = false;               // the embedding's weights are those of the logits
  PublishedTraining published;
  std::vector<std::string> assumed;  // where its description was not understood for sure
  std::any fields;                   // what the family built it from
};

// Parameters of the whole model, adapters included, embeddings once when tied; `active_` counts
// only the top_k (and shared) experts of each layer.
double parameters(const Model& model);
double trained_parameters(const Model& model);  // all of them, or those of adapters
double table_parameters(const Model& model);    // of embedding tables that ranks share
double active_parameters(const Model& model);
double expert_parameters(const Model& model);  // that expert parallelism divides

// Model FLOPs of one sequence, forward and, if the workload has one, backward: every matrix product
// and attention, embedding look-up and gradients of frozen weights excluded, logits included, no
// recomputation. `causal` halves attention.
enum class AttentionCount { full, causal };
// `source_length`: tokens of the encoder side of an encoder-decoder, or of the text beside an image;
// 0: the model's own.
// `share`: of an operator's FLOPs, those that count; all, unless stated.
Flops model_flops_per_sequence(const Model& model, double sequence_length, AttentionCount count,
                               double source_length = 0, Workload workload = Workload::training,
                               const std::function<double(const Operator&)>& share = {});

}  // namespace orrery
