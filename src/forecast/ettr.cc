#include "forecast/ettr.h"

#include <cmath>

namespace orrery {
namespace {

// Failures expected in that time.
double expected(Hertz failures, Seconds time) { return failures.value() * time.value(); }

}  // namespace

Seconds mean_time_to_failure(std::int64_t nodes, Hertz rate_of_node) {
  return 1 / (static_cast<double>(nodes) * rate_of_node);
}

double linear_ettr(const CheckpointedJob& job) {
  return (1 - expected(job.failures, job.restart + job.interval / 2)) /
         (1 + job.save / job.interval);
}

double queued_ettr(const CheckpointedJob& job, Seconds queue, Seconds productive) {
  return (1 - expected(job.failures, job.restart + job.interval / 2)) /
         (1 + (job.restart + queue) / productive + expected(job.failures, queue));
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

Seconds daly_interval(Hertz failures, Seconds save) {
  const double half = expected(failures, save) / 2;
  if (half >= 1) return 1 / failures;
  return young_interval(failures, save) * (1 + std::sqrt(half) / 3 + half / 9) - save;
}

Seconds nvidia_interval(Hertz failures, Seconds restart, Seconds save) {
  const double w = save.value();
  return Seconds(std::sqrt(2 * (1 / failures.value() + restart.value()) * w + w * w));
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
  const auto reached = [&](Seconds interval) {
    job.interval = interval;
    return exact_ettr(job) >= ettr;
  };
  Seconds low = best_interval(job.failures, job.save);
  if (!(low > Seconds(0))) low = Seconds(1e-6);
  if (!reached(low)) return std::nullopt;
  Seconds high = low;
  while (reached(high)) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const Seconds middle = (low + high) / 2;
    (reached(middle) ? low : high) = middle;
  }
  return low;
}

std::optional<Hertz> largest_failure_rate(CheckpointedJob job, double ettr) {
  const auto reached = [&](Hertz failures) {
    job.failures = failures;
    return exact_ettr(job) >= ettr;
  };
  if (!reached(Hertz(0))) return std::nullopt;
  Hertz low(0);
  Hertz high = 1 / (job.restart + job.interval + job.save);
  while (reached(high)) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const Hertz middle = (low + high) / 2;
    (reached(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace orrery
