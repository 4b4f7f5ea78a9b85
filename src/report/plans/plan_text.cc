#include "report/plans/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ranges>

#include "cluster/accelerator_noun.h"
#include "model/transformer/transformer.h"
#include "plan/completed_plan.h"
#include "report/drawing/figures.h"

namespace orrery {
namespace {

constexpr std::string_view kDot = " · ";

// The settings that plan_sentence has words for.
constexpr auto kSaid = std::to_array<std::string_view>({"tp",
                                                        "cp",
                                                        "context_parallel",
                                                        "pp",
                                                        "chunks",
                                                        "ep",
                                                        "etp",
                                                        "dp",
                                                        "towers",
                                                        "table_sharding",
                                                        "codec",
                                                        "micro_batch",
                                                        "site_micro_batch",
                                                        "schedule",
                                                        "zero",
                                                        "shard_group",
                                                        "recompute",
                                                        "recompute_modules",
                                                        "recompute_layers",
                                                        "placement"});

std::string recompute_words(const Plan& plan) {
  std::string out(to_text(plan.recompute));
  if (plan.recompute_layers > 0) out += fmt::format(" ({} layers)", plan.recompute_layers);
  if (!plan.recompute_modules.empty()) out += " " + to_text(plan.recompute_modules);
  return out;
}

}  // namespace

std::string plan_sentence(const Plan& plan, std::string_view accelerator) {
  std::string out;
  const auto add = [&](const std::string& item) {
    out += (out.empty() ? "" : std::string(kDot)) + item;
  };
  const auto degree = [&](std::string_view name, std::int64_t n) {
    if (n > 1) add(fmt::format("{} {}", name, grouped(n)));
  };
  degree("tp", plan.tp);
  degree("cp", plan.cp);
  if (plan.cp > 1 && plan.context_parallel != ContextParallel::all_gather) {
    out += fmt::format(" ({})", to_text(plan.context_parallel));
  }
  if (plan.pp > 1) {
    add(fmt::format("pp {}", plan.pp) +
        (plan.chunks > 1 ? fmt::format(" × {} chunks", plan.chunks) : ""));
  }
  degree("ep", plan.ep);
  if (plan.ep > 1) degree("etp", plan.etp);
  degree("dp", plan.dp);
  degree("towers", plan.towers);
  if (plan.table_sharding != TableSharding::automatic) {
    add(fmt::format("tables by {}", to_text(plan.table_sharding)));
  }
  if (plan.codec != VectorCodec::none) add(fmt::format("vectors as {}", to_text(plan.codec)));
  if (out.empty()) add(fmt::format("one {}", accelerator));
  add("micro-batch " + micro_batch_text(plan));
  if (plan.pp > 1 && !plan.schedule.empty()) add(plan.schedule);
  add(fmt::format("zero {}", plan.zero));
  if (plan.shard_group > 0) add(fmt::format("shard group {}", plan.shard_group));
  add("recompute " + recompute_words(plan));
  if (plan.placement != Plan{}.placement) add("placement " + placement_words(plan));
  if (const std::string others = settings_beyond(plan, kSaid); !others.empty()) add(others);
  return out;
}

std::string settings_beyond(const Plan& plan, std::span<const std::string_view> said) {
  std::string out;
  const std::string all = plan_settings(plan);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find(',', at), all.size());
    const std::string setting = all.substr(at, end - at);
    const std::string_view key = std::string_view(setting).substr(0, setting.find('='));
    if (std::ranges::find(said, key) == said.end()) out += (out.empty() ? "" : ",") + setting;
    at = end + 1;
  }
  return out;
}

std::string training_sentence(const Training& training) {
  const bool updates = passes_of(training.workload).optimizer;
  return fmt::format("sequence {}{}global batch {}{}{}{}{}", grouped(training.sequence_length),
                     kDot, grouped(training.global_batch), kDot, to_text(training.precision), kDot,
                     updates ? to_text(training.optimizer) : to_text(training.workload));
}

std::string placement_words(const Plan& plan) {
  return joined(plan.placement | std::views::transform([](MeshAxis axis) { return to_text(axis); }),
                "+");
}

ModelSize size_of(const Model& model, const Training& training) {
  const auto length = static_cast<double>(
      training.sequence_length > 0 ? training.sequence_length : usual_sequence_length(model));
  const Flops of_sequence =
      model_flops_per_sequence(model, length, AttentionCount::full,
                               static_cast<double>(training.source_length), training.workload);
  return {parameters(model), active_parameters(model), of_sequence.value() / length,
          model.tables > 0 ? "sample" : "token"};
}

std::string model_in_words(const Subject& subject) {
  if (!subject.adapters) return subject.model;
  return subject.model + " with adapters of rank " + std::to_string(subject.adapters->rank) +
         " on " +
         (subject.adapters->products == AdaptedProducts::all ? "all products" : "attention");
}

std::string in_words(const ModelSize& size) {
  std::string out = billions(size.parameters) + " parameters";
  if (size.active_parameters < size.parameters) {
    out += ", " + billions(size.active_parameters) + " active";
  }
  return out + " · " + flops_text(size.flops_per_token) + " a " + size.unit;
}

Subject subject_of(const Scenario& scenario) {
  const std::string count = ":" + std::to_string(scenario.cluster.accelerators);
  const std::string& name = scenario.cluster.name;
  // The name of a sum of sites says how many accelerators each has.
  const bool counted = name.ends_with(count) || name.find_first_of("+@") != std::string::npos;
  const Architecture* transformer = architecture_of(scenario.model);
  return {.model = scenario.model.name,
          .cluster = counted ? name : name + count,
          .adapters = transformer != nullptr ? transformer->adapters : std::nullopt,
          .size = size_of(scenario.model, scenario.training),
          .accelerator = std::string(accelerator_noun(scenario.cluster))};
}

}  // namespace orrery
