// Dynamic sequence parallelism of transformers with several dimensions (DSP, arXiv 2403.10266 s.3):
// layers of a video model attend within frames and along time by turns. Each of c ranks has all of
// the dimension that a layer attends along and a c-th of another one, so that attention sends nothing.
// Where the dimension changes, once before such a layer and once behind it, all ranks turn the
// activation by an all-to-all,
//
//   n = 2 b (s/c) h bytes a rank holds,     a quarter of what exchanges of heads send of both layers
//
// (lower/head_exchange.h: 8 n). The copies around the all-to-all take the place of the permutation of
// one rank. It needs no division of heads. Attention to a text runs on every rank's own positions.
#pragma once

#include "model/operator.h"
#include "plan/plan.h"

namespace orrery {

inline bool switches_dimension(const Operator& op, const Plan& plan) {
  return op.turns && switches_dimension(plan);
}

}  // namespace orrery
