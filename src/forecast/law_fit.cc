#include "forecast/law_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery {
namespace {

Result<void> check_count(std::span<const Seconds> times) {
  if (times.size() >= kLeastTimes) return {};
  return bad_input(fmt::format("{} {} where {} are needed", times.size(),
                               times.size() == 1 ? "time" : "times", kLeastTimes),
                   "", "record more steps: fewer say nothing of a distribution");
}

struct Moments {
  double mean = 0, deviation = 0;
};
Moments moments_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, std::sqrt(squares / (n - 1))};
}

}  // namespace

Result<std::vector<LawFit>> fit_laws(std::span<const Seconds> times) {
  ORRERY_RETURN_IF_ERROR(check_count(times));
  std::vector<double> values;
  std::vector<double> logarithms;
  for (const Seconds t : times) {
    if (!(t > Seconds(0))) {
      return bad_input("a time that is not above 0: " + to_text(t), "",
                       "leave out steps that were not measured");
    }
    values.push_back(t.value());
    logarithms.push_back(std::log(t.value()));
  }
  const Moments plain = moments_of(values);
  const Moments of_logarithm = moments_of(logarithms);
  std::vector<LawFit> out;
  const auto add = [&](TimeLaw law) {
    const double distance = kolmogorov_smirnov(law, times);
    out.push_back({std::move(law), distance});
  };
  add({.law = TimeForm::normal,
       .mean = Seconds(plain.mean),
       .deviation = Seconds(plain.deviation)});
  const double s = std::log(plain.mean) - of_logarithm.mean;
  const double shape = (3 - s + std::sqrt((s - 3) * (s - 3) + 24 * s)) / (12 * s);
  if (s > 0 && shape <= kMostShape) {  // where times hardly vary, the normal law is the same
    add({.law = TimeForm::gamma, .mean = Seconds(plain.mean), .shape = shape});
  }
  add({.law = TimeForm::log_normal,
       .median = Seconds(std::exp(of_logarithm.mean)),
       .spread = of_logarithm.deviation});
  std::ranges::stable_sort(out, {}, &LawFit::distance);
  return out;
}

std::size_t warm_up(std::span<const Seconds> times) {
  const std::size_t n = times.size();
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  // From the end, with Welford's running mean and sum of squares of the times behind d.
  double mean = 0;
  double squares = 0;
  for (std::size_t d = n; d-- > 0;) {
    const auto count = static_cast<double>(n - d);
    const double off = times[d].value() - mean;
    mean += off / count;
    squares += off * (times[d].value() - mean);
    if (d <= n / 2 && squares / (count * count) <= least) {
      least = squares / (count * count);
      best = d;
    }
  }
  return best;
}

double kolmogorov_smirnov(const TimeLaw& law, std::span<const Seconds> times) {
  std::vector<Seconds> sorted(times.begin(), times.end());
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  double distance = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double below = share_below(law, sorted[i]);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, std::abs(below - rank / n), std::abs((rank + 1) / n - below)});
  }
  return distance;
}

}  // namespace orrery
