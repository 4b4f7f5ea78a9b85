// The distribution of a time that varies: between failures, of a repair, of a stage of a restart.
//
//   exactly      mean
//   uniform      least + u (most - least)
//   exponential  -mean ln(1 - u)
//   weibull      scale (-ln(1 - u))^(1 / shape),  scale = mean / Gamma(1 + 1 / shape)
//   log_normal   median exp(spread z(u)),  mean = median exp(spread^2 / 2)
//   normal       mean + deviation z(u), not below 0
//   gamma        (mean / shape) x the quantile of the standard Gamma distribution of that shape
//   sampled      one of the given times, all alike
//
// u is uniform in (0, 1) and z the standard normal quantile (Wichura 1988, AS 241: relative error
// below 1e-15). Every draw is the quantile at one u, so that a longer law never gives a shorter
// time for the same u. A shape below 1 clusters events, 1 is exponential. Left out: mixtures,
// dependence between draws.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "document/fields.h"
#include "units/quantity.h"

namespace orrery {

enum class TimeForm { exactly, uniform, exponential, weibull, log_normal, normal, gamma, sampled };

inline constexpr double kMostShape = 1e4;

// Of the fields a law has those of its form, and no others.
struct TimeLaw {
  TimeForm law = TimeForm::exactly;
  std::optional<Seconds> mean = {};       // exactly, exponential, weibull, normal, gamma
  std::optional<double> shape = {};       // weibull, gamma
  std::optional<Seconds> median = {};     // log_normal
  std::optional<double> spread = {};      // log_normal: standard deviation of the logarithm
  std::optional<Seconds> deviation = {};  // normal: standard deviation
  std::optional<Seconds> least = {};      // uniform
  std::optional<Seconds> most = {};
  std::vector<Seconds> samples = {};  // sampled
  bool operator==(const TimeLaw&) const = default;
};
Fields<TimeLaw> fields_of(const TimeLaw*);

// Errors: a field that the form lacks or does not have; negative times or spreads, a shape that is
// not above 0, a sample without times.
Result<void> check(const TimeLaw& law);
// Of a law of which the form alone counts: it may leave out its mean, which must not be 0.
Result<void> check_form(const TimeLaw& law);

// These are of checked laws. u in (0, 1).
Seconds mean_of(const TimeLaw& law);
Seconds time_at(const TimeLaw& law, double u);
// The law of that form and mean.
TimeLaw with_mean(TimeLaw law, Seconds mean);
// The probability of a time of `t` or less.
double share_below(const TimeLaw& law, Seconds t);
// All of its times that much longer.
TimeLaw scaled(TimeLaw law, double factor);
// "60 s", "2 min to 15 min", "log-normal, median 32 h, spread 1.2", "313 recorded times"
std::string in_words(const TimeLaw& law);

// Quantile of the standard normal distribution, p in (0, 1).
double normal_quantile(double p);

}  // namespace orrery
