#include "schedule/synthesis/lower_bound.h"

#include <algorithm>
#include <cmath>

namespace orrery {

double lower_bound(const OrderProblem& problem) {
  const auto stages = static_cast<std::size_t>(problem.stages());
  const double m = problem.shape.microbatches;
  const auto& f = problem.time[0];
  const auto& b = problem.time[1];
  const auto& w = problem.time[2];
  const auto hop = [&](std::size_t s) {
    return problem.device[s] == problem.device[s + 1] ? 0.0
                                                      : problem.transfer[s] + problem.latency[s];
  };
  // head: until F of stage s can begin; back: from the end of B of stage s to the end of all.
  std::vector<double> head(stages), back(stages), trip(stages);
  for (std::size_t s = 1; s < stages; ++s) head[s] = head[s - 1] + f[s - 1] + hop(s - 1);
  back[0] = w[0];
  for (std::size_t s = 1; s < stages; ++s) {
    back[s] = std::max(w[s], hop(s - 1) + b[s - 1] + back[s - 1]);
  }
  // trip: from the start of F to the end of B of one stage.
  for (std::size_t s = stages; s-- > 0;) {
    trip[s] = f[s] + b[s] + (s + 1 < stages ? 2 * hop(s) + trip[s + 1] : 0);
  }
  double out = trip[0] + w[0];
  for (int d = 0; d < problem.shape.devices; ++d) {
    double first = head[static_cast<std::size_t>(problem.stage_of(d, 0))];
    double work = 0;
    double gradients = 0;  // without W
    double least_back = std::numeric_limits<double>::infinity();
    for (int c = 0; c < problem.shape.chunks; ++c) {
      const auto s = static_cast<std::size_t>(problem.stage_of(d, c));
      first = std::min(first, head[s]);
      work += f[s] + b[s] + w[s];
      gradients += f[s] + b[s];
      least_back = std::min(least_back, back[s]);
    }
    out = std::max({out, first + m * work, first + m * gradients + least_back});
    for (int c = 0; c < problem.shape.chunks; ++c) {
      const auto s = static_cast<std::size_t>(problem.stage_of(d, c));
      const double limit = problem.limit[static_cast<std::size_t>(d)] * (1 + 1e-12);
      if (std::isinf(limit)) continue;
      if (problem.held[s] > 0) {
        const double rounds = std::ceil(m / std::floor(limit / problem.held[s]));
        out = std::max(out, head[s] + rounds * trip[s] + back[s]);
      }
      if (problem.kept[s] > 0) {
        const double least = std::min(problem.held[s], problem.kept[s]);
        const double rounds = std::ceil(m / std::floor(limit / least));
        out = std::max(out, head[s] + rounds * (trip[s] + w[s]));
      }
    }
  }
  return out;
}

}  // namespace orrery
