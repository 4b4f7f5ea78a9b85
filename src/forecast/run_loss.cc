#include "forecast/run_loss.h"

#include <fmt/format.h>

#include "forecast/routed_law.h"

namespace orrery {
namespace {

// What the active parameters are worth with the experts among which they are chosen.
Result<double> dense_parameters(double active, const Model& model, const RunQuestion& question,
                                RunForecast& run, const Catalog& catalog) {
  if (question.routing.empty()) {
    if (model.experts > 0) run.assumed.emplace_back("of the experts the active parameters count");
    return active;
  }
  if (model.experts == 0) return bad_input("the model has no experts", "forecast.routing");
  ORRERY_TRY(const RoutedLaw law,
             at("forecast.routing", load_routed_law(catalog, question.routing)));
  const double choice =
      static_cast<double>(model.experts) / static_cast<double>(model.experts_of_a_token);
  const double worth = law.dense_equivalent(active, choice);
  run.assumed.push_back(fmt::format(
      "{:.3g} B active parameters out of {:.3g} times as many experts are worth {:.3g} B "
      "dense ones, as in runs of 130 B tokens: {}, {}",
      active / 1e9, choice, worth / 1e9, law.title, law.provenance.source));
  return worth;
}

}  // namespace

Result<LossForecast> loss_of(RunForecast& run, const Model& model, const RunQuestion& question,
                             double batch, const Catalog& catalog) {
  const std::string name = question.law.empty() ? std::string(kUsualLaw) : question.law;
  ORRERY_TRY(const ScalingLaw law, at("forecast.law", load_scaling_law(catalog, name)));
  ORRERY_TRY(const CriticalBatch critical, load_critical_batch(catalog, law.critical_batch));
  LossForecast out{.law = name, .run = {}, .cheapest = {}, .batch = batch};
  out.run.parameters = counted_parameters(model, law.counts);
  ORRERY_TRY(out.worth, dense_parameters(out.run.parameters, model, question, run, catalog));
  if (question.loss) {
    out.run.loss = *question.loss;
    ORRERY_TRY(out.run.tokens, law.tokens_to(*question.loss, out.worth));
  } else {
    // Those of the law and those that the batch takes beyond them are the tokens of the run.
    double all = 0;
    for (const ForecastPhase& phase : run.phases) all += phase.tokens;
    const auto taken = [&](double tokens) {
      const double most = critical.at(tokens, law.loss(out.worth, tokens));
      return tokens * (1 + critical.extra_share(batch, most));
    };
    out.run.tokens = all;
    if (taken(all) > all) {
      double low = 0;
      while (out.run.tokens - low > 1e-9 * out.run.tokens) {
        const double middle = (low + out.run.tokens) / 2;
        (taken(middle) > all ? out.run.tokens : low) = middle;
      }
    }
    out.run.loss = law.loss(out.worth, out.run.tokens);
  }
  ORRERY_TRY(out.cheapest, law.cheapest(out.run.loss));
  out.critical = critical.at(out.run.tokens, out.run.loss);
  out.extra_share = critical.extra_share(batch, out.critical);
  run.assumed.push_back(fmt::format("loss: {}, {}", law.name, law.provenance.source));
  run.assumed.push_back(
      fmt::format("critical batch: {}, {}", critical.title, critical.provenance.source));
  if (!law.covers(out.run)) run.assumed.push_back(law.extrapolated());
  return out;
}

}  // namespace orrery
