#include "estimate/uncertainty.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "model/family.h"
#include "outcome/invariant.h"
#include "units/grouped.h"

namespace orrery {
namespace {

const std::string kAll = "*";

std::string in_words(const Regime& r) {
  std::string out = r.architecture == kAll ? "all accelerators" : r.architecture;
  if (r.scale != kAll)
    out += r.scale == "one node" ? ", one node" : ", " + r.scale + " accelerators";
  if (r.kind != kAll) out += ", " + (r.kind == kMixture ? "mixtures of experts" : r.kind);
  if (r.precision != kAll) out += r.precision == "narrow" ? ", 8 bit or less" : ", " + r.precision;
  return out;
}

// "no ... step was measured"
std::string kind_in_words(const std::string& kind) {
  return kind == kMixture ? "mixture-of-experts" : kind == kAdapters ? "adapter" : kind;
}

// Distance in factors: one doubling of any counts the same.
double distance(const StepPoint& p, const StepPoint& q) {
  const auto apart = [](double a, double b) { return std::abs(std::log(a / b)); };
  return apart(static_cast<double>(p.accelerators), static_cast<double>(q.accelerators)) +
         apart(p.parameters_b, q.parameters_b) +
         apart(static_cast<double>(p.sequence), static_cast<double>(q.sequence));
}

// "2 times as many accelerators", "2,048 times ..."; empty where they are as good as equal.
std::string factor(double asked, double measured, std::string_view more, std::string_view fewer) {
  const auto times = [](double ratio) {
    return ratio < 1000 ? fmt::format("{:.3g}", ratio) : grouped(std::llround(ratio));
  };
  if (asked > 1.05 * measured) return fmt::format("{} times {}", times(asked / measured), more);
  if (measured > 1.05 * asked) return fmt::format("{} times {}", times(measured / asked), fewer);
  return "";
}
std::string accelerators_factor(double asked, double measured) {
  return factor(asked, measured, "as many accelerators", "fewer accelerators");
}
std::string sequence_factor(double asked, double measured) {
  return factor(asked, measured, "as long a sequence", "as short a sequence");
}

bool near(double a, double b) { return a < kNear * b && b < kNear * a; }

// On as many accelerators, of the same model and sequence. Of one kind, accelerator and software.
bool differs_in_its_plan(const StepPoint& p, const StepPoint& step) {
  return p.accelerators == step.accelerators && p.sequence == step.sequence &&
         p.parameters_b < kSameModel * step.parameters_b &&
         step.parameters_b < kSameModel * p.parameters_b;
}

// The first that is of the same kind and accelerator, and nearest; nothing of none.
const StepPoint* nearest_of(std::span<const StepPoint> measured, const StepPoint& step) {
  const StepPoint* nearest = nullptr;
  std::tuple<bool, bool, bool> least;  // what is unlike in it
  double shortest = 0;
  for (const StepPoint& p : measured) {
    const std::tuple unlike(p.kind != step.kind, p.accelerator != step.accelerator,
                            p.architecture != step.architecture);
    if (nearest != nullptr && unlike > least) continue;
    const double far = distance(p, step);
    if (nearest != nullptr && unlike == least && far >= shortest) continue;
    nearest = &p;
    least = unlike;
    shortest = far;
  }
  return nearest;
}

std::string nearest_in_words(std::span<const StepPoint> measured, const StepPoint& step) {
  const StepPoint* nearest = nearest_of(measured, step);
  if (nearest == nullptr) return "no step was measured";
  std::string out = fmt::format(
      "the nearest measured {}step is {:.3g} B parameters{} on {} {}",
      nearest->kind != step.kind ? kind_in_words(nearest->kind) + " " : "", nearest->parameters_b,
      nearest->sequence != step.sequence ? fmt::format(" at sequence {}", nearest->sequence) : "",
      nearest->accelerators, nearest->accelerator);
  std::string differs;
  for (const std::string& word :
       {accelerators_factor(static_cast<double>(step.accelerators),
                            static_cast<double>(nearest->accelerators)),
        factor(step.parameters_b, nearest->parameters_b, "as many parameters", "fewer parameters"),
        sequence_factor(static_cast<double>(step.sequence),
                        static_cast<double>(nearest->sequence))}) {
    if (!word.empty()) differs += (differs.empty() ? "" : " and ") + word;
  }
  if (!differs.empty()) out += ", this has " + differs;
  return out;
}

}  // namespace

Regime regime_of(const Cluster& cluster, NumberFormat precision, std::string_view kind) {
  const std::int64_t n = cluster.accelerators;
  const bool narrow = precision == NumberFormat::fp8 || precision == NumberFormat::mxfp8 ||
                      precision == NumberFormat::nvfp4;
  return {.architecture = cluster.accelerator.architecture,
          .scale = n <= cluster.accelerators_per_node ? "one node"
                   : n <= 64                          ? "to 64"
                   : n <= 512                         ? "to 512"
                                                      : "above 512",
          .precision = narrow                                      ? "narrow"
                       : tensor_element_size(precision) > Bytes(2) ? "32 bit"
                                                                   : "16 bit",
          .kind = std::string(kind)};
}

std::vector<Regime> widening(const Regime& r) {
  std::vector<Regime> out = {r,
                             {r.architecture, r.scale, kAll, r.kind},
                             {r.architecture, kAll, kAll, r.kind},
                             {kAll, kAll, kAll, r.kind},
                             {}};
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Fields<Regime> fields_of(const Regime*) {
  return Fields<Regime>("regime")
      .required<&Regime::architecture>("of the accelerator; \"*\": all")
      .required<&Regime::scale>("class of the number of accelerators; \"*\": all")
      .required<&Regime::precision>("class of precision; \"*\": all")
      .required<&Regime::kind>("dense, mixture of experts or adapters; \"*\": all");
}

Fields<RegimeError> fields_of(const RegimeError*) {
  return Fields<RegimeError>("errors of a regime")
      .required<&RegimeError::regime>("of which steps")
      .required<&RegimeError::rows>("held-out steps")
      .required<&RegimeError::low>("quantile of log(measured / predicted)")
      .required<&RegimeError::high>("quantile of log(measured / predicted)");
}

Fields<StepPoint> fields_of(const StepPoint*) {
  return Fields<StepPoint>("measured step")
      .required<&StepPoint::accelerator>("catalog name")
      .required<&StepPoint::architecture>("of the accelerator")
      .required<&StepPoint::accelerators>("count")
      .required<&StepPoint::parameters_b>("1e9 parameters")
      .required<&StepPoint::kind>("of the model")
      .required<&StepPoint::sequence>("tokens")
      .required<&StepPoint::software>("profile")
      .optional<&StepPoint::source>("who measured it");
}

Fields<BetweenSources> fields_of(const BetweenSources*) {
  return Fields<BetweenSources>("what sources have of their own")
      .required<&BetweenSources::sources>("left out whole")
      .required<&BetweenSources::deviation>("of log(measured / predicted)")
      .required<&BetweenSources::half_width>("of an interval of that alone");
}

Fields<Uncertainty> fields_of(const Uncertainty*) {
  return Fields<Uncertainty>("uncertainty of step times")
      .required<&Uncertainty::source>("where the values are from")
      .required<&Uncertainty::level>("share of steps an interval is to hold")
      .required<&Uncertainty::regimes>("errors by regime")
      .required<&Uncertainty::between_sources>("of sources left out whole")
      .required<&Uncertainty::measured>("distinct measured steps");
}

Result<Uncertainty> read_uncertainty(const Document& document) {
  ORRERY_TRY(Uncertainty out, read<Uncertainty>(document));
  const auto wrong = [&](std::string what, std::string right) {
    return bad_input(std::move(what), document.name, std::move(right));
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
  if (!all) return wrong("there is no regime of all steps", "one whose classes are all '*'");
  const BetweenSources& between = out.between_sources;
  if (!(between.half_width >= 0 && between.half_width <= 5)) {
    return wrong("between_sources.half_width is out of range", "0 to 5");
  }
  for (const StepPoint& p : out.measured) {
    if (p.accelerators < 1 || !(p.parameters_b > 0) || p.sequence < 1) {
      return wrong("a measured step of no accelerators, parameters or sequence", "all above 0");
    }
  }
  return out;
}

Result<Uncertainty> load_uncertainty(const Catalog& catalog) {
  ORRERY_TRY(const Document document, catalog.find("step", "uncertainty"));
  return read_uncertainty(document);
}

const RegimeError& error_of(std::span<const RegimeError> regimes, const Regime& regime) {
  for (const Regime& wider : widening(regime)) {
    const auto found = std::ranges::find(regimes, wider, &RegimeError::regime);
    if (found != regimes.end()) return *found;
  }
  ORRERY_INVARIANT(!regimes.empty());
  return regimes.front();
}

RegimeError error_of(const Uncertainty& uncertainty, const Regime& regime) {
  RegimeError out = error_of(uncertainty.regimes, regime);
  const double half = uncertainty.between_sources.half_width;
  out.low = -std::hypot(std::min(out.low, 0.0), half);
  out.high = std::hypot(std::max(out.high, 0.0), half);
  return out;
}

std::string kind_of(const Model& model) {
  // No step of these families is among those that intervals are made of.
  if (!model.family->key.empty()) return model.tables > 0 ? "recommendation" : "image";
  const bool frozen = trained_parameters(model) < parameters(model);
  return std::string(frozen ? kAdapters : model.experts > 0 ? kMixture : kDense);
}

StepPoint point_of(const Model& model, const Cluster& cluster, const Training& training,
                   std::string_view software) {
  return {.accelerator = cluster.accelerator.name,
          .architecture = cluster.accelerator.architecture,
          .accelerators = cluster.accelerators,
          .parameters_b = std::max(parameters(model) / 1e9, 1e-6),
          .kind = training.workload != Workload::training ? std::string(to_text(training.workload))
                  : tensor_element_size(training.precision) > Bytes(2) ? std::string(kWide)
                                                                       : kind_of(model),
          .sequence = std::max<std::int64_t>(training.sequence_length, 1),
          .software = std::string(software),
          .source = {}};
}

std::string extrapolation(std::span<const StepPoint> measured, const StepPoint& step) {
  const std::string kind = kind_in_words(step.kind);
  const auto accelerators = static_cast<double>(step.accelerators);
  const auto sequence = static_cast<double>(step.sequence);
  bool architecture = false;
  const StepPoint* of_kind = nullptr;  // nearest in accelerators
  double of_kind_apart = 0;
  std::int64_t shortest = 0;  // sequences of those near in accelerators
  std::int64_t longest = 0;
  bool accelerator = false;              // the same one among those near
  std::set<std::string_view> of_system;  // sources with the same software there
  for (const StepPoint& p : measured) {
    if (p.architecture != step.architecture) continue;
    architecture = true;
    if (p.kind != step.kind) continue;
    const double apart = std::abs(std::log(static_cast<double>(p.accelerators) / accelerators));
    if (of_kind == nullptr || apart < of_kind_apart) {
      of_kind = &p;
      of_kind_apart = apart;
    }
    if (!near(static_cast<double>(p.accelerators), accelerators)) continue;
    shortest = shortest == 0 ? p.sequence : std::min(shortest, p.sequence);
    longest = std::max(longest, p.sequence);
    accelerator = accelerator || p.accelerator == step.accelerator;
    if (p.accelerator != step.accelerator || p.software != step.software) continue;
    if (differs_in_its_plan(p, step)) return "";
    of_system.insert(p.source);
  }
  if (!architecture) return fmt::format("no step was measured on {}", step.architecture);
  if (of_kind == nullptr) {
    return fmt::format("no {} step was measured on {}", kind, step.architecture);
  }
  if (longest == 0) {
    return fmt::format("{} than the nearest {} step measured on {} has",
                       factor(accelerators, static_cast<double>(of_kind->accelerators),
                              "more accelerators", "fewer accelerators"),
                       kind, step.architecture);
  }
  const auto end =
      static_cast<double>(std::clamp(step.sequence, shortest, std::max(shortest, longest)));
  if (near(sequence, end)) {
    if (of_system.size() > 1) return "";
    if (of_system.size() == 1) {
      return fmt::format("one source alone measured {} steps of {} on about as many {}", kind,
                         step.software, step.accelerator);
    }
    return fmt::format("no {} step {}was measured on about as many {}", kind,
                       accelerator ? "of " + step.software + " " : "", step.accelerator);
  }
  return fmt::format("{} as any {} step measured on about as many {} accelerators",
                     sequence_factor(sequence, end), kind, step.architecture);
}

StepTimeInterval interval(const Uncertainty& uncertainty, Seconds step_time, const Model& model,
                          const Cluster& cluster, const Training& training,
                          std::string_view software) {
  const StepPoint step = point_of(model, cluster, training, software);
  const Regime regime = regime_of(cluster, training.precision, step.kind);
  const std::string beyond = extrapolation(uncertainty.measured, step);
  StepTimeInterval out;
  out.level = uncertainty.level;
  out.extrapolates = !beyond.empty();
  const RegimeError e = error_of(uncertainty, regime);
  // The estimate itself stays inside: where a regime is off to one side, the other end is the
  // estimate.
  out.low = step_time * std::exp(std::min(e.low, 0.0));
  out.high = step_time * std::exp(std::max(e.high, 0.0));
  out.regime = fmt::format(
      "{}: {:.0f} held-out steps, widened by {:.0f} % for the spread between {:.0f} sources",
      in_words(e.regime), e.rows, 100 * std::expm1(uncertainty.between_sources.half_width),
      uncertainty.between_sources.sources);
  if (out.extrapolates) out.distance = "extrapolates: " + beyond + "; ";
  out.distance += nearest_in_words(uncertainty.measured, step);
  return out;
}

}  // namespace orrery
