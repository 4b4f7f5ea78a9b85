// Random valid plans of small scenarios, for property tests.
#pragma once

#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include "catalog/catalog.h"
#include "lower/model_costs.h"
#include "model/transformer/transformer.h"
#include "plan/completed_plan.h"
#include "plan/plan_rules.h"
#include "schedule/schedule.h"

namespace orrery {

// A catalog model with its layers cut to `layers`.
inline Model small_model(const char* name, std::int64_t layers) {
  Architecture a = *read_architecture(*Catalog::built_in().find("models", name));
  a.num_layers = layers;
  if (a.moe) a.moe->first_dense_layers = std::min<std::int64_t>(a.moe->first_dense_layers, 1);
  return *build_model(a);
}

template <class T>
T pick(std::mt19937& random, std::initializer_list<T> values) {
  return *(values.begin() + random() % values.size());
}

struct RandomCase {
  Model model;
  Cluster cluster;
  Training training;
  Plan plan;
  SoftwareProfile software;
};

// A stated plan, completed. Whether it is valid says plan_problems.
inline RandomCase stated_case(Model model, const char* cluster, std::string_view plan,
                              std::int64_t sequence, std::int64_t global_batch) {
  RandomCase out;
  out.model = std::move(model);
  out.cluster = *parse_cluster(cluster, Catalog::built_in());
  out.training.sequence_length = sequence;
  out.training.global_batch = global_batch;
  CompletedPlan completed = completed_plan(out.model, out.cluster, out.training, *parse_plan(plan));
  out.training = completed.training;
  out.plan = completed.plan;
  return out;
}

// A valid plan, or nothing if this draw is not one.
inline std::optional<RandomCase> random_case(std::mt19937& random) {
  RandomCase out;
  out.model = small_model(pick(random, {"llama-3-8b", "mixtral-8x7b", "deepseek-v2-lite",
                                        "gemma-2-9b", "gpt-3-125m", "qwen3-0.6b"}),
                          pick<std::int64_t>(random, {4, 7, 8, 12}));
  out.cluster = *parse_cluster(pick(random, {"h100-sxm:8", "h100-sxm:32", "a100-80gb-sxm:64",
                                             "gb200:72", "meta-h100-24k-roce:64"}),
                               Catalog::built_in());
  Plan& p = out.plan;
  p.tp = pick<std::int64_t>(random, {1, 2, 4, 8, 16});
  p.cp = pick<std::int64_t>(random, {1, 1, 2, 4});
  p.pp = pick<std::int64_t>(random, {1, 2, 4, 8});
  p.ep = pick<std::int64_t>(random, {1, 1, 2, 4, 8});
  p.micro_batch = pick<std::int64_t>(random, {1, 2});
  p.chunks = pick<std::int64_t>(random, {1, 2, 3});
  // Half of the draws take the schedules everybody uses, half any that a plan can have.
  p.schedule = p.chunks > 1 ? "interleaved_1f1b" : "1f1b";
  if (random() % 2 == 0) {
    const Schedule& any = schedules()[random() % schedules().size()];
    p.schedule = any.name;
    if (any.chunks > 0) p.chunks = any.chunks;
  }
  p.zero = pick<std::int64_t>(random, {0, 1, 2, 3});
  p.shard_group = pick<std::int64_t>(random, {0, 0, 1, 2});
  p.recompute =
      pick(random, {Recompute::none, Recompute::selective, Recompute::alternate, Recompute::full});
  if (p.recompute == Recompute::full) p.recompute_layers = pick<std::int64_t>(random, {0, 1});
  if (p.recompute == Recompute::selective) {
    for (const auto& module : names_of(RecomputeModule{})) {
      if (random() % 3 == 0 && missing_for(module.value, out.model).empty()) {
        p.recompute_modules.push_back(module.value);
      }
    }
  }
  p.sequence_parallel = random() % 4 != 0;
  p.context_parallel = pick(
      random, {ContextParallel::all_gather, ContextParallel::ring, ContextParallel::all_to_all});
  p.attention =
      pick(random, {AttentionKernel::library, AttentionKernel::unfused, AttentionKernel::flash_2});
  p.overlap.gradient_reduction = random() % 3 != 0;
  p.overlap.parameter_gather = random() % 3 != 0;
  p.overlap.tensor_parallel = random() % 2 == 0;
  p.overlap.pipeline = random() % 3 != 0;
  p.overlap.expert = random() % 2 == 0;
  p.overlap.expert_batches = p.ep > 1 && random() % 2 == 0;
  p.dispatch = pick(random, {ExpertDispatch::all_to_all, ExpertDispatch::deduplicated});
  p.overlap.optimizer = random() % 4 == 0;
  if (random() % 8 == 0) {
    out.training.workload = Workload::forward;
    p.recompute = Recompute::none;
    p.recompute_layers = 0;
    p.recompute_modules.clear();
    p.overlap.expert_batches = false;
    p.overlap.optimizer = false;
  }
  if (random() % 2 == 0) p.placement = {MeshAxis::tp, MeshAxis::cp, MeshAxis::pp, MeshAxis::dp};
  out.training.sequence_length = pick<std::int64_t>(random, {1024, 4096});
  const std::int64_t ranks = p.tp * p.cp * p.pp;
  if (out.cluster.accelerators % ranks != 0) return std::nullopt;
  out.training.global_batch =
      out.cluster.accelerators / ranks * p.micro_batch * pick<std::int64_t>(random, {1, 2, 4, 8});
  CompletedPlan completed = completed_plan(out.model, out.cluster, out.training, out.plan);
  out.training = completed.training;
  out.plan = completed.plan;
  SoftwareProfile& s = out.software;
  s.shard_transfers =
      pick(random, {ShardTransfers::in_place, ShardTransfers::flat, ShardTransfers::copied,
                    ShardTransfers::lists, ShardTransfers::broadcasts});
  s.pipeline_shards = pick(random, {PipelineShards::chunk, PipelineShards::step});
  s.accumulation = pick(random, {GradientAccumulation::in_product, GradientAccumulation::separate});
  if (!plan_problems(out.model, out.cluster, out.training, out.plan).empty()) return std::nullopt;
  return out;
}

}  // namespace orrery
