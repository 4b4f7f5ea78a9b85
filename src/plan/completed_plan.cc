#include "plan/completed_plan.h"

#include <algorithm>
#include <utility>

#include "cluster/accelerator_noun.h"
#include "model/family.h"
#include "plan/plan_rules.h"
#include "plan/site_division.h"
#include "schedule/schedule.h"

namespace orrery {
namespace {

std::string n(std::int64_t v) { return std::to_string(v); }

// Sequences by which global batches of the plan differ: a microbatch of every replica; with
// site_microbatches, the only such batch. What the plan states may still be refused.
std::int64_t step_of_batches(const Cluster& cluster, const Plan& plan) {
  constexpr double kMost = 1e15;
  const bool by_site = !plan.site_microbatches.empty() || !plan.site_micro_batch.empty();
  if (by_site && plan.dp > 0 && plan.dp <= cluster.accelerators) {
    return static_cast<std::int64_t>(std::clamp(sequences_at_once(cluster, plan), 1.0, kMost));
  }
  return std::max<std::int64_t>(1, plan.dp) * std::max<std::int64_t>(1, plan.micro_batch);
}

}  // namespace

std::int64_t usual_sequence_length(const Model& model) {
  constexpr std::int64_t kWithoutAny = 4096;
  return model.published.sequence_length > 0 ? model.published.sequence_length : kWithoutAny;
}

std::string assumed_batch(const Model& model, const Plan& plan, std::int64_t sequences,
                          std::string_view otherwise) {
  const std::int64_t tokens = model.published.global_batch_tokens;
  std::string why(otherwise);
  if (tokens > 0) why = "the model's own " + n(tokens) + " tokens, in whole microbatches";
  if (!plan.site_microbatches.empty()) why = "what site_microbatches make";
  return "global batch " + n(sequences) + " sequences: " + why;
}

CompletedPlan completed_plan(const Model& model, const Cluster& cluster, Training training,
                             Plan plan) {
  CompletedPlan out;
  const auto assume = [&](std::string text) { out.assumed.push_back(std::move(text)); };
  if (training.sequence_length == 0) {
    training.sequence_length = usual_sequence_length(model);
    assume("sequence length " + n(training.sequence_length) +
           (model.published.sequence_length > 0 ? ": the model's own training length"
                                                : ": the model states none"));
  }
  if (training.source_length == 0) {
    training.source_length = model.published.source_length > 0 ? model.published.source_length
                                                               : training.sequence_length;
  }
  const std::int64_t model_ranks = plan.tp > 0 && plan.cp > 0 && plan.pp > 0 &&
                                           plan.tp <= kMaxDegree && plan.cp <= kMaxDegree &&
                                           plan.pp <= kMaxDegree
                                       ? plan.tp * plan.cp * plan.pp
                                       : 0;
  if (plan.dp == 0 && model_ranks > 0 && cluster.accelerators % model_ranks == 0) {
    plan.dp = cluster.accelerators / model_ranks;
    assume("dp = " + n(plan.dp) + ": " + n(cluster.accelerators) + " " +
           std::string(accelerator_noun(cluster)) + "s / (tp " + n(plan.tp) + " x cp " +
           n(plan.cp) + " x pp " + n(plan.pp) + ")");
  }
  if (training.global_batch == 0) {
    const std::int64_t tokens = model.published.global_batch_tokens;
    const std::int64_t step = step_of_batches(cluster, plan);
    std::int64_t batch =
        tokens > 0 && training.sequence_length > 0 ? tokens / training.sequence_length : 0;
    batch = plan.site_microbatches.empty() ? std::max(step, batch / step * step) : step;
    training.global_batch = batch;
    assume(assumed_batch(model, plan, batch, "one microbatch a replica"));
  }
  if (model.tables > 0) {
    // A replica works on its samples at once, and all ranks share the tables, unless stated.
    if (plan.micro_batch == 0) {
      plan.micro_batch =
          plan.dp > 0 && training.global_batch % plan.dp == 0 ? training.global_batch / plan.dp : 1;
      assume("micro_batch = " + n(plan.micro_batch) + ": the whole batch of a replica at once");
    }
    if (plan.ep == 0) {
      const bool known =
          plan.dp > 0 && plan.tp > 0 && plan.tp <= kMaxDegree && plan.dp <= kMaxDegree;
      plan.ep = known ? plan.tp * plan.dp : 1;
      assume("ep = " + n(plan.ep) + ": all ranks share the tables");
    }
    if (plan.towers == 0 && model.towers > 0) {
      plan.towers = model.towers;
      assume("towers = " + n(plan.towers) + ": the model has modules for as many");
    }
  }
  if (plan.schedule.empty()) {
    plan.schedule = plan.chunks > 1 ? "interleaved_1f1b" : "1f1b";
    if (plan.pp > 1) assume("schedule " + plan.schedule);
  }
  if (const auto schedule = find_schedule(plan.schedule);
      schedule && plan.chunks == 1 && (*schedule)->chunks > 1) {
    plan.chunks = (*schedule)->chunks;
    assume("chunks = " + n(plan.chunks) + ": what " + plan.schedule + " works with");
  }
  std::replace(plan.schedule.begin(), plan.schedule.end(), '-', '_');
  if (plan.etp == 0) {
    plan.etp = plan.ep > 1 ? 1 : plan.tp;
    if (model.experts > 0)
      assume("etp = " + n(plan.etp) + (plan.ep > 1 ? ": experts are not cut" : ": as tp"));
  }
  if (plan.tp == 1) plan.sequence_parallel = false;
  if (std::string copies = model.family->copies(model, plan.tp); !copies.empty()) {
    assume(std::move(copies));
  }
  out.training = training;
  out.plan = std::move(plan);
  return out;
}

}  // namespace orrery
