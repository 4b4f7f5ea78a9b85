// Transformer layers moved off the last stage, which also makes the logits: "Redis", the baseline
// of vocabulary parallelism.
//
//   forward FLOPs of a token: layer 8 h^2 + 4 s h + 4 h f, logits 2 h V
//   layers = those that make the slowest stage fastest: of all counts k <= L/p that the last stage
//            may keep, the others sharing L - k evenly, the largest with the least
//            max(ceil((L - k) / (p - 1)) layer, k layer + logits)
//
// No layer is moved for nothing. Stages with one layer more than others come last, where the fewest
// microbatches are in flight; the source does not say where they stand. Two matrices a feed-forward
// layer. Source: arXiv 2411.05288 s.6.1, the FLOPs of its artifact.
#pragma once

#include <cstdint>
#include <vector>

#include "measured/expressible.h"
#include "measured/measured_row.h"

namespace orrery {

// Skipped: cells the source does not state, or numbers beyond any model.
Expressible<std::vector<std::int64_t>> redistributed_layers(const MeasuredRow& row);

}  // namespace orrery
