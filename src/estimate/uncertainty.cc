#include "estimate/uncertainty.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "outcome/invariant.h"

namespace orrery {
namespace {

const std::string kAll = "*";

std::string in_words(const Regime& r) {
  if (r.architecture == kAll) return "all accelerators";
  std::string out = r.architecture;
  if (r.scale != kAll)
    out += r.scale == "one node" ? ", one node" : ", " + r.scale + " accelerators";
  if (r.precision != kAll) out += r.precision == "narrow" ? ", 8 bit or less" : ", 16 bit";
  return out;
}

// Distance in factors: one doubling of either counts the same.
double distance(const MeasuredPoint& p, double accelerators, double parameters_b) {
  return std::abs(std::log(static_cast<double>(p.accelerators) / accelerators)) +
         std::abs(std::log(p.parameters_b / parameters_b));
}

}  // namespace

Regime regime_of(const Cluster& cluster, NumberFormat precision) {
  const std::int64_t n = cluster.accelerators;
  const bool narrow = precision == NumberFormat::fp8 || precision == NumberFormat::mxfp8 ||
                      precision == NumberFormat::nvfp4;
  return {.architecture = cluster.accelerator.architecture,
          .scale = n <= cluster.accelerators_per_node ? "one node"
                   : n <= 64                          ? "to 64"
                   : n <= 512                         ? "to 512"
                                                      : "above 512",
          .precision = narrow ? "narrow" : "16 bit"};
}

std::vector<Regime> widening(const Regime& r) {
  return {r, {r.architecture, r.scale, kAll}, {r.architecture, kAll, kAll}, {kAll, kAll, kAll}};
}

const Fields<Regime>& fields_of(const Regime*) {
  static const Fields<Regime> table =
      Fields<Regime>("regime")
          .required("architecture", &Regime::architecture, "of the accelerator; \"*\": all")
          .required("scale", &Regime::scale, "class of the number of accelerators; \"*\": all")
          .required("precision", &Regime::precision, "class of precision; \"*\": all");
  return table;
}

const Fields<RegimeError>& fields_of(const RegimeError*) {
  static const Fields<RegimeError> table =
      Fields<RegimeError>("errors of a regime")
          .required("regime", &RegimeError::regime, "of which steps")
          .required("rows", &RegimeError::rows, "held-out steps")
          .required("low", &RegimeError::low, "quantile of log(measured / predicted)")
          .required("high", &RegimeError::high, "quantile of log(measured / predicted)");
  return table;
}

const Fields<MeasuredPoint>& fields_of(const MeasuredPoint*) {
  static const Fields<MeasuredPoint> table =
      Fields<MeasuredPoint>("measured step")
          .required("accelerator", &MeasuredPoint::accelerator, "catalog name")
          .required("accelerators", &MeasuredPoint::accelerators, "count")
          .required("parameters_b", &MeasuredPoint::parameters_b, "1e9 parameters");
  return table;
}

const Fields<Uncertainty>& fields_of(const Uncertainty*) {
  static const Fields<Uncertainty> table =
      Fields<Uncertainty>("uncertainty of step times")
          .required("source", &Uncertainty::source, "where the values are from")
          .required("level", &Uncertainty::level, "share of steps an interval is to hold")
          .required("regimes", &Uncertainty::regimes, "errors by regime")
          .required("measured", &Uncertainty::measured, "distinct measured steps");
  return table;
}

Result<Uncertainty> read_uncertainty(const Document& document) {
  ORRERY_TRY(Uncertainty out, read<Uncertainty>(document));
  const auto wrong = [&](std::string what, std::string right) {
    return fail(ErrorCode::bad_input, std::move(what), document.name, std::move(right));
  };
  if (!(out.level > 0 && out.level < 1)) {
    return wrong(fmt::format("level {} is out of range", out.level), "above 0, below 1");
  }
  bool all = false;
  for (const RegimeError& r : out.regimes) {
    all = all || r.regime == Regime{};
    if (r.low > r.high) return wrong("low is above high in " + in_words(r.regime), "low first");
    if (std::abs(r.low) > 5 || std::abs(r.high) > 5) {
      return wrong("a quantile is out of range in " + in_words(r.regime), "-5 to 5");
    }
  }
  for (const MeasuredPoint& p : out.measured) {
    if (p.accelerators < 1 || !(p.parameters_b > 0)) {
      return wrong("a measured step of no accelerators or parameters", "both above 0");
    }
  }
  if (!all) return wrong("there is no regime of all steps", "one whose classes are all '*'");
  return out;
}

Result<Uncertainty> load_uncertainty(const Catalog& catalog) {
  ORRERY_TRY(const Document document, catalog.find("step", "uncertainty"));
  return read_uncertainty(document);
}

const RegimeError& error_of(std::span<const RegimeError> regimes, const Regime& regime) {
  for (const Regime& wider : widening(regime)) {
    const auto found = std::find_if(regimes.begin(), regimes.end(),
                                    [&](const RegimeError& e) { return e.regime == wider; });
    if (found != regimes.end()) return *found;
  }
  ORRERY_INVARIANT(!regimes.empty());
  return regimes.front();
}

StepTimeInterval interval(const Uncertainty& uncertainty, Seconds step_time, const Cluster& cluster,
                          NumberFormat precision, double parameters) {
  const RegimeError& e = error_of(uncertainty.regimes, regime_of(cluster, precision));
  StepTimeInterval out;
  out.level = uncertainty.level;
  // The estimate itself stays inside: where a regime is off to one side, the other end is the
  // estimate.
  out.low = step_time * std::exp(std::min(e.low, 0.0));
  out.high = step_time * std::exp(std::max(e.high, 0.0));
  out.regime = fmt::format("{}: {:.0f} held-out steps", in_words(e.regime), e.rows);

  const double n = static_cast<double>(cluster.accelerators);
  const double billions = std::max(parameters / 1e9, 1e-6);
  // The same accelerator, else any.
  const MeasuredPoint* nearest = nullptr;
  bool own = false;
  for (const MeasuredPoint& p : uncertainty.measured) {
    const bool same = p.accelerator == cluster.accelerator.name;
    if (own && !same) continue;
    if (nearest == nullptr || (same && !own) ||
        distance(p, n, billions) < distance(*nearest, n, billions)) {
      nearest = &p;
    }
    own = own || same;
  }
  if (nearest == nullptr) {
    out.distance = "no step was measured";
    return out;
  }
  const auto factor = [](double asked, double measured, const char* what) {
    if (asked > 1.05 * measured)
      return fmt::format("{:.3g} times as many {}", asked / measured, what);
    if (measured > 1.05 * asked)
      return fmt::format("{:.3g} times fewer {}", measured / asked, what);
    return std::string();
  };
  const std::string ranks = factor(n, static_cast<double>(nearest->accelerators), "accelerators");
  const std::string size = factor(billions, nearest->parameters_b, "parameters");
  out.distance = fmt::format("the nearest measured step is {} B parameters on {} {}",
                             fmt::format("{:.3g}", nearest->parameters_b), nearest->accelerators,
                             nearest->accelerator);
  if (!ranks.empty() || !size.empty()) {
    out.distance += ", this has " + ranks + (!ranks.empty() && !size.empty() ? " and " : "") + size;
  }
  return out;
}

}  // namespace orrery
