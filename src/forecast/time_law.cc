#include "forecast/time_law.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

namespace orrery {
namespace {

// Numerator over denominator of a rational function; coefficients of falling powers.
double ratio_at(double r, const std::array<double, 8>& above, const std::array<double, 8>& below) {
  const auto at = [r](const std::array<double, 8>& c) {
    return std::accumulate(c.begin(), c.end(), 0.0,
                           [r](double sum, double x) { return sum * r + x; });
  };
  return at(above) / at(below);
}

// Regularized lower incomplete gamma function: its series below shape + 1, and above it the
// continued fraction of the rest by Lentz's method (Numerical Recipes, 3rd edition, section 6.2).
double gamma_share_below(double shape, double x) {
  constexpr double kEnough = 1e-15;
  if (x <= 0) return 0;
  const double scale = std::exp(shape * std::log(x) - x - std::lgamma(shape));
  if (x < shape + 1) {
    double term = 1 / shape;
    double sum = term;
    for (double a = shape + 1; std::abs(term) > kEnough * sum; ++a) sum += term *= x / a;
    return sum * scale;
  }
  double b = x + 1 - shape;
  double c = 1 / std::numeric_limits<double>::min();
  double d = 1 / b;
  double fraction = d;
  double change = 0;
  for (double i = 1; std::abs(change - 1) > kEnough && i < 10'000; ++i) {
    const double an = -i * (i - shape);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    change = c * d;
    fraction *= change;
  }
  return 1 - scale * fraction;
}

// Newton's method from the approximation of Wilson and Hilferty (1931), to the last bits; halves
// the interval where a step leaves it.
double gamma_quantile(double shape, double u) {
  double low = 0;
  double high = shape + 1;
  while (gamma_share_below(shape, high) < u) low = std::exchange(high, 2 * high);
  const double root = 1 - 1 / (9 * shape) + normal_quantile(u) / (3 * std::sqrt(shape));
  double x = shape * root * root * root;
  while (high - low > 1e-14 * high) {
    if (!(x > low && x < high)) x = (low + high) / 2;
    const double off = gamma_share_below(shape, x) - u;
    (off < 0 ? low : high) = x;
    const double step = off / std::exp((shape - 1) * std::log(x) - x - std::lgamma(shape));
    if (std::abs(step) <= 1e-14 * x) return x;
    x -= step;
  }
  return high;
}

Failure negative(std::string_view what, std::string_view key) {
  return bad_input(fmt::format("a negative {}", what), std::string(key),
                   "write a time of 0 or more");
}

// Whether a field is there exactly where the form has it.
Result<void> stated(const TimeLaw& law, std::string_view key, bool given,
                    std::initializer_list<TimeForm> forms) {
  if ((std::ranges::find(forms, law.law) != forms.end()) == given) return {};
  return bad_input(fmt::format("a distribution of the law {} {} it", to_text(law.law),
                               given ? "does not have" : "needs"),
                   std::string(key), given ? "leave it out, or state another law" : "");
}

// Laws whose times are proportional to their mean, so that another mean is all it takes to scale
// them.
bool is_scaled_by_mean(TimeForm form) {
  return form == TimeForm::exactly || form == TimeForm::exponential || form == TimeForm::weibull ||
         form == TimeForm::gamma;
}

}  // namespace

Fields<TimeLaw> fields_of(const TimeLaw*) {
  return Fields<TimeLaw>("distribution of a time")
      .optional<&TimeLaw::law>("form of the distribution")
      .optional<&TimeLaw::mean>("of exactly, exponential, weibull, normal and gamma")
      .optional<&TimeLaw::shape>("of weibull and gamma; of weibull, below 1 events cluster")
      .optional<&TimeLaw::median>("of log_normal")
      .optional<&TimeLaw::spread>("of log_normal: standard deviation of the logarithm")
      .optional<&TimeLaw::deviation>("of normal: standard deviation")
      .optional<&TimeLaw::least>("of uniform")
      .optional<&TimeLaw::most>("of uniform")
      .optional<&TimeLaw::samples>("of sampled: times, all alike");
}

Result<void> check(const TimeLaw& law) {
  using enum TimeForm;
  ORRERY_RETURN_IF_ERROR(
      stated(law, "mean", law.mean.has_value(), {exactly, exponential, weibull, normal, gamma}));
  ORRERY_RETURN_IF_ERROR(stated(law, "shape", law.shape.has_value(), {weibull, gamma}));
  ORRERY_RETURN_IF_ERROR(stated(law, "deviation", law.deviation.has_value(), {normal}));
  ORRERY_RETURN_IF_ERROR(stated(law, "median", law.median.has_value(), {log_normal}));
  ORRERY_RETURN_IF_ERROR(stated(law, "spread", law.spread.has_value(), {log_normal}));
  ORRERY_RETURN_IF_ERROR(stated(law, "least", law.least.has_value(), {uniform}));
  ORRERY_RETURN_IF_ERROR(stated(law, "most", law.most.has_value(), {uniform}));
  ORRERY_RETURN_IF_ERROR(stated(law, "samples", !law.samples.empty(), {sampled}));
  if (law.mean && *law.mean < Seconds(0)) return negative("mean", "mean");
  if (law.median && *law.median < Seconds(0)) return negative("median", "median");
  if (law.deviation && *law.deviation < Seconds(0)) return negative("deviation", "deviation");
  if (law.least && *law.least < Seconds(0)) return negative("time", "least");
  if (law.spread && *law.spread < 0) {
    return bad_input(fmt::format("a negative spread, {}", *law.spread), "spread",
                     "write the standard deviation of the logarithm: 0 or more");
  }
  if (law.spread && *law.spread > 10) {  // exp(10) is a factor of 22,000
    return bad_input(fmt::format("a spread of {} is too wide", *law.spread), "spread",
                     "it is of the logarithm of the time: at most 10");
  }
  // Below, Gamma(1 + 1 / shape) exceeds 1e6; above, times vary by less than 1 %.
  if (law.shape && !(*law.shape >= 0.1 && *law.shape <= kMostShape)) {
    return bad_input(fmt::format("a shape of {:g}", *law.shape), "shape",
                     "write 0.1 to 10000; 1 is exponential");
  }
  if (law.deviation && 2 * *law.deviation > *law.mean) {  // 2 % would be below 0
    return bad_input("a deviation above half of the mean", "deviation",
                     "write {law: gamma, mean: ..., shape: ...}, which has no times below 0");
  }
  if (law.least && *law.most < *law.least) {
    return bad_input("the most is below the least", "most");
  }
  if (std::ranges::any_of(law.samples, [](Seconds s) { return s < Seconds(0); })) {
    return negative("time", "samples");
  }
  return {};
}

Result<void> check_form(const TimeLaw& law) {
  TimeLaw whole = law;
  if (is_scaled_by_mean(law.law) && !whole.mean) whole.mean = Seconds(1);
  ORRERY_RETURN_IF_ERROR(check(whole));
  if (!(mean_of(whole) > Seconds(0))) return bad_input("times of 0");
  return {};
}

Seconds mean_of(const TimeLaw& law) {
  if (law.law == TimeForm::uniform) return (*law.least + *law.most) / 2;
  if (law.law == TimeForm::log_normal) return *law.median * std::exp(*law.spread * *law.spread / 2);
  if (law.law != TimeForm::sampled) return *law.mean;
  return std::accumulate(law.samples.begin(), law.samples.end(), Seconds(0)) /
         static_cast<double>(law.samples.size());
}

TimeLaw with_mean(TimeLaw law, Seconds mean) {
  if (!is_scaled_by_mean(law.law)) return scaled(law, mean / mean_of(law));
  law.mean = mean;
  return law;
}

Seconds time_at(const TimeLaw& law, double u) {
  switch (law.law) {
    case TimeForm::exactly:
      break;
    case TimeForm::uniform:
      return *law.least + u * (*law.most - *law.least);
    case TimeForm::exponential:
      return *law.mean * -std::log1p(-u);
    case TimeForm::weibull:
      return *law.mean *
             (std::pow(-std::log1p(-u), 1 / *law.shape) / std::tgamma(1 + 1 / *law.shape));
    case TimeForm::log_normal:
      return *law.median * std::exp(*law.spread * normal_quantile(u));
    case TimeForm::normal:
      return std::max(*law.mean + *law.deviation * normal_quantile(u), Seconds(0));
    case TimeForm::gamma:
      return *law.mean * (gamma_quantile(*law.shape, u) / *law.shape);
    case TimeForm::sampled: {
      const auto count = static_cast<double>(law.samples.size());
      return law.samples[static_cast<std::size_t>(std::min(u * count, count - 1))];
    }
  }
  return *law.mean;
}

double share_below(const TimeLaw& law, Seconds t) {
  const auto normal = [](double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; };
  if (t < Seconds(0)) return 0;
  switch (law.law) {
    case TimeForm::exactly:
      break;
    case TimeForm::uniform:
      return *law.most > *law.least
                 ? std::clamp((t - *law.least) / (*law.most - *law.least), 0.0, 1.0)
                 : (t >= *law.least ? 1 : 0);
    case TimeForm::exponential:
      return -std::expm1(-(t / *law.mean));
    case TimeForm::weibull:
      return -std::expm1(-std::pow(t / *law.mean * std::tgamma(1 + 1 / *law.shape), *law.shape));
    case TimeForm::log_normal:
      return *law.spread > 0 ? normal(std::log(t / *law.median) / *law.spread)
                             : (t >= *law.median ? 1 : 0);
    case TimeForm::normal:
      if (*law.deviation > Seconds(0)) return normal((t - *law.mean) / *law.deviation);
      break;
    case TimeForm::gamma:
      return gamma_share_below(*law.shape, t / *law.mean * *law.shape);
    case TimeForm::sampled: {
      const auto below = std::ranges::count_if(law.samples, [t](Seconds s) { return s <= t; });
      return static_cast<double>(below) / static_cast<double>(law.samples.size());
    }
  }
  return t >= *law.mean ? 1 : 0;
}

TimeLaw scaled(TimeLaw law, double factor) {
  for (std::optional<Seconds>* time :
       {&law.mean, &law.median, &law.deviation, &law.least, &law.most}) {
    if (*time) **time *= factor;
  }
  for (Seconds& time : law.samples) time *= factor;
  return law;
}

std::string in_words(const TimeLaw& law) {
  switch (law.law) {
    case TimeForm::exactly:
      break;
    case TimeForm::uniform:
      return to_text(*law.least) + " to " + to_text(*law.most);
    case TimeForm::exponential:
      return "exponential, mean " + to_text(*law.mean);
    case TimeForm::weibull:
      return fmt::format("Weibull of shape {}, mean {}", *law.shape, to_text(*law.mean));
    case TimeForm::log_normal:
      return fmt::format("log-normal, median {}, spread {}", to_text(*law.median), *law.spread);
    case TimeForm::normal:
      return fmt::format("normal, mean {}, deviation {}", to_text(*law.mean),
                         to_text(*law.deviation));
    case TimeForm::gamma:
      return fmt::format("Gamma of shape {}, mean {}", *law.shape, to_text(*law.mean));
    case TimeForm::sampled:
      return fmt::format("{} recorded times", law.samples.size());
  }
  return to_text(*law.mean);
}

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    static constexpr std::array<double, 8> kAbove = {
        2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
        13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608};
    static constexpr std::array<double, 8> kBelow = {
        5226.495278852545925,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
        5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1};
    return q * ratio_at(0.180625 - q * q, kAbove, kBelow);
  }
  const double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  double z = 0;
  if (r <= 5) {
    static constexpr std::array<double, 8> kAbove = {
        7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
        1.27045825245236838258,   3.64784832476320460504,   5.7694972214606914055,
        4.6303378461565452959,    1.42343711074968357734};
    static constexpr std::array<double, 8> kBelow = {
        1.05075007164441684324e-9, 5.475938084995344946e-4,
        0.0151986665636164571966,  0.14810397642748007459,
        0.68976733498510000455,    1.6763848301838038494,
        2.05319162663775882187,    1};
    z = ratio_at(r - 1.6, kAbove, kBelow);
  } else {
    static constexpr std::array<double, 8> kAbove = {
        2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
        0.026532189526576123093,   0.29656057182850489123,    1.7848265399172913358,
        5.4637849111641143699,     6.6579046435011037772};
    static constexpr std::array<double, 8> kBelow = {
        2.04426310338993978564e-15, 1.4215117583164458887e-7,
        1.8463183175100546818e-5,   7.868691311456132591e-4,
        0.0148753612908506148525,   0.13692988092273580531,
        0.59983220655588793769,     1};
    z = ratio_at(r - 5, kAbove, kBelow);
  }
  return q < 0 ? -z : z;
}

}  // namespace orrery
