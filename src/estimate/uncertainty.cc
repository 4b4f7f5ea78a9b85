#include "estimate/uncertainty.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>
#include <string>
#include <tuple>

#include "lower/step_category.h"
#include "model/family.h"
#include "units/grouped.h"

namespace orrery {
namespace {

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
  if (nearest->software != step.software && !nearest->software.empty()) {
    out += " with " + nearest->software;
  }
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

StepShares shares_of(const Breakdown& step) {
  const double whole = step.total().seconds().value();
  if (whole <= 0) return {};
  const auto share = [&](std::initializer_list<Category> parts) {
    Picoseconds sum;
    for (const Category part : parts) sum += step[part];
    return sum.seconds().value() / whole;
  };
  using enum Category;
  return {.attention = share({attention_core}),
          .network = share({exposed_tp, exposed_cp, exposed_pp, exposed_dp, contention}),
          .waiting = share({bubble, host})};
}

double few_sources_factor(int sources) {
  return 1 + 1 / std::max(static_cast<double>(sources), 0.5);
}

double deviation(const StepDeviations& d, const StepShares& shares, int sources) {
  const double own = std::hypot(std::hypot(d.step, d.attention * shares.attention),
                                std::hypot(d.network * shares.network, d.waiting * shares.waiting));
  return own * std::sqrt(few_sources_factor(sources));
}

int sources_like(std::span<const StepPoint> measured, const StepPoint& step) {
  std::set<std::string_view> sources;
  for (const StepPoint& p : measured) {
    if (p.architecture == step.architecture && p.kind == step.kind && p.source != step.source) {
      sources.insert(p.source);
    }
  }
  return static_cast<int>(sources.size());
}

Fields<StepDeviations> fields_of(const StepDeviations*) {
  return Fields<StepDeviations>("deviations of step times")
      .required<&StepDeviations::step>("of every step")
      .required<&StepDeviations::attention>("of attention by itself")
      .required<&StepDeviations::network>(
          "of exposed communication other than expert exchange by itself")
      .required<&StepDeviations::waiting>("of bubbles and the host by themselves");
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

Fields<Uncertainty> fields_of(const Uncertainty*) {
  return Fields<Uncertainty>("uncertainty of step times")
      .required<&Uncertainty::source>("where the values are from")
      .required<&Uncertainty::level>("share of steps an interval is to hold")
      .required<&Uncertainty::deviations>("of sources left out whole")
      .required<&Uncertainty::low>("quantile of an error over its deviation")
      .required<&Uncertainty::high>("quantile of an error over its deviation")
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
  const StepDeviations& d = out.deviations;
  for (const double deviation : {d.step, d.attention, d.network, d.waiting}) {
    if (!(deviation >= 0 && deviation <= 5)) {
      return wrong(fmt::format("a deviation of {} is out of range", deviation), "0 to 5");
    }
  }
  if (!(out.low <= 0 && out.low >= -20 && out.high >= 0 && out.high <= 20)) {
    return wrong(fmt::format("the quantiles {} and {} are out of range", out.low, out.high),
                 "low from -20 to 0, high from 0 to 20");
  }
  if (!(d.step > 0)) {
    return wrong("every step would be exact: the deviation 'step' is 0", "above 0, at most 5");
  }
  for (const StepPoint& p : out.measured) {
    if (p.accelerators < 1 || !(p.parameters_b > 0) || p.sequence < 1) {
      return wrong("a measured step of no accelerators, parameters or sequence", "all above 0");
    }
  }
  return out;
}

Result<std::string> uncertainty_file(const Uncertainty& uncertainty) {
  std::string text = to_yaml(non_default_fields(uncertainty));
  ORRERY_TRY(const Document document, parse_yaml(text, "step/uncertainty.yaml"));
  ORRERY_RETURN_IF_ERROR(read_uncertainty(document));
  return text;
}

Result<Uncertainty> load_uncertainty(const Catalog& catalog) {
  ORRERY_TRY(const Document document, catalog.find("step", "uncertainty"));
  return read_uncertainty(document);
}

ErrorRange error_range(const Uncertainty& uncertainty, const StepShares& shares,
                       const StepPoint& step) {
  const double s =
      deviation(uncertainty.deviations, shares, sources_like(uncertainty.measured, step));
  return {std::min(uncertainty.low * s, 0.0), std::max(uncertainty.high * s, 0.0)};
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

StepTimeInterval interval(const Uncertainty& uncertainty, Seconds step_time,
                          const StepShares& shares, const Model& model, const Cluster& cluster,
                          const Training& training, std::string_view software) {
  const StepPoint step = point_of(model, cluster, training, software);
  const std::string beyond = extrapolation(uncertainty.measured, step);
  const ErrorRange range = error_range(uncertainty, shares, step);
  StepTimeInterval out;
  out.level = uncertainty.level;
  out.extrapolates = !beyond.empty();
  out.low = step_time * std::exp(range.low);
  out.high = step_time * std::exp(range.high);
  const StepDeviations& d = uncertainty.deviations;
  const int sources = sources_like(uncertainty.measured, step);
  out.basis = fmt::format(
      "typical errors on sources left out of calibration: {:.1f} % of the whole "
      "step; {:.0f} % of attention, which is {:.0f} % of this step; {:.0f} % of exposed "
      "communication other than expert exchange, which is {:.0f} %; {:.0f} % of waiting, which is "
      "{:.0f} %. {} measured {} steps on {}",
      100 * d.step, 100 * d.attention, 100 * shares.attention, 100 * d.network,
      100 * shares.network, 100 * d.waiting, 100 * shares.waiting,
      sources == 1   ? "One source"
      : sources == 0 ? "No source"
                     : fmt::format("{} sources", sources),
      kind_in_words(step.kind), step.architecture);
  // Languages have no key: their steps alone were measured for calibration.
  out.calibrated = model.family->key.empty();
  if (!out.calibrated) {
    out.basis += fmt::format(
        ". These errors are of other models: the interval is not calibrated for {} models, whose "
        "steps have been further off",
        model.tables > 0 ? "recommendation" : "image");
  }
  if (out.extrapolates) out.distance = "extrapolates: " + beyond + "; ";
  out.distance += nearest_in_words(uncertainty.measured, step);
  return out;
}

}  // namespace orrery
