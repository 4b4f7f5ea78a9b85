// The operators of a recommendation model, in the blocks that a step is lowered from.
//
//   layer 0     tables.look_up, bottom MLP, and the operator that joins vectors: the exchange of
//               vectors runs beside the bottom MLP in both directions
//   layers 1..  layers of a cross network or of a transformer; then those of the top MLP, one layer
//               each, so that the gradients of one are reduced beside the backward of the one below
//   head        the loss
//
// Tensor parallelism divides the layers of an MLP in turn by columns and by rows, with a sum over
// ranks behind every second one (arXiv 1909.08053 s.3); a last layer without a partner is not
// divided. Experts of the top MLP are held by every rank. All products have biases, but for the
// first matrix of a low-rank cross layer and a transformer's (facebookresearch/dlrm,
// dlrm_s_pytorch.py; pytorch/torchrec, torchrec/modules/crossnet.py).
//
// Not counted: how vectors become the tokens of a transformer, which no source states.
#pragma once

#include <cstdint>

#include "model/model.h"
#include "model/recommendation/recommender.h"
#include "model/recommendation/table_placement.h"

namespace orrery {

// Fills blocks, layers and head, the width between layers, and what tensor parallelism divides.
// Without a placement the tables cost nothing but their parameters.
void build_recommendation_blocks(Model& model, const Recommender& r,
                                 const TablePlacement* placement);

}  // namespace orrery
