#include "validate/baselines.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "calibrate/statistics.h"
#include "estimate/uncertainty.h"
#include "model/model.h"
#include "outcome/invariant.h"

namespace orrery {
namespace {

constexpr std::size_t kNeighbours = 3;
constexpr double kOtherSystem = 4;  // doublings
constexpr double kOtherFormat = 2;

double distance(const BaselineStep& a, const BaselineStep& b) {
  double out = (a.accelerator == b.accelerator ? 0 : kOtherSystem) +
               (a.kind == b.kind ? 0 : kOtherSystem) +
               (a.precision == b.precision ? 0 : kOtherFormat);
  for (std::size_t i = 0; i < a.doublings.size(); ++i) {
    out += std::abs(a.doublings[i] - b.doublings[i]);
  }
  return out;
}

}  // namespace

BaselineStep baseline_step(const Scenario& s, Seconds measured) {
  const Plan& plan = s.plan;
  BaselineStep out;
  out.accelerator = s.cluster.accelerator.name;
  out.precision = to_text(s.training.precision);
  out.kind = kind_of(s.model);
  for (const double count :
       {static_cast<double>(s.cluster.accelerators), parameters(s.model),
        static_cast<double>(s.training.sequence_length), static_cast<double>(plan.micro_batch),
        static_cast<double>(plan.tp), static_cast<double>(plan.pp), static_cast<double>(plan.ep)}) {
    out.doublings.push_back(std::log2(count));
  }
  const auto peak = s.cluster.accelerator.peak(s.training.precision);
  ORRERY_INVARIANT(peak);
  const Flops work =
      model_flops_per_sequence(s.model, static_cast<double>(s.training.sequence_length),
                               AttentionCount::full) *
      static_cast<double>(s.training.global_batch);
  const Seconds at_peak = work / *peak / static_cast<double>(s.cluster.accelerators);
  out.log_work = std::log(at_peak.value());
  out.log_share = out.log_work - std::log(measured.value());
  return out;
}

double constant_rate(std::span<const BaselineStep> steps, std::span<const std::size_t> measured,
                     const BaselineStep& step) {
  std::vector<double> all;
  std::vector<double> own;
  for (const std::size_t i : measured) {
    all.push_back(steps[i].log_share);
    if (steps[i].accelerator == step.accelerator) own.push_back(steps[i].log_share);
  }
  return step.log_work - quantile(own.empty() ? all : own, 0.5);
}

double nearest_steps(std::span<const BaselineStep> steps, std::span<const std::size_t> measured,
                     const BaselineStep& step) {
  std::vector<std::pair<double, std::size_t>> near;
  for (const std::size_t i : measured) near.emplace_back(distance(steps[i], step), i);
  const std::size_t count = std::min(kNeighbours, near.size());
  std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(count));
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) sum += steps[near[k].second].log_share;
  return step.log_work - sum / static_cast<double>(count);
}

}  // namespace orrery
