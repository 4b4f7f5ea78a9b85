// What one rank holds: parameters before data-parallel sharding, of which those of experts are
// divided over other ranks than the rest; and embedding tables.
#pragma once

#include "units/quantity.h"

namespace orrery {

struct RankParameters {
  double dense = 0;
  double expert = 0;

  [[nodiscard]] double all() const { return dense + expert; }
  // The parameters of one rank, given how many ranks divide each kind.
  [[nodiscard]] double sharded(int dense_shard, int expert_shard) const {
    return dense / dense_shard + expert / expert_shard;
  }

  RankParameters& operator+=(const RankParameters& o) {
    dense += o.dense;
    expert += o.expert;
    return *this;
  }
  RankParameters& operator-=(const RankParameters& o) {
    dense -= o.dense;
    expert -= o.expert;
    return *this;
  }
  friend RankParameters operator+(RankParameters a, const RankParameters& b) { return a += b; }
  friend RankParameters operator/(const RankParameters& a, double n) {
    return {a.dense / n, a.expert / n};
  }
};

// Their optimizer is fused into the backward, so that they have no gradients.
struct RankTables {
  Bytes weights;
  Bytes optimizer_state;

  RankTables& operator+=(const RankTables& o) {
    weights += o.weights;
    optimizer_state += o.optimizer_state;
    return *this;
  }
  RankTables& operator-=(const RankTables& o) {
    weights -= o.weights;
    optimizer_state -= o.optimizer_state;
    return *this;
  }
};

}  // namespace orrery
