#include "forecast/scaling_law.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catalog/entry.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr double kMostTrainedTokens = 1e18;

double term(const LossTerm& t, double x) { return t.coefficient / std::pow(x, t.exponent); }
// What gives that term.
double inverse(const LossTerm& t, double value) {
  return std::pow(t.coefficient / value, 1 / t.exponent);
}

// What the two terms of a law share of a loss. Errors: nothing is left for them.
Result<double> reducible(const ScalingLaw& law, double loss) {
  const double least = std::pow(law.irreducible, law.power);
  if (!(loss > least && loss <= 100)) {
    return bad_input(fmt::format("no model reaches a loss of {} by {}", loss, law.name),
                     "forecast.loss", fmt::format("write one above {:.4g}, 100 at most", least));
  }
  return std::pow(loss, 1 / law.power) - law.irreducible;
}

// "8.03 B", as papers count parameters and tokens.
std::string spelled(double n) {
  if (n >= 1e15) return fmt::format("{:.3g}", n);
  if (n >= 1e12) return fmt::format("{:.3g} T", n / 1e12);
  if (n >= 1e9) return fmt::format("{:.3g} B", n / 1e9);
  return n >= 1e6 ? fmt::format("{:.3g} M", n / 1e6) : fmt::format("{:.3g}", n);
}

double of_block(const Block& block) {
  double sum = 0;
  for (const Operator& op : block.operators) sum += op.auxiliary ? 0 : op.parameters;
  return sum;
}

}  // namespace

Fields<LossTerm> fields_of(const LossTerm*) {
  return Fields<LossTerm>("term of a loss")
      .required<&LossTerm::coefficient>("nats a token")
      .required<&LossTerm::exponent>("how fast it falls");
}

Fields<FittedRange> fields_of(const FittedRange*) {
  return Fields<FittedRange>("range of a fit")
      .required<&FittedRange::least>("of the runs")
      .required<&FittedRange::most>("of the runs");
}

Fields<ScalingLaw> fields_of(const ScalingLaw*) {
  return Fields<ScalingLaw>("scaling law")
      .required<&ScalingLaw::name>("identifier")
      .required<&ScalingLaw::title>("whose runs it was fitted to")
      .required<&ScalingLaw::irreducible>("what no model goes below")
      .required<&ScalingLaw::parameters>("what more parameters reduce")
      .required<&ScalingLaw::tokens>("what more tokens reduce")
      .optional<&ScalingLaw::power>("of the sum of the three")
      .optional<&ScalingLaw::counts>("which parameters")
      .required<&ScalingLaw::critical_batch>("name in the catalog's critical batches")
      .required<&ScalingLaw::trained_parameters>("of the runs")
      .required<&ScalingLaw::trained_tokens>("of the runs")
      .required<&ScalingLaw::provenance>("where the constants come from");
}

Fields<CriticalBatch> fields_of(const CriticalBatch*) {
  return Fields<CriticalBatch>("critical batch")
      .required<&CriticalBatch::name>("identifier")
      .required<&CriticalBatch::title>("what makes it critical")
      .required<&CriticalBatch::tokens>("of the batch, before the powers")
      .optional<&CriticalBatch::tokens_exponent>("of the tokens of the run")
      .optional<&CriticalBatch::loss_exponent>("of the loss, by which it is divided")
      .required<&CriticalBatch::extra>("share of tokens more than with tiny batches")
      .required<&CriticalBatch::provenance>("where the constants come from");
}

double CriticalBatch::at(double trained_tokens, double loss) const {
  return tokens * std::pow(trained_tokens, tokens_exponent) / std::pow(loss, loss_exponent);
}

double CriticalBatch::extra_share(double batch, double critical) const {
  return batch <= critical ? 0 : (1 + extra * batch / critical) / (1 + extra) - 1;
}

double ScalingLaw::loss(double parameters_of_model, double trained) const {
  return std::pow(irreducible + term(parameters, parameters_of_model) + term(tokens, trained),
                  power);
}

Allocation ScalingLaw::best_of(double compute) const {
  const double both = parameters.exponent + tokens.exponent;
  const double g = std::pow(
      parameters.exponent * parameters.coefficient / (tokens.exponent * tokens.coefficient),
      1 / both);
  const double size = g * std::pow(compute / 6, tokens.exponent / both);
  const double trained = compute / 6 / size;
  return {size, trained, loss(size, trained)};
}

Result<Allocation> ScalingLaw::cheapest(double target) const {
  ORRERY_TRY(const double rest, reducible(*this, target));
  const double both = parameters.exponent + tokens.exponent;
  return Allocation{inverse(parameters, rest * tokens.exponent / both),
                    inverse(tokens, rest * parameters.exponent / both), target};
}

Result<double> ScalingLaw::tokens_to(double target, double parameters_of_model) const {
  ORRERY_TRY(const Allocation best, cheapest(target));
  ORRERY_TRY(const double rest, reducible(*this, target));
  const double left = rest - term(parameters, parameters_of_model);
  const double trained = left > 0 ? inverse(tokens, left) : kMostTrainedTokens;
  if (trained < kMostTrainedTokens) return std::max(trained, 1.0);
  return bad_input(
      fmt::format("a model of {} parameters does not reach a loss of {} by {}",
                  spelled(parameters_of_model), target, name),
      "forecast.loss",
      fmt::format("more than {} parameters are needed; the least compute has {} and {} tokens",
                  spelled(inverse(parameters, rest)), spelled(best.parameters),
                  spelled(best.tokens)));
}

