// What a step sends over the network: bytes by mesh axis and fabric level, and how busy a level is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "estimate/predicted_step.h"

namespace orrery {

// Bytes that leave a unit below a fabric level in one step, counted at the sender.
struct AxisTraffic {
  std::string axis;             // the group of ranks: "tensor", "replicas"; "pipeline" of messages
  std::vector<Bytes> by_level;  // of one accelerator on average, from the inside out
};

inline constexpr std::size_t kTrafficParts = 240;

struct LevelTraffic {
  std::string level;
  Bytes bytes;     // of one accelerator, all axes
  double use = 0;  // share of the step in which these would fill the level at its rate
  // The same of each of kTrafficParts equal parts of the simulated step, what is under way taken to
  // travel evenly.
  std::vector<double> over_time{};
};

struct StepTraffic {
  std::vector<AxisTraffic> axes;     // those that send anything, in the order of the groups
  std::vector<LevelTraffic> levels;  // of the cluster
};

// What bandwidth-optimal algorithms send (Chan et al., Concurrency and Computation 19(13), 2007): of
// a group that has U units below a level, with m of its ranks in each,
//
//   all-reduce 2 (U - 1) / U payload / m;  all-gather, reduce-scatter, broadcast half of that;
//   all-to-all: the payload's share of the ranks outside the unit, (n - m) / n;
//   tokens to experts: one copy for each unit that needs it (cost/collective/token_exchange.h)
//
// a rank. Where sites differ, levels are counted from the link inwards; what crosses between stages on
// two sites is counted at the slower end. Errors: a step whose expanded graph is too large (lower/step_graph.h).
Result<StepTraffic> traffic(const PredictedStep& step);

}  // namespace orrery
