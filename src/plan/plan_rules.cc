#include "plan/plan_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "cluster/accelerator_noun.h"
#include "model/family.h"
#include "plan/context_rules.h"
#include "plan/overlap_rules.h"
#include "plan/sharding_rules.h"
#include "plan/site_division.h"
#include "schedule/schedule.h"

namespace orrery {
namespace {

using Reasons = std::vector<std::string>;

constexpr std::int64_t kMaxSequence = 1'000'000'000;
constexpr std::int64_t kMaxBatch = 1'000'000'000;
constexpr std::int64_t kMaxMicrobatches = 1'000'000;
constexpr std::int64_t kMostPrefetched = 1024;  // blocks
constexpr std::int64_t kMaxTiles = 65'536;
constexpr double kMaxPasses = 1 << 20;  // of one direction

std::int64_t layer_count(const Model& model) {
  return static_cast<std::int64_t>(model.layers.size());
}

// Of all pipeline devices; a double, since the product of two degrees may be large.
double virtual_stages(const Plan& plan) {
  return static_cast<double>(plan.pp) * static_cast<double>(plan.chunks);
}

std::int64_t expert_tensor_degree(const Plan& plan) { return std::max<std::int64_t>(1, plan.etp); }

Reasons ranges(const JudgedPlan& judged) {
  const auto& [model, cluster, training, plan] = judged;
  struct Range {
    const char* what;
    std::int64_t value, least, most;
  };
  const Range all[] = {{"tp", plan.tp, 1, kMaxDegree},
                       {"cp", plan.cp, 1, kMaxDegree},
                       {"pp", plan.pp, 1, kMaxDegree},
                       {"ep", plan.ep, 1, kMaxDegree},
                       {"etp", plan.etp, 0, kMaxDegree},
                       {"ulysses", plan.ulysses, 0, kMaxDegree},
                       {"inner_ring", plan.inner_ring, 0, kMaxDegree},
                       {"loss_tiles", plan.loss_tiles, 1, kMaxTiles},
                       {"mlp_tiles", plan.mlp_tiles, 1, kMaxTiles},
                       {"dp", plan.dp, 0, kMaxDegree},
                       {"chunks", plan.chunks, 1, kMaxDegree},
                       {"group", plan.group, 0, kMaxDegree},
                       {"micro_batch", plan.micro_batch, 1, kMaxBatch},
                       {"zero", plan.zero, 0, 3},
                       {"shard_group", plan.shard_group, 0, kMaxDegree},
                       {"gradient_shard", plan.gradient_shard, 0, kMaxDegree},
                       {"weight_shard", plan.weight_shard, 0, kMaxDegree},
                       {"secondary_shard", plan.secondary_shard, 0, kMaxDegree},
                       {"redundant_experts", plan.redundant_experts, 0, kMostExperts},
                       {"prefetch", plan.prefetch, 0, kMostPrefetched},
                       {"update_stride", plan.update_stride, 0, kMaxDegree},
                       {"local_steps", plan.local_steps, 1, kMaxDegree},
                       {"quadratic.steps", plan.quadratic.steps, 0, kMaxDegree},
                       {"gradient_bucket_mib", plan.gradient_bucket_mib, 0, kMaxDegree},
                       {"recompute_layers", plan.recompute_layers, 0, kMaxDegree},
                       {"towers", plan.towers, 0, kMaxDegree},
                       {"sequence length", training.sequence_length, 1, kMaxSequence},
                       {"source length", training.source_length, 1, kMaxSequence},
                       {"global batch", training.global_batch, 1, kMaxBatch}};
  Reasons out;
  for (const Range& r : all) {
    if (r.value >= r.least && r.value <= r.most) continue;
    out.push_back(fmt::format("{} {} is outside {} to {}", r.what, r.value, r.least, r.most));
  }
  return out;
}

Reasons ranks(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  const std::int64_t gpus = judged.cluster.accelerators;
  if (plan.dp == 0) {
    return {fmt::format("tp {} x cp {} x pp {} does not divide {} {}s", plan.tp, plan.cp, plan.pp,
                        gpus, accelerator_noun(judged.cluster))};
  }
  const double product = static_cast<double>(plan.tp) * static_cast<double>(plan.cp) *
                         static_cast<double>(plan.pp) * static_cast<double>(plan.dp);
  if (product == static_cast<double>(gpus)) return {};
  return {fmt::format("tp {} x cp {} x pp {} x dp {} is not the {} {}s of the cluster", plan.tp,
                      plan.cp, plan.pp, plan.dp, gpus, accelerator_noun(judged.cluster))};
}

Reasons divided(const JudgedPlan& judged) {
  return judged.model.family->division_problems(
      judged.model, division(judged.cluster, judged.training, judged.plan));
}

Reasons expert_tensor_parallelism(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  if (plan.tp % expert_tensor_degree(plan) == 0) return {};
  return {fmt::format("etp {} does not divide tp {}", plan.etp, plan.tp)};
}

Reasons expert_ranks(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  if (judged.model.experts == 0 && judged.model.tables == 0) return {};
  const std::int64_t etp = expert_tensor_degree(plan);
  const std::int64_t pool = plan.tp * plan.cp * plan.dp;
  const std::int64_t at_once = plan.dp * plan.micro_batch;
  if (judged.model.tables > 0 && plan.ep < pool && at_once < judged.training.global_batch) {
    return {fmt::format(
        "ep {} leaves groups of ranks that hold the same tables and average them in every "
        "microbatch: micro_batch must be {}, the whole batch of a replica",
        plan.ep, judged.training.global_batch / plan.dp)};
  }
  if (pool % (plan.ep * etp) != 0) {
    return {fmt::format("ep {} x etp {} does not divide the {} ranks of one stage (tp x cp x dp)",
                        plan.ep, etp, pool)};
  }
  if (nests(plan, Axes::all, plan.ep * etp)) return {};
  return {
      fmt::format("ep {} x etp {} does not divide tp {}, cp {} and dp {} in the order of placement",
                  plan.ep, etp, plan.tp, plan.cp, plan.dp)};
}

// Tables that some ranks hold between them, and what their vectors are sent as.
Reasons tables(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  Reasons out;
  if (judged.model.tables == 0) {
    const auto refuse = [&](bool stated, std::string_view what) {
      if (!stated) return;
      out.push_back(fmt::format("{} needs embedding tables; {} has none", what, judged.model.name));
    };
    refuse(plan.table_sharding != TableSharding::automatic, "table_sharding");
    refuse(plan.towers > 0, "towers");
    refuse(plan.codec != VectorCodec::none, "codec");
    return out;
  }
  if (plan.towers > 1 && plan.ep % plan.towers != 0) {
    out.push_back(fmt::format("towers {} do not divide ep {}, the ranks that share tables",
                              plan.towers, plan.ep));
  } else if (plan.towers > 1 && !nests(plan, Axes::all, plan.ep / plan.towers)) {
    out.push_back(fmt::format("towers of {} ranks do not divide tp {} and dp {} in this order",
                              plan.ep / plan.towers, plan.tp, plan.dp));
  }
  return out;
}

Reasons token_dispatch(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  Reasons out = expert_load_problems(judged.training.expert_load, judged.model);
  const auto needs_experts = [&](bool stated, const std::string& what) {
    if (!stated || judged.model.experts > 0) return;
    out.push_back(what + " needs experts; " + judged.model.name + " has none");
  };
  needs_experts(plan.dispatch != ExpertDispatch::all_to_all,
                fmt::format("dispatch={}", to_text(plan.dispatch)));
  needs_experts(plan.expert_placement != ExpertPlacement::numbered,
                fmt::format("expert_placement={}", to_text(plan.expert_placement)));
  if (plan.expert_products == ExpertProducts::scattered) {
    needs_experts(true, "expert_products=scattered");
    if (plan.ep > 1) {
      out.push_back(fmt::format(
          "expert_products=scattered reads the rows of a rank's own tokens; with ep {} tokens of "
          "other ranks arrive as copies: write ep=1, or expert_products=grouped",
          plan.ep));
    }
    if (judged.training.expert_load.padded) {
      out.emplace_back(
          "expert_products=scattered copies no rows that could be filled up to a capacity: leave "
          "out padded of expert_load, or write expert_products=grouped");
    }
  }
  if (plan.redundant_experts == 0) return out;
  needs_experts(true, fmt::format("redundant_experts={}", plan.redundant_experts));
  if (judged.model.experts == 0) return out;
  if (passes_of(judged.training.workload).backward) {
    out.push_back(fmt::format(
        "redundant_experts {}: nothing keeps copies of an expert equal in training; use workload "
        "forward, or expert_placement=balanced",
        plan.redundant_experts));
  }
  if (plan.redundant_experts % plan.ep != 0) {
    out.push_back(
        fmt::format("redundant_experts {} is not a multiple of ep {}: every rank holds the same "
                    "number of copies",
                    plan.redundant_experts, plan.ep));
  }
  return out;
}

// The first and the last virtual stage may hold the embedding and the logits alone.
Reasons stages(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  const std::int64_t layers = layer_count(judged.model);
  const double stages = virtual_stages(plan);
  if (stages <= static_cast<double>(layers + 2)) return {};
  return {
      fmt::format("pp {} x chunks {} = {:.0f} virtual stages for {} layers: some would be empty",
                  plan.pp, plan.chunks, stages, layers)};
}

Reasons stated_layers(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  const std::int64_t layers = layer_count(judged.model);
  Reasons out;
  if (plan.layers.empty() || !stages(judged).empty()) return out;
  std::int64_t sum = 0;
  for (const std::int64_t l : plan.layers) {
    if (l < 0 || l > layers) {
      out.push_back(fmt::format("a stage of {} layers", l));
      sum = layers;
      break;
    }
    sum += l;
  }
  if (const std::int64_t stages = plan.pp * plan.chunks;
      static_cast<std::int64_t>(plan.layers.size()) != stages) {
    out.push_back(fmt::format("layers lists {} virtual stages, pp x chunks are {}",
                              plan.layers.size(), stages));
  } else if (sum != layers) {
    out.push_back(fmt::format("layers add up to {}, the model has {}", sum, layers));
  }
  return out;
}

Reasons placement(const JudgedPlan& judged) {
  static constexpr MeshAxis kAll[] = {MeshAxis::tp, MeshAxis::cp, MeshAxis::pp, MeshAxis::dp};
  const std::vector<MeshAxis>& placed = judged.plan.placement;
  if (std::is_permutation(placed.begin(), placed.end(), std::begin(kAll), std::end(kAll)))
    return {};
  return {"placement must name tp, cp, pp and dp once each"};
}

Reasons batch(const JudgedPlan& judged);
Reasons schedule(const JudgedPlan& judged);

// The first of `first`, `first` + `step`, ... that can be divided into microbatches which the
// schedule accepts, if one of the first thousand can.
std::optional<std::int64_t> nearest_batch(const JudgedPlan& judged, std::int64_t first,
                                          std::int64_t step) {
  constexpr int kMostTried = 1000;
  Training training = judged.training;
  const JudgedPlan other{judged.model, judged.cluster, training, judged.plan};
  for (int i = 0; i < kMostTried && first > 0 && first <= kMaxBatch; ++i, first += step) {
    training.global_batch = first;
    if (batch(other).empty() && schedule(other).empty()) return first;
  }
  return std::nullopt;
}

std::string write_instead(std::optional<std::int64_t> below, std::optional<std::int64_t> above) {
  if (below && above) return fmt::format(": write {} or {}", *below, *above);
  if (below || above) return fmt::format(": write {}", below ? *below : *above);
  return "";
}

Reasons batch(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  const std::int64_t global = judged.training.global_batch;
  std::int64_t microbatches = 0;  // of a replica, at most
  if (!plan.site_microbatches.empty() || !plan.site_micro_batch.empty()) {
    if (!placement(judged).empty()) return {};
    Reasons wrong = share_problems(judged.cluster, judged.training, plan, kMaxMicrobatches);
    if (!wrong.empty()) return wrong;
    for (std::size_t site = 0; site < site_count(judged.cluster); ++site) {
      const Plan own = plan_of_site(judged.training, judged.cluster, plan, site);
      microbatches = std::max(microbatches, own.site_microbatches.front());
    }
  }
  const double per_step = static_cast<double>(plan.dp) * static_cast<double>(plan.micro_batch);
  if (microbatches == 0 && std::fmod(static_cast<double>(global), per_step) != 0) {
    const auto at_once = static_cast<std::int64_t>(per_step);
    const std::int64_t below = global / at_once * at_once;
    return {fmt::format("global batch {} is not a multiple of dp {} x micro_batch {}{}", global,
                        plan.dp, plan.micro_batch,
                        write_instead(nearest_batch(judged, below, -at_once),
                                      nearest_batch(judged, below + at_once, at_once)))};
  }
  if (microbatches == 0) microbatches = global / (plan.dp * plan.micro_batch);
  if (microbatches > kMaxMicrobatches) {
    return {
        fmt::format("{} microbatches a replica are more than {}", microbatches, kMaxMicrobatches)};
  }
  if (static_cast<double>(microbatches) * virtual_stages(plan) <= kMaxPasses) return {};
  return {fmt::format(
      "{} microbatches on {:.0f} virtual stages are more than {:.0f} passes, the most that is "
      "simulated",
      microbatches, virtual_stages(plan), kMaxPasses)};
}

Reasons schedule(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  if (!batch(judged).empty()) return {};
  const auto found = find_schedule(plan.schedule);
  if (!found) return {found.error().text()};
  Reasons out;
  if ((*found)->asynchronous) {
    out.push_back(fmt::format(
        "{0} updates weights between microbatches: it has no step to estimate; `orrery schedule "
        "{0}` draws it",
        plan.schedule));
  }
  if ((*found)->virtual_stage == nullptr) {
    out.push_back(fmt::format(
        "{0} wires its stages anew for every microbatch: `orrery schedule {0}` draws it",
        plan.schedule));
  }
  if (plan.pp == 1 && plan.chunks > 1 && (*found)->chunks == 0) {
    out.push_back(fmt::format("chunks {} need a pipeline, and pp is 1", plan.chunks));
  }
  ScheduleRequest request;
  request.group = static_cast<int>(plan.group);
  const bool by_site = !plan.site_microbatches.empty() || !plan.site_micro_batch.empty();
  const std::size_t sites = by_site ? site_count(judged.cluster) : 1;
  for (std::size_t site = 0; site < sites; ++site) {
    const int here = by_site
                         ? microbatches(judged.training,
                                        plan_of_site(judged.training, judged.cluster, plan, site))
                         : microbatches(judged.training, plan);
    request.shape = {static_cast<int>(plan.pp), here, static_cast<int>(plan.chunks)};
    Reasons more = schedule_problems(**found, request);
    std::move(more.begin(), more.end(), std::back_inserter(out));
    if (!out.empty()) break;
  }
  return out;
}

Reasons shard_group(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  if (plan.shard_group == 0 || nests(plan, Axes::replicas, plan.shard_group)) return {};
  return {fmt::format("shard_group {} does not divide cp {} and dp {} in the order of placement",
                      plan.shard_group, plan.cp, plan.dp)};
}

Reasons recomputed_layers(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  Reasons out;
  if (plan.recompute_layers > layer_count(judged.model)) {
    out.push_back(fmt::format("recompute_layers {} is more than the model's {} layers",
                              plan.recompute_layers, layer_count(judged.model)));
  }
  if (plan.recompute_layers > 0 && plan.recompute == Recompute::none) {
    out.push_back(fmt::format("recompute_layers {} needs recompute=full, selective or alternate",
                              plan.recompute_layers));
  }
  if (plan.recompute_layers > 0 && plan.recompute == Recompute::optimal) {
    out.push_back(fmt::format(
        "recompute=optimal chooses recompute_layers itself: leave out recompute_layers={}",
        plan.recompute_layers));
  }
  return out;
}

Reasons recomputed_modules(const JudgedPlan& judged) {
  return recompute_module_problems(judged.model, judged.plan);
}

// What is about a backward, or about the orders that schedules give it.
Reasons workload(const JudgedPlan& judged) {
  const auto& [model, cluster, training, plan] = judged;
  Reasons out;
  if (passes_of(training.workload).backward) return out;
  const auto refuse = [&](bool stated, std::string_view what) {
    if (!stated) return;
    out.push_back(
        fmt::format("{} needs a backward; workload {} has none", what, to_text(training.workload)));
  };
  refuse(plan.recompute != Recompute::none, fmt::format("recompute={}", to_text(plan.recompute)));
  refuse(plan.overlap.expert_batches, "overlap.expert_batches");
  refuse(plan.overlap.optimizer, "overlap.optimizer");
  refuse(plan.gradient_code != GradientCode::none, "gradient_code");
  refuse(plan.gradient_bucket_mib > 0, "gradient_bucket_mib");
  refuse(plan.gradient_shard > 0, "gradient_shard");
  refuse(training.dropout, "dropout");
  const auto found = find_schedule(plan.schedule);
  refuse(found && ((*found)->splits_backward || (*found)->pairs_passes ||
                   (*found)->made_for_times || (*found)->splits_vocabulary),
         "schedule " + plan.schedule);
  return out;
}

Reasons sites(const JudgedPlan& judged) {
  if (!placement(judged).empty()) return {};
  return site_problems(judged.model, judged.cluster, judged.plan);
}

// What is asked of the sequences of a microbatch, where sites have different ones.
template <Reasons (*kProblems)(const JudgedPlan&)>
Reasons in_each_site(const JudgedPlan& judged) {
  if (judged.plan.site_micro_batch.empty()) return kProblems(judged);
  if (!batch(judged).empty()) return {};
  for (std::size_t site = 0; site < site_count(judged.cluster); ++site) {
    const Plan own = plan_of_site(judged.training, judged.cluster, judged.plan, site);
    Reasons wrong = kProblems({judged.model, judged.cluster, judged.training, own});
    if (!wrong.empty()) return wrong;
  }
  return {};
}

Reasons number_format(const JudgedPlan& judged) {
  if (judged.training.precision == NumberFormat::fp64 &&
      judged.cluster.accelerator.peak(NumberFormat::fp64)) {
    return {"precision fp64 is not modelled; fp32 is the widest"};
  }
  std::string text = format_problem(judged.cluster, judged.training.precision);
  if (text.empty()) return {};
  return {std::move(text)};
}

using Kind = PlanRule::Kind;

constexpr PlanRule kRules[] = {
    {"ranges", ranges, Kind::stops},  // nothing below computes with an absurd number
    {"context parallelism", context_problems, Kind::stops},
    {"ranks", ranks, Kind::gives_replicas},
    {"division", divided},
    {"documents", row_problems},
    {"expert tensor parallelism", expert_tensor_parallelism},
    {"expert ranks", expert_ranks, Kind::needs_replicas},
    {"tables", tables, Kind::needs_replicas},
    {"token dispatch", token_dispatch},
    {"expert batches", expert_batch_problems},
    {"halves", in_each_site<half_problems>, Kind::needs_replicas},
    {"reductions", reduction_problems},
    {"stages", stages},
    {"stated layers", stated_layers},
    {"batch", batch, Kind::needs_replicas},
    {"schedule", schedule, Kind::needs_replicas},
    {"shard group", shard_group, Kind::needs_replicas},
    {"unequal shards", shard_problems, Kind::needs_replicas},
    {"sequence tiles", in_each_site<tile_problems>, Kind::needs_replicas},
    {"offload", offload_problems},
    {"gradients in place", gradient_place_problems, Kind::needs_replicas},
    {"compression", compression_problems, Kind::needs_replicas},
    {"local steps", local_step_problems, Kind::needs_replicas},
    {"recomputed layers", recomputed_layers},
    {"recomputed modules", recomputed_modules},
    {"placement", placement},
    {"sites", sites, Kind::needs_replicas},
    {"workload", workload},
    {"number format", number_format},
};

}  // namespace

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

std::span<const PlanRule> plan_rules() { return kRules; }

// Of an accelerator, where nothing is stated: 100 MiB/s, torchrec/distributed/planner/constants.py,
// SSD_MEM_BW.
constexpr double kUnknownDisks = 100.0 * 1024 * 1024;

Division division(const Cluster& cluster, const Training& training, const Plan& plan) {
  Division out{
      .tp = plan.tp,
      .cp = plan.cp,
      .pp = plan.pp,
      .ep = plan.ep,
      .etp = expert_tensor_degree(plan),
      .sequence_parallel = plan.tp > 1 && plan.sequence_parallel,
      .head_ranks = head_ranks(plan),
      .switches_dimension = switches_dimension(plan),
      .sequence_length = training.sequence_length,
      .ranks = cluster.accelerators,
      .micro_batch = plan.micro_batch,
      .trains = passes_of(training.workload).backward,
      .element = tensor_element_size(training.precision),
      .gradient = element_size(training.gradients),
      .memory = cluster.accelerator.memory.capacity,
      .memory_bandwidth = cluster.accelerator.memory.bandwidth,
      .table_sharding = plan.table_sharding,
      .codec = plan.codec,
      .towers = std::max<std::int64_t>(1, plan.towers),
      .tower_ranks = ranks_of_tower(plan, cluster.levels.front().accelerators),
      .host_bandwidth = cluster.accelerator.host_link.bandwidth.value_or(BytesPerSecond(0))};
  const double share =
      1.0 / static_cast<double>(std::max<std::int64_t>(1, cluster.accelerators_per_node));
  out.host_memory = cluster.host.memory.value_or(Bytes(0)) * share;
  out.storage = cluster.host.local_storage.value_or(Bytes(0)) * share;
  out.storage_bandwidth = cluster.host.storage_read ? *cluster.host.storage_read * share
                                                    : BytesPerSecond(kUnknownDisks);
  return out;
}

std::vector<std::string> plan_problems(const Model& model, const Cluster& cluster,
                                       const Training& training, const Plan& plan) {
  const JudgedPlan judged{model, cluster, training, plan};
  Reasons out;
  bool replicas = true;  // dp is known
  for (const PlanRule& rule : kRules) {
    if (rule.kind == Kind::needs_replicas && !replicas) continue;
    Reasons reasons = rule.broken(judged);
    if (rule.kind == Kind::gives_replicas) replicas = reasons.empty();
    std::move(reasons.begin(), reasons.end(), std::back_inserter(out));
    if (rule.kind == Kind::stops && !out.empty()) break;
  }
  return out;
}

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
                    model.name + " has none");
    }
  }
  const RecomputeModuleSet set(modules);
  if (set.has(RecomputeModule::shared_experts) && plan.overlap.expert) {
    out.emplace_back(
        "overlap.expert and recompute_modules shared_experts exclude each other: the shared expert "
        "would run again beside no exchange");
  }
  if (plan.mlp_tiles > 1 && (set.has(RecomputeModule::mlp) || set.has(RecomputeModule::mlp_act))) {
    out.emplace_back(
        "mlp_tiles computes the feed-forward part again already; leave mlp and mlp_act out of "
        "recompute_modules");
  }
  if (set.has(RecomputeModule::moe) && plan.overlap.expert_batches) {
    out.emplace_back(
        "overlap.expert_batches and recompute_modules moe exclude each other: the backward would "
        "send tokens away again");
  }
  return out;
}

std::string format_problem(const Cluster& cluster, NumberFormat format) {
  std::string out = format_problem(cluster.accelerator, format);
  for (const Site& site : cluster.further_sites) {
    if (out.empty()) out = format_problem(site.accelerator, format);
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

}  // namespace orrery
