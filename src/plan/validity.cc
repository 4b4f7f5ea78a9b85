#include "plan/validity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "plan/stage_layers.h"
#include "schedule/schedule.h"

namespace orrery {
namespace {

constexpr std::int64_t kMaxDegree = 10'000'000;
constexpr std::int64_t kMaxSequence = 1'000'000'000;
constexpr std::int64_t kMaxBatch = 1'000'000'000;

constexpr double kMaxPasses = 1 << 20;  // of one direction

// Whether a group of `size` ranks fits the axes in placement order: it fills the inner axes and
// divides the next.
enum class Axes { replicas, all };
bool nests(const Plan& plan, Axes axes, std::int64_t size) {
  for (const MeshAxis axis : plan.placement) {
    std::int64_t degree = 1;
    if (axis == MeshAxis::tp && axes == Axes::all) degree = plan.tp;
    if (axis == MeshAxis::cp) degree = plan.cp;
    if (axis == MeshAxis::dp) degree = plan.dp;
    if (size <= degree) return degree % size == 0;
    if (size % degree != 0) return false;
    size /= degree;
  }
  return size == 1;
}

std::string n(std::int64_t v) { return std::to_string(v); }

std::int64_t layer_count(const Model& model) {
  return static_cast<std::int64_t>(model.layers.size());
}

}  // namespace

std::vector<std::string> recompute_module_problems(const Model& model, const Plan& plan) {
  const std::vector<RecomputeModule>& modules = plan.recompute_modules;
  if (modules.empty()) return {};
  if (plan.recompute != Recompute::selective) {
    return {"recompute_modules " + to_text(modules) + " needs recompute=selective"};
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const std::string name(to_text(modules[i]));
    if (std::find(modules.begin(), modules.begin() + static_cast<std::ptrdiff_t>(i), modules[i]) !=
        modules.begin() + static_cast<std::ptrdiff_t>(i)) {
      std::string twice = "recompute_modules names " + name + " twice";
      if (std::find(out.begin(), out.end(), twice) == out.end()) out.push_back(std::move(twice));
    } else if (const auto missing = missing_for(modules[i], model); !missing.empty()) {
      out.push_back("recompute_modules " + name + " needs " + std::string(missing) + "; " +
                    model.architecture.name + " has none");
    }
  }
  const RecomputeModuleSet set(modules);
  if (set.has(RecomputeModule::shared_experts) && plan.overlap.expert) {
    out.emplace_back(
        "overlap.expert and recompute_modules shared_experts exclude each other: the shared expert "
        "would run again beside no exchange");
  }
  if (set.has(RecomputeModule::moe) && plan.overlap.expert_batches) {
    out.emplace_back(
        "overlap.expert_batches and recompute_modules moe exclude each other: the backward would "
        "send tokens away again");
  }
  return out;
}

bool copies_key_value_heads(const Architecture& architecture, std::int64_t tp) {
  const std::int64_t heads = architecture.num_kv_heads;
  return !architecture.latent_attention && heads > 0 && tp > heads && tp % heads == 0;
}

CompletedPlan completed_plan(const Model& model, const Cluster& cluster, Training training,
                             Plan plan) {
  CompletedPlan out;
  const auto assume = [&](std::string text) { out.assumed.push_back(std::move(text)); };
  const Architecture& a = model.architecture;
  if (training.sequence_length == 0) {
    training.sequence_length = a.training.sequence_length > 0 ? a.training.sequence_length : 4096;
    assume("sequence length " + n(training.sequence_length) +
           (a.training.sequence_length > 0 ? ": the model's own training length"
                                           : ": the model states none"));
  }
  if (training.source_length == 0) training.source_length = training.sequence_length;
  const std::int64_t model_ranks = plan.tp > 0 && plan.cp > 0 && plan.pp > 0 &&
                                           plan.tp <= kMaxDegree && plan.cp <= kMaxDegree &&
                                           plan.pp <= kMaxDegree
                                       ? plan.tp * plan.cp * plan.pp
                                       : 0;
  if (plan.dp == 0 && model_ranks > 0 && cluster.accelerators % model_ranks == 0) {
    plan.dp = cluster.accelerators / model_ranks;
    assume("dp = " + n(plan.dp) + ": " + n(cluster.accelerators) + " GPUs / (tp " + n(plan.tp) +
           " x cp " + n(plan.cp) + " x pp " + n(plan.pp) + ")");
  }
  if (training.global_batch == 0) {
    const std::int64_t tokens = a.training.global_batch_tokens;
    const std::int64_t step =
        std::max<std::int64_t>(1, plan.dp) * std::max<std::int64_t>(1, plan.micro_batch);
    std::int64_t batch =
        tokens > 0 && training.sequence_length > 0 ? tokens / training.sequence_length : 0;
    batch = std::max(step, batch / step * step);
    training.global_batch = batch;
    assume("global batch " + n(batch) + " sequences: " +
           (tokens > 0 ? "the model's own " + n(tokens) + " tokens, in whole microbatches"
                       : std::string("one microbatch a replica")));
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
    if (a.moe) assume("etp = " + n(plan.etp) + (plan.ep > 1 ? ": experts are not cut" : ": as tp"));
  }
  if (plan.tp == 1) plan.sequence_parallel = false;
  if (copies_key_value_heads(a, plan.tp)) {
    assume("each of " + n(a.num_kv_heads) + " key-value heads is held by " +
           n(plan.tp / a.num_kv_heads) + " tensor-parallel ranks");
  }
  out.training = training;
  out.plan = std::move(plan);
  return out;
}

std::vector<std::string> plan_problems(const Model& model, const Cluster& cluster,
                                       const Training& training, const Plan& plan) {
  std::vector<std::string> out;
  const auto problem = [&](std::string text) { out.push_back(std::move(text)); };
  const Architecture& a = model.architecture;

  // Ranges first: nothing below computes with an absurd number.
  const auto in_range = [&](const char* what, std::int64_t v, std::int64_t low, std::int64_t high) {
    if (v >= low && v <= high) return;
    problem(std::string(what) + " " + n(v) + " is outside " + n(low) + " to " + n(high));
  };
  in_range("tp", plan.tp, 1, kMaxDegree);
  in_range("cp", plan.cp, 1, kMaxDegree);
  in_range("pp", plan.pp, 1, kMaxDegree);
  in_range("ep", plan.ep, 1, kMaxDegree);
  in_range("etp", plan.etp, 0, kMaxDegree);
  in_range("dp", plan.dp, 0, kMaxDegree);
  in_range("chunks", plan.chunks, 1, kMaxDegree);
  in_range("group", plan.group, 0, kMaxDegree);
  in_range("micro_batch", plan.micro_batch, 1, kMaxBatch);
  in_range("zero", plan.zero, 0, 3);
  in_range("shard_group", plan.shard_group, 0, kMaxDegree);
  in_range("recompute_layers", plan.recompute_layers, 0, kMaxDegree);
  in_range("sequence length", training.sequence_length, 1, kMaxSequence);
  in_range("source length", training.source_length, 1, kMaxSequence);
  in_range("global batch", training.global_batch, 1, kMaxBatch);
  if (!out.empty()) return out;

  const std::int64_t gpus = cluster.accelerators;
  const double ranks = static_cast<double>(plan.tp) * static_cast<double>(plan.cp) *
                       static_cast<double>(plan.pp) *
                       static_cast<double>(std::max<std::int64_t>(plan.dp, 1));
  if (plan.dp == 0 || ranks != static_cast<double>(gpus)) {
    if (plan.dp == 0) {
      problem("tp " + n(plan.tp) + " x cp " + n(plan.cp) + " x pp " + n(plan.pp) +
              " does not divide " + n(gpus) + " GPUs");
    } else {
      problem("tp " + n(plan.tp) + " x cp " + n(plan.cp) + " x pp " + n(plan.pp) + " x dp " +
              n(plan.dp) + " is not the " + n(gpus) + " GPUs of the cluster");
    }
    return out;
  }

  if (a.num_heads % plan.tp != 0) {
    problem("tp " + n(plan.tp) + " does not divide " + n(a.num_heads) + " attention heads");
  }
  // Fewer heads than ranks are copied, where that comes out even.
  if (!a.latent_attention && a.num_kv_heads > 0 && a.num_kv_heads % plan.tp != 0 &&
      !copies_key_value_heads(a, plan.tp)) {
    problem("tp " + n(plan.tp) + " and " + n(a.num_kv_heads) +
            " key-value heads: neither divides the other, so that heads would be split");
  }
  if (a.ffn_hidden > 0 && a.ffn_hidden % plan.tp != 0) {
    problem("tp " + n(plan.tp) + " does not divide the feed-forward width " + n(a.ffn_hidden));
  }
  // All-to-alls divide the heads of a tensor-parallel rank over cp. Transformer Engine refuses
  // others (context_parallel.py, AttnFuncWithCPAndQKVOA2A): it copies no key-value heads for cp.
  const std::int64_t divided = plan.tp * plan.cp;
  const std::int64_t key_heads = a.latent_attention ? a.num_heads : a.num_kv_heads;
  if (plan.cp > 1 && plan.context_parallel == ContextParallel::all_to_all &&
      (a.num_heads % divided != 0 || key_heads % divided != 0)) {
    problem("context_parallel=all-to-all divides whole heads over tp " + n(plan.tp) + " x cp " +
            n(plan.cp) + " = " + n(divided) + " ranks: " + n(a.num_heads) +
            " attention heads and " + n(key_heads) +
            " key-value heads are not both a multiple; use ring or all-gather");
  }
  const std::int64_t pieces = plan.cp * (plan.tp > 1 && plan.sequence_parallel ? plan.tp : 1);
  if (training.sequence_length % pieces != 0) {
    problem("cp " + n(plan.cp) + " and sequence parallelism over tp " + n(plan.tp) +
            " do not divide the sequence of " + n(training.sequence_length) + " tokens");
  } else if (plan.cp > 1 && training.sequence_length % (2 * plan.cp) != 0) {
    problem("cp " + n(plan.cp) + " cuts a sequence into " + n(2 * plan.cp) +
            " pieces to balance causal attention; " + n(training.sequence_length) +
            " tokens are not a multiple");
  }

  if (a.moe) {
    const std::int64_t etp = plan.etp == 0 ? 1 : plan.etp;
    const std::int64_t pool = plan.tp * plan.cp * plan.dp;
    if (a.moe->num_experts % plan.ep != 0) {
      problem("ep " + n(plan.ep) + " does not divide " + n(a.moe->num_experts) + " experts");
    }
    if (pool % (plan.ep * etp) != 0) {
      problem("ep " + n(plan.ep) + " x etp " + n(etp) + " does not divide the " + n(pool) +
              " ranks of one stage (tp x cp x dp)");
    }
    if (plan.tp % etp != 0) {
      problem("etp " + n(etp) + " does not divide tp " + n(plan.tp));
    }
    if (pool % (plan.ep * etp) == 0 && !nests(plan, Axes::all, plan.ep * etp)) {
      problem("ep " + n(plan.ep) + " x etp " + n(etp) + " does not divide tp " + n(plan.tp) +
              ", cp " + n(plan.cp) + " and dp " + n(plan.dp) + " in the order of placement");
    }
    if (a.moe->expert_ffn % etp != 0) {
      problem("etp " + n(etp) + " does not divide the expert width " + n(a.moe->expert_ffn));
    }
  } else if (plan.etp > 1 && plan.tp % plan.etp != 0) {
    problem("etp " + n(plan.etp) + " does not divide tp " + n(plan.tp));
  } else if (plan.ep > 1) {
    problem("ep " + n(plan.ep) + " needs experts; " + a.name + " has none");
  }

  if (plan.dispatch == ExpertDispatch::deduplicated && !a.moe) {
    problem("dispatch=deduplicated needs experts; " + a.name + " has none");
  }
  if (plan.overlap.expert_batches) {
    if (plan.ep <= 1) problem("overlap.expert_batches needs ep above 1");
    if (plan.schedule != "1f1b" && plan.schedule != "interleaved_1f1b") {
      problem(
          "overlap.expert_batches needs schedule 1f1b or interleaved_1f1b, whose forwards and "
          "backwards alternate; this is " +
          plan.schedule);
    }
    if (plan.recompute == Recompute::full || plan.recompute == Recompute::alternate) {
      problem("overlap.expert_batches and recompute=" + std::string(to_text(plan.recompute)) +
              " exclude each other: the backward would send tokens away again");
    }
  }

  // Layers on stages.
  const std::int64_t layers = layer_count(model);
  const double stages = static_cast<double>(plan.pp) * static_cast<double>(plan.chunks);
  // The first and the last virtual stage may hold the embedding and the logits alone.
  if (stages > static_cast<double>(layers + 2)) {
    problem("pp " + n(plan.pp) + " x chunks " + n(plan.chunks) + " = " +
            n(static_cast<std::int64_t>(stages)) + " virtual stages for " + n(layers) +
            " layers: some would be empty");
  } else if (!plan.layers.empty()) {
    const auto virtual_stages = static_cast<std::size_t>(plan.pp * plan.chunks);
    std::int64_t sum = 0;
    for (const std::int64_t l : plan.layers) {
      if (l < 0 || l > layers) {
        problem("a stage of " + n(l) + " layers");
        sum = layers;
        break;
      }
      sum += l;
    }
    if (plan.layers.size() != virtual_stages) {
      problem("layers lists " + n(static_cast<std::int64_t>(plan.layers.size())) +
              " virtual stages, pp x chunks are " + n(static_cast<std::int64_t>(virtual_stages)));
    } else if (sum != layers) {
      problem("layers add up to " + n(sum) + ", the model has " + n(layers));
    }
  }

  // Batch and schedule.
  const double per_step = static_cast<double>(plan.dp) * static_cast<double>(plan.micro_batch);
  if (std::fmod(static_cast<double>(training.global_batch), per_step) != 0) {
    problem("global batch " + n(training.global_batch) + " is not a multiple of dp " + n(plan.dp) +
            " x micro_batch " + n(plan.micro_batch));
  } else if (training.global_batch / (plan.dp * plan.micro_batch) > 1'000'000) {
    problem(n(training.global_batch / (plan.dp * plan.micro_batch)) +
            " microbatches a replica are more than 1000000");
  } else if (static_cast<double>(microbatches(training, plan)) * stages > kMaxPasses) {
    problem(n(microbatches(training, plan)) + " microbatches on " +
            n(static_cast<std::int64_t>(stages)) + " virtual stages are more than " +
            n(static_cast<std::int64_t>(kMaxPasses)) + " passes, the most that is simulated");
  } else if (auto schedule = find_schedule(plan.schedule); !schedule) {
    problem(schedule.error().text());
  } else {
    if ((*schedule)->asynchronous) {
      problem(
          plan.schedule +
          " updates weights between microbatches: it has no step to estimate; `orrery schedule " +
          plan.schedule + "` draws it");
    }
    if ((*schedule)->virtual_stage == nullptr) {
      problem(plan.schedule + " wires its stages anew for every microbatch: `orrery schedule " +
              plan.schedule + "` draws it");
    }
    ScheduleRequest request;
    request.group = static_cast<int>(plan.group);
    request.shape = {static_cast<int>(plan.pp), microbatches(training, plan),
                     static_cast<int>(plan.chunks)};
    for (std::string& reason : schedule_problems(**schedule, request)) problem(std::move(reason));
  }

  if (plan.shard_group > 0 && !nests(plan, Axes::replicas, plan.shard_group)) {
    problem("shard_group " + n(plan.shard_group) + " does not divide cp " + n(plan.cp) +
            " and dp " + n(plan.dp) + " in the order of placement");
  }
  if (plan.recompute_layers > layers) {
    problem("recompute_layers " + n(plan.recompute_layers) + " is more than the model's " +
            n(layers) + " layers");
  }
  if (plan.recompute_layers > 0 && plan.recompute != Recompute::full) {
    problem("recompute_layers " + n(plan.recompute_layers) + " needs recompute=full");
  }
  for (std::string& text : recompute_module_problems(model, plan)) problem(std::move(text));

  std::vector<MeshAxis> placed = plan.placement;
  std::sort(placed.begin(), placed.end());
  static const std::vector<MeshAxis> kAll = {MeshAxis::tp, MeshAxis::cp, MeshAxis::pp,
                                             MeshAxis::dp};
  if (placed != kAll) problem("placement must name tp, cp, pp and dp once each");

  if (std::string text = format_problem(cluster.accelerator, training.precision); !text.empty()) {
    problem(std::move(text));
  }
  return out;
}

std::string format_problem(const Accelerator& accelerator, NumberFormat format) {
  if (accelerator.peak(format)) return "";
  std::string known;
  for (const auto& other : names_of(NumberFormat{})) {
    if (!accelerator.peak(other.value)) continue;
    known += (known.empty() ? "" : ", ") + std::string(other.name);
  }
  return accelerator.name + " has no " + std::string(to_text(format)) +
         " units; its number formats are " + (known.empty() ? "none that are modelled" : known);
}

int microbatches(const Training& training, const Plan& plan) {
  return static_cast<int>(training.global_batch / (plan.dp * plan.micro_batch));
}

}  // namespace orrery
