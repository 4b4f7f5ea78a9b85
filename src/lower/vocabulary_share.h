// The vocabulary layers divided over all pipeline devices (arXiv 2411.05288), priced.
//
// Every device holds 1/p of the embedding's and the logits' rows and works on every microbatch: an
// S pass (logits, local maximum and sum) and a T pass (gradients) of the output layer, a forward
// and a backward pass of the input layer. Each takes 1/p of what the whole layer takes on one
// device; with one barrier the S pass also computes the input gradient before the sum is known, a
// third of the layer's work more in all (s.4.3).
//
// Collectives over the pipeline's devices: C0 broadcasts the last stage's output; C1 and C2 reduce
// maxima and sums (8 bytes a token) and the input gradient; the embedding's output is reduced too.
// Not modelled: tile effects of the narrower products.
#pragma once

#include "cost/memory/rank_parameters.h"
#include "lower/rank_layout.h"
#include "lower/step_category.h"
#include "schedule/pipeline_times.h"
#include "schedule/pipeline_wiring.h"
#include "units/quantity.h"

namespace orrery {

struct ModelCosts;
struct CostContext;

struct VocabularyShare {
  VocabularyTimes times;
  PipelineTraffic traffic;  // of its collectives
  Breakdown output_layer, output_layer_gradient, input_layer, input_layer_gradient;
  RankParameters trained, frozen;  // a device's part of both layers
  Bytes saved;                     // of one microbatch, between its S and T pass
};

// `barriers` 1 or 2; `boundary` is what one microbatch hands from stage to stage on one rank, and
// `tokens` how many tokens that are.
VocabularyShare vocabulary_share(const ModelCosts& costs, const CostContext& context,
                                 const RankLayout& layout, int devices, int barriers,
                                 Bytes boundary, double tokens);

}  // namespace orrery
