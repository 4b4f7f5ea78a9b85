// Where a step's computing goes operator by operator, and what attention sees from layer to layer.
//
// Times are those of the kernels in the blocks that one microbatch passes (lower/block_cost.h), of
// all stages together, forward and, in training, backward; shares are of their sum. Beside them
// stands the share of model FLOPs. What communication hides or exposes is in the breakdown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "estimate/predicted_step.h"

namespace orrery {

struct OperatorShare {
  std::string name;        // "attention.core", "residual.convolution"
  Category category;       // the line of the breakdown that it is part of
  std::int64_t count = 0;  // kernels, or chains of them, in all layers
  Seconds time;
  double time_share = 0;
  double flops_share = 0;  // 0: does not count
};

// One attention of one layer, in the order of execution.
struct LayerAttention {
  std::size_t layer = 0;
  std::string block;
  std::string name;
  double queries = 0;  // tokens of one sequence
  double keys = 0;     // that each of them sees
};

struct OperatorShares {
  std::vector<OperatorShare> operators;  // the longest first
  std::vector<LayerAttention> attention;
};
OperatorShares operator_shares(const PredictedStep& step);

}  // namespace orrery
