#include "validate/step_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "estimate/predicted_step.h"
#include "parallel/parallel_for.h"

namespace orrery {
namespace {

constexpr double kPriorScale = 0.1;  // k: the robust scale of a row
constexpr int kHalvings = 4;
constexpr int kRefits = 4;
constexpr double kGain = 1e-3;  // of the sum: what is not worth another round

std::vector<Cluster> clusters_of(const std::vector<MeasuredStep>& steps) {
  std::vector<Cluster> out;
  out.reserve(steps.size());
  for (const MeasuredStep& s : steps) out.push_back(s.scenario.cluster);
  return out;
}

std::vector<AttentionKernel> attention_of(const std::vector<MeasuredStep>& steps) {
  std::vector<AttentionKernel> out;
  out.reserve(steps.size());
  for (const MeasuredStep& s : steps) out.push_back(s.scenario.plan.attention);
  return out;
}

double prior_residual(const StepCoordinate& coordinate, double x) {
  return kPriorScale * (x - coordinate.expected) / coordinate.spread;
}

}  // namespace

StepFit::StepFit(std::vector<MeasuredStep> steps, const Catalog& catalog, int threads)
    : steps_(std::move(steps)),
      catalog_(catalog),
      threads_(threads_to_use(threads)),
      problem_(clusters_of(steps_), attention_of(steps_)) {}

Result<std::vector<double>> StepFit::predict(std::span<const double> x,
                                             std::span<const std::size_t> steps) const {
  const TrainingConditions conditions = problem_.conditions(x);
  std::vector<double> out(steps.size());
  std::vector<std::optional<Error>> errors(steps.size());
  parallel_for(steps.size(), threads_, [&](std::size_t k) {
    const auto predicted = orrery::predict(steps_[steps[k]].scenario, catalog_, conditions);
    if (predicted) {
      out[k] = std::log(predicted->folded.time.seconds().value());
    } else {
      errors[k] = at(steps_[steps[k]].row_id, predicted.error());
    }
  });
  for (auto& error : errors) {
    if (error) return fail(std::move(*error));
  }
  return out;
}

Result<StepExpansion> StepFit::expand(std::span<const double> x) const {
  StepExpansion out;
  out.x.assign(x.begin(), x.end());
  std::vector<std::size_t> all(steps_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  ORRERY_TRY(out.log_predicted, predict(x, all));
  out.derivative.resize(steps_.size());
  for (const MeasuredStep& s : steps_) {
    out.concerned.push_back(problem_.concerned(s.scenario.cluster, s.scenario.plan.attention));
  }
  for (std::size_t i = 0; i < all.size(); ++i) out.derivative[i].resize(out.concerned[i].size());
  // One coordinate after the other, for the steps it concerns. A sum that another coordinate has
  // moved as far gives the same step again.
  std::vector<std::map<std::pair<std::size_t, double>, double>> known(all.size());
  for (std::size_t j = 0; j < x.size(); ++j) {
    const StepCoordinate& coordinate = problem_.coordinates()[j];
    // Towards the inside at a bound.
    const double step =
        x[j] + coordinate.step <= coordinate.most ? coordinate.step : -coordinate.step;
    std::vector<std::size_t> steps;
    std::vector<double*> derivatives;
    std::vector<double*> sums;
    for (const std::size_t i : all) {
      const auto at = std::ranges::find(out.concerned[i], j, &ConcernedCoordinate::coordinate);
      if (at == out.concerned[i].end()) continue;
      double& derivative =
          out.derivative[i][static_cast<std::size_t>(at - out.concerned[i].begin())];
      const auto [sum, is_new] = known[i].try_emplace({at->sum, step});
      derivative = sum->second;
      if (!is_new) continue;
      steps.push_back(i);
      derivatives.push_back(&derivative);
      sums.push_back(&sum->second);
    }
    std::vector<double> moved(x.begin(), x.end());
    moved[j] += step;
    ORRERY_TRY(const std::vector<double> there, predict(moved, steps));
    for (std::size_t k = 0; k < steps.size(); ++k) {
      *derivatives[k] = *sums[k] = (there[k] - out.log_predicted[steps[k]]) / step;
    }
  }
  return out;
}

std::vector<double> StepFit::weights_of(std::span<const std::size_t> steps) const {
  std::map<std::string, double> of_source;
  for (const std::size_t i : steps) of_source[steps_[i].source_id] += 1;
  const double mean = static_cast<double>(steps.size()) / static_cast<double>(of_source.size());
  std::vector<double> out;
  for (const std::size_t i : steps) {
    out.push_back(steps_[i].weight * std::pow(mean / of_source[steps_[i].source_id], 0.25));
  }
  return out;
}

Result<Fit> StepFit::solve(const StepExpansion& e, std::span<const std::size_t> steps) const {
  const std::vector<StepCoordinate>& coordinates = problem_.coordinates();
  std::vector<FitParameter> parameters;
  for (std::size_t j = 0; j < coordinates.size(); ++j) {
    const StepCoordinate& c = coordinates[j];
    parameters.push_back({.name = c.name,
                          .unit = c.unit,
                          .start = std::clamp(e.x[j], c.least, c.most),
                          .least = c.least,
                          .most = c.most});
  }
  const std::vector<double> weights = weights_of(steps);
  const auto residuals = [&](std::span<const double> x, std::span<double> out) {
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const std::size_t i = steps[k];
      double r = e.log_predicted[i] - std::log(steps_[i].measured.value());
      for (std::size_t d = 0; d < e.concerned[i].size(); ++d) {
        const std::size_t j = e.concerned[i][d].coordinate;
        r += e.derivative[i][d] * (x[j] - e.x[j]);
      }
      out[k] = weights[k] * r;
    }
    for (std::size_t j = 0; j < coordinates.size(); ++j) {
      out[steps.size() + j] = prior_residual(coordinates[j], x[j]);
    }
  };
  return fit(parameters, steps.size() + coordinates.size(), residuals,
             {.robust_scale = kPriorScale, .max_iterations = 100, .more_starts = {}});
}

double StepFit::objective(std::span<const double> x, std::span<const std::size_t> steps,
                          std::span<const double> log_predicted) const {
  const std::vector<double> weights = weights_of(steps);
  double sum = 0;
  const auto add = [&](double r) {
    sum += kPriorScale * kPriorScale * (std::sqrt(1 + r * r / (kPriorScale * kPriorScale)) - 1);
  };
  for (std::size_t k = 0; k < steps.size(); ++k) {
    add(weights[k] * (log_predicted[k] - std::log(steps_[steps[k]].measured.value())));
  }
  for (std::size_t j = 0; j < x.size(); ++j) add(prior_residual(problem_.coordinates()[j], x[j]));
  return sum;
}

Result<StepFit::Advance> StepFit::advance(const StepExpansion& from,
                                          std::span<const std::size_t> steps, double least) const {
  Advance out;
  out.least = least;
  ORRERY_TRY(out.fit, solve(from, steps));
  const std::vector<double> best = out.fit.values();
  out.x.resize(best.size());
  double share = 1;
  for (int halved = 0; halved < kHalvings && !out.better; ++halved, share /= 2) {
    for (std::size_t j = 0; j < best.size(); ++j) {
      out.x[j] = from.x[j] + share * (best[j] - from.x[j]);
    }
    ORRERY_TRY(out.log_predicted, predict(out.x, steps));
    const double cost = objective(out.x, steps, out.log_predicted);
    out.better = cost < least;
    if (out.better) out.least = cost;
  }
  return out;
}

Result<StepFit::Solution> StepFit::fit_all(int rounds) const {
  std::vector<double> x;
  for (const StepCoordinate& c : problem_.coordinates()) x.push_back(c.expected);
  std::vector<std::size_t> all(steps_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Solution out;
  ORRERY_TRY(out.expansion, expand(x));
  double least = objective(x, all, out.expansion.log_predicted);
  for (int round = 0; round < rounds; ++round) {
    ORRERY_TRY(const Advance next, advance(out.expansion, all, least));
    if (!next.better) break;
    least = next.least;
    ORRERY_TRY(out.expansion, expand(next.x));
  }
  // Standard errors are those around the point that was kept.
  ORRERY_TRY(out.fit, solve(out.expansion, all));
  for (std::size_t j = 0; j < x.size(); ++j) out.fit.parameters[j].value = out.expansion.x[j];
  return out;
}

Result<std::vector<double>> StepFit::refit(StepExpansion expansion,
                                           std::span<const std::size_t> steps) const {
  std::vector<double> predicted;
  for (const std::size_t i : steps) predicted.push_back(expansion.log_predicted[i]);
  double least = objective(expansion.x, steps, predicted);
  for (int round = 0; round < kRefits; ++round) {
    ORRERY_TRY(const Advance next, advance(expansion, steps, least));
    const double gained = least - next.least;
    if (!next.better) break;
    least = next.least;
    expansion.x = next.x;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      expansion.log_predicted[steps[k]] = next.log_predicted[k];
    }
    if (gained < kGain * least) break;
  }
  return expansion.x;
}

}  // namespace orrery