Result<std::vector<Allocation>> ScalingLaw::sizes_within(double target, double compute) const {
  ORRERY_TRY(const Allocation best, cheapest(target));
  if (best.compute() > compute) {
    return bad_input(
        fmt::format("{:.3g} FLOPs do not reach a loss of {} by {}", compute, target, name),
        "--compute", fmt::format("write {:.3g} or more", best.compute() * 1.01));
  }
  ORRERY_TRY(const double rest, reducible(*this, target));
  const auto with = [&](double size) {
    return Allocation{size, inverse(tokens, rest - term(parameters, size)), target};
  };
  // The compute falls from the least size, which takes for ever, to the best one, and rises beyond.
  const auto boundary = [&](double affordable, double beyond) {
    for (int i = 0; i < 200; ++i) {
      const double middle = std::sqrt(affordable * beyond);
      (with(middle).compute() <= compute ? affordable : beyond) = middle;
    }
    return with(affordable);
  };
  const double tokens_at_least = inverse(tokens, rest);
  return std::vector{boundary(best.parameters, inverse(parameters, rest)),
                     boundary(best.parameters, 2 * compute / (6 * tokens_at_least))};
}

bool ScalingLaw::covers(const Allocation& allocation) const {
  const auto within = [](double value, const FittedRange& range) {
    return value >= range.least && value <= range.most;
  };
  return within(allocation.parameters, trained_parameters) &&
         within(allocation.tokens, trained_tokens);
}

std::string ScalingLaw::extrapolated() const {
  return fmt::format(
      "{} was fitted to {} to {} parameters and {} to {} tokens, and goes beyond here", name,
      spelled(trained_parameters.least), spelled(trained_parameters.most),
      spelled(trained_tokens.least), spelled(trained_tokens.most));
}

Result<void> check(const ScalingLaw& law) {
  for (const double constant : {law.parameters.coefficient, law.parameters.exponent,
                                law.tokens.coefficient, law.tokens.exponent, law.power}) {
    if (!(constant > 0)) return bad_input("a constant is not above 0");
  }
  if (!(law.irreducible >= 0)) return bad_input("the irreducible loss is negative");
  return {};
}

Result<void> check(const CriticalBatch& batch) {
  if (!(batch.tokens > 0 && batch.extra > 0)) return bad_input("a constant is not above 0");
  return {};
}

Result<ScalingLaw> load_scaling_law(const Catalog& catalog, std::string_view name) {
  return load_entry<ScalingLaw>(catalog, "scaling-laws", name);
}

Result<CriticalBatch> load_critical_batch(const Catalog& catalog, std::string_view name) {
  return load_entry<CriticalBatch>(catalog, "critical-batches", name);
}

double counted_parameters(const Model& model, CountedParameters counts) {
  const double active = active_parameters(model);
  if (counts == CountedParameters::all) return active;
  return active - of_block(model.embedding) - of_block(model.head);
}

Result<SizeAnswer> sizes_of(const SizeQuestion& question, const Catalog& catalog) {
  ORRERY_TRY(const ScalingLaw law, at("--law", load_scaling_law(catalog, question.law)));
  ORRERY_TRY(const CriticalBatch critical, load_critical_batch(catalog, law.critical_batch));
  SizeAnswer out{.law = law.name, .choices = {}, .assumed = {}};
  const auto add = [&](std::string choice, const Allocation& size) {
    out.choices.push_back({std::move(choice), size, critical.at(size.tokens, size.loss)});
  };
  if (question.loss) {
    ORRERY_TRY(const Allocation best, law.cheapest(*question.loss));
    if (question.compute) {
      ORRERY_TRY(const auto sizes, law.sizes_within(*question.loss, *question.compute));
      add("smallest model", sizes.front());
      add("least compute", best);
      add("largest model", sizes.back());
    } else {
      add("least compute", best);
    }
  }
  if (question.compute) add("least loss", law.best_of(*question.compute));
  for (const SizeChoice& choice : out.choices) {
    for (const double count : {choice.size.parameters, choice.size.tokens}) {
      if (count >= 1 && count <= kMostTrainedTokens) continue;
      return bad_input(fmt::format("{} says a model of {:.3g} parameters and {:.3g} tokens",
                                   law.name, choice.size.parameters, choice.size.tokens),
                       question.loss ? "--loss" : "--compute",
                       "write one that models of 1 to 1e18 parameters and tokens have");
    }
  }
  out.assumed.push_back(fmt::format("loss: {}, {}", law.title, law.provenance.source));
  out.assumed.push_back(law.counts == CountedParameters::all ? "all parameters count"
                                                             : "embeddings do not count");
  out.assumed.emplace_back("compute is 6 x parameters x tokens");
  out.assumed.push_back(
      fmt::format("critical batch: {}, {}", critical.title, critical.provenance.source));
  if (!std::ranges::all_of(out.choices, [&](const SizeChoice& c) { return law.covers(c.size); })) {
    out.assumed.push_back(law.extrapolated());
  }
  return out;
}

Result<double> parse_compute(std::string_view text) {
  const auto number = parsed_number<double>(text);
  if (number && *number >= 1 && *number <= 1e40) return *number;
  return bad_input("'" + std::string(text) + "' is not a number of FLOPs from 1 to 1e40",
                   "--compute", "write 1e25");
}

}  // namespace orrery
