#include "forecast/ettr.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// Failures expected in that time.
double expected(Hertz failures, Seconds time) { return failures.value() * time.value(); }

// The largest value from `low` on at which `reached` still holds, which it stops to do above `high`
// or a multiple of it; nothing if it does not hold at `low`.
template <class Q, class Reached>
std::optional<Q> largest(Q low, Q high, const Reached& reached) {
  if (!reached(low)) return std::nullopt;
  for (high = std::max(low, high); reached(high);) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const Q middle = (low + high) / 2;
    (reached(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

Seconds mean_time_to_failure(std::int64_t nodes, Hertz rate_of_node) {
  return 1 / (static_cast<double>(nodes) * rate_of_node);
}

double exact_ettr(const CheckpointedJob& job) {
  const double interval = expected(job.failures, job.interval);
  if (interval <= 0) return job.interval / (job.interval + job.save);
  const double period = interval + expected(job.failures, job.save);
  return interval * std::exp(-expected(job.failures, job.restart)) / std::expm1(period);
}

Seconds young_interval(Hertz failures, Seconds save) {
  return Seconds(std::sqrt(2 * (save / failures).value()));
}

Seconds best_interval(Hertz failures, Seconds save) {
  // x = 1 - exp(-(x + a)) by Newton from Young's interval, which lies above the root; the function
  // x + expm1(-(x + a)) is convex, so the iteration falls towards it.
  const double a = expected(failures, save);
  if (a < 1e-12) return young_interval(failures, save);  // as good as it to 1e-6
  double x = std::sqrt(2 * a);
  for (int i = 0; i < 60 && x > 0; ++i) {
    const double e = std::expm1(-(x + a));
    const double next = x + (x + e) / e;
    if (!(next < x)) break;
    x = next;
  }
  return x / failures;
}

std::optional<Seconds> largest_interval(CheckpointedJob job, double ettr) {
  const Seconds best = best_interval(job.failures, job.save);
  return largest(best > Seconds(0) ? best : Seconds(1e-6), Seconds(0), [&](Seconds interval) {
    job.interval = interval;
    return exact_ettr(job) >= ettr;
  });
}

std::optional<Hertz> largest_failure_rate(CheckpointedJob job, double ettr) {
  return largest(Hertz(0), 1 / (job.restart + job.interval + job.save), [&](Hertz failures) {
    job.failures = failures;
    return exact_ettr(job) >= ettr;
  });
}

}  // namespace orrery
