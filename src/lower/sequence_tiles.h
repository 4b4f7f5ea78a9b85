// Losses and feed-forward parts of long sequences that work through a rank's tokens piece by piece
// (ALST, arXiv 2506.13996 s.3.1; DeepSpeed, deepspeed/runtime/sequence_parallel/ulysses_sp.py,
// TiledFusedLogitsLoss and TiledMLP).
//
// With T tiles of m/T tokens each, products of the tiled part are T products of m/T rows, each of
// which adds to the gradient of the same weight.
//
//   loss   The forward of a tile computes its gradient at once, so that logits and their gradients
//          exist for one tile only; the gradient of the hidden states waits for the backward.
//   MLP    Only the input is kept. The backward computes a tile again, then its gradients, whatever
//          else is recomputed: what is as wide as the feed-forward part exists for one tile only.
//
// Memory: what was n bytes of such a tensor is n/T. Time: the products' efficiency at m/T rows,
// T - 1 more writes of each weight gradient, and for the MLP one more forward.
#pragma once

#include "model/operator.h"
#include "plan/plan.h"

namespace orrery {

// The part of a plan that says so.
struct SequenceTiles {
  double loss = 1;
  double mlp = 1;
};
SequenceTiles sequence_tiles(const Plan& plan);

bool in_tiled_mlp(const Operator& op, const SequenceTiles& tiles);
// The pieces in which an operator works; 1: it is not tiled.
double tiles_of(const Operator& op, const SequenceTiles& tiles);

}  // namespace orrery
