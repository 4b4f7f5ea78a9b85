#include "schedule/synthesis/lower_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

Ways::Ways(const OrderProblem& problem)
    : head(problem.stages()), back(problem.stages()), trip(problem.stages()) {
  const auto& [f, b, w] = problem.time;
  back[0] = w[0];
  for (std::size_t s = 1; s < head.size(); ++s) {
    head[s] = head[s - 1] + f[s - 1] + problem.hop(s - 1);
    back[s] = std::max(w[s], problem.hop(s - 1) + b[s - 1] + back[s - 1]);
  }
  for (std::size_t s = head.size(); s-- > 0;) {
    trip[s] = f[s] + b[s] + (s + 1 < head.size() ? 2 * problem.hop(s) + trip[s + 1] : 0);
  }
}

double lower_bound(const OrderProblem& problem) {
  const double m = problem.shape.microbatches;
  const auto& [f, b, w] = problem.time;
  const auto [head, back, trip] = Ways(problem);
  double out = trip[0] + w[0];
  for (std::size_t d = 0; d < problem.devices(); ++d) {
    double first = head[problem.stage_of(d, 0)];
    double work = 0;
    double gradients = 0;  // without W
    double least_back = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < problem.chunks(); ++c) {
      const std::size_t s = problem.stage_of(d, c);
      first = std::min(first, head[s]);
      work += f[s] + b[s] + w[s];
      gradients += f[s] + b[s];
      least_back = std::min(least_back, back[s]);
    }
    out = std::max({out, first + m * work, first + m * gradients + least_back});
    const double limit = problem.limit[d] * (1 + 1e-12);
    for (std::size_t c = 0; c < problem.chunks() && !std::isinf(limit); ++c) {
      const std::size_t s = problem.stage_of(d, c);
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
