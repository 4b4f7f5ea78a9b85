#include "lower/optimal_recompute.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lower/stage_memory.h"
#include "plan/plan_rules.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

struct Setting {
  Recompute recompute = Recompute::none;
  std::vector<RecomputeModule> modules;
};

std::vector<Setting> settings(const Model& model, const Plan& plan) {
  std::vector<RecomputeModule> known;
  for (const auto& module : names_of(RecomputeModule{})) {
    if (missing_for(module.value, model).empty()) known.push_back(module.value);
  }
  std::vector<Setting> out = {{}};
  for (unsigned set = 1; set < 1U << known.size(); ++set) {
    Plan with = plan;
    with.recompute = Recompute::selective;
    with.recompute_modules.clear();
    for (std::size_t i = 0; i < known.size(); ++i) {
      if ((set >> i & 1U) != 0) with.recompute_modules.push_back(known[i]);
    }
    if (!recompute_module_problems(model, with).empty()) continue;
    out.push_back({Recompute::selective, std::move(with.recompute_modules)});
  }
  if (!plan.overlap.expert_batches) out.push_back({Recompute::full, {}});
  return out;
}

Plan with(const Plan& plan, const Setting& setting, std::int64_t layers) {
  Plan out = plan;
  out.recompute = setting.recompute;
  out.recompute_modules = setting.modules;
  out.recompute_layers = setting.recompute == Recompute::none ? 0 : layers;
  return out;
}

// Of one device where all its layers follow a setting.
struct Whole {
  double backward = 0;
  double activations = 0;
  double rest = 0;
};

// The linear program; nothing if no mixture fits.
std::optional<double> least_backward(const std::vector<Whole>& of, double memory) {
  const double rest = std::ranges::min_element(of, {}, &Whole::rest)->rest;
  const double room = memory - rest;
  std::optional<double> least;
  for (const Whole& a : of) {
    for (const Whole& b : of) {
      if (a.activations > room || b.activations < a.activations) continue;
      // As much of the one that keeps more as there is room for.
      const double share =
          b.activations <= room ? 1 : (room - a.activations) / (b.activations - a.activations);
      const double mixed = a.backward + share * (b.backward - a.backward);
      if (!least || mixed < *least) least = mixed;
    }
  }
  return least;
}

std::optional<Picoseconds> bound(const std::vector<StepCosts>& whole) {
  const StepCosts& none = whole.front();
  double most = 0;
  for (int d = 0; d < none.shape.devices; ++d) {
    std::vector<Whole> of;
    for (const StepCosts& step : whole) {
      const MemoryReport m = stage_memory(step, d);
      of.push_back({step.held(d).backward.count(), static_cast<double>(m.activations),
                    static_cast<double>(m.peak - m.activations)});
    }
    const auto least = least_backward(of, none.memory_capacity(d).value());
    if (!least) return std::nullopt;
    most = std::max(most, (*least - of.front().backward) * none.passes_a_chunk());
  }
  return Picoseconds(std::max(0.0, std::floor(most)));
}

// More computing than `none`, of the device with the most more.
Picoseconds added(const StepCosts& step, const StepCosts& none) {
  Picoseconds most;
  for (int d = 0; d < step.shape.devices; ++d) {
    most = std::max(most, (step.held(d).backward - none.held(d).backward) * step.passes_a_chunk());
  }
  return most;
}

// The fewest layers of each virtual stage with which it fits.
std::optional<StepCosts> fewest_layers(CostCache& cache, const Plan& plan, const Setting& setting,
                                       const StepCosts& all) {
  if (!fits(all)) return std::nullopt;
  std::size_t most = 1;
  for (const VirtualStage& stage : all.stages) most = std::max(most, stage.layers);
  std::int64_t too_few = 0;
  auto enough = static_cast<std::int64_t>(most);
  StepCosts out = all;
  while (enough - too_few > 1) {
    const std::int64_t middle = (enough + too_few) / 2;
    StepCosts step = step_costs(cache, with(plan, setting, middle));
    if (fits(step)) {
      out = std::move(step);
      enough = middle;
    } else {
      too_few = middle;
    }
  }
  return out;
}

}  // namespace

OptimalRecompute optimal_recompute(CostCache& cache, const Plan& plan) {
  const std::vector<Setting> all = settings(cache.model(), plan);
  std::vector<StepCosts> whole;
  for (const Setting& setting : all) whole.push_back(step_costs(cache, with(plan, setting, 0)));
  OptimalRecompute out{with(plan, all.back(), 0), added(whole.back(), whole.front()), bound(whole)};
  std::optional<Picoseconds> least;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const auto step = fewest_layers(cache, plan, all[s], whole[s]);
    if (!step) continue;
    const Picoseconds time = lower_bound(*step);
    if (least && time >= *least) continue;
    least = time;
    out.plan = step->plan;
    out.added = added(*step, whole.front());
    if (s == 0) break;  // nothing is cheaper than nothing
  }
  return out;
}

std::string in_words(const OptimalRecompute& chosen) {
  const Plan& plan = chosen.plan;
  std::string out = fmt::format("recompute=optimal: {}", to_text(plan.recompute));
  if (!plan.recompute_modules.empty()) out += " " + to_text(plan.recompute_modules);
  if (plan.recompute_layers > 0) {
    out += fmt::format(" in {} layers of each virtual stage", plan.recompute_layers);
  }
  out += fmt::format(", {} more computing a step on the device with the most",
                     to_text(chosen.added.seconds()));
  if (chosen.bound) {
    out += fmt::format("; no mixture of settings, even of parts of layers, adds less than {}",
                       to_text(chosen.bound->seconds()));
  }
  return out;
}

}  // namespace orrery
