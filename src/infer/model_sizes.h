// Whether recorded shapes are of the inferred model. Its activations have a dimension of tokens and
// one of the model:
//
//   tokens   s, b s                           divided by tp too: sequence parallelism
//   widths   h, f, 2 f, heads, qkv, d, vocab  divided by tp too
//
// A length alone tells little: 2048 is a sequence here and a hidden size there. Scores of unfused
// attention are told by the sequence twice. Weights without activations, as an optimizer has them,
// show no tokens: their shapes tell nothing here. O(dimensions).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "infer/inferred_spec.h"

namespace orrery {

struct ModelSizes {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> widths;
};

ModelSizes model_sizes(const InferredSpec& spec);

// Of products and attention: tokens and a width. What records no shapes cannot be told from the
// model: true.
bool is_of_model(const ModelSizes& sizes, std::string_view shapes);

// Of other work tokens are enough: statistics of a norm and halves of a rotated head have no width.
bool has_tokens(const ModelSizes& sizes, std::string_view shapes);

}  // namespace orrery
