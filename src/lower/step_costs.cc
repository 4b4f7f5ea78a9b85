#include "lower/step_costs.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "lower/averaging_by_bandwidth.h"
#include "lower/optimizer_bytes.h"
#include "lower/price.h"
#include "lower/stage_memory.h"
#include "lower/state_division.h"
#include "outcome/invariant.h"
#include "plan/site_division.h"
#include "plan/stage_layers.h"

namespace orrery {
namespace {

// The device of a virtual stage, on the first route.
int device_of(const StepCosts& step, std::size_t stage) {
  for (int d = 0; d < step.shape.devices; ++d) {
    for (int c = 0; c < step.shape.chunks; ++c) {
      if (step.schedule->virtual_stage(step.shape, d, c) == static_cast<int>(stage)) return d;
    }
  }
  return 0;
}

// Share of computing lost in a block beside the reduction of its gradients; without a backward,
// beside the gather of its weights. Products and attention are bound by computing, the rest by
// memory.
double share_lost_beside_data(const StepCosts& step, const BlockCost& block) {
  const bool backward = step.passes.backward;
  const BlockPass& pass = backward ? block.backward : block.forward;
  const Breakdown& where = pass.breakdown;
  Picoseconds memory_bound;
  for (const Category c : {Category::router, Category::normalization, Category::elementwise,
                           Category::embedding, Category::loss}) {
    memory_bound += where[c];
  }
  const double all = pass.computing().count();
  const CollectiveKind kind = !backward             ? CollectiveKind::all_gather
                              : step.plan.zero == 0 ? CollectiveKind::all_reduce
                                                    : CollectiveKind::reduce_scatter;
  const Bytes payload(backward ? block.trained.dense * step.gradient_bytes
                               : block.frozen.dense *
                                     tensor_element_size(step.cache->training().precision).value());
  return step.cache->context()
      .interference(kind, payload, step.layout->dense_shard)
      .share_lost(all > 0 ? memory_bound.count() / all : 0);
}

}  // namespace

PassTotals StepCosts::held(int device) const {
  PassTotals sum;
  for (int c = 0; c < chunks_held(); ++c) sum = sum + chunk(device, c).totals;
  sum.trained += vocabulary.trained;
  sum.frozen += vocabulary.frozen;
  return sum;
}

bool StepCosts::holds_an_end(int device) const {
  for (int c = 0; c < chunks_held(); ++c) {
    const VirtualStage& s = chunk(device, c);
    if (s.embedding || s.head) return true;
  }
  return false;
}

const BlockCost& StepCosts::block(const VirtualStage& stage, std::size_t layer,
                                  Partner partner) const {
  const bool again = layer - stage.first_layer < stage.recomputed;
  const StepCosts& costs = at(stage);
  const ModelCosts* of = partner == Partner::none
                             ? (again ? costs.recomputed_alone : costs.kept_alone)
                             : (again ? costs.recomputed : costs.kept);
  return of->blocks[cache->model().layers[layer]];
}

namespace {

// Of a cluster that is all alike.
StepCosts costs_of_site(CostCache& cache, const Plan& plan) {
  const Model& model = cache.model();
  const Training& training = cache.training();
  const CostContext& costs = cache.context();
  StepCosts out;
  out.cache = &cache;
  out.plan = plan;
  out.micro_batch = plan.micro_batch;
  out.passes = passes_of(training.workload);
  out.layout = &cache.layout(plan);
  const std::vector<Group>& groups = out.layout->groups;
  out.schedule = *find_schedule(plan.schedule);
  const Backward backward = out.schedule->splits_backward ? Backward::split : Backward::fused;
  ORRERY_INVARIANT(plan.recompute != Recompute::optimal);
  // Embedding and head follow those layers that are not recomputed as a whole.
  const bool some = plan.recompute != Recompute::none && plan.recompute_layers > 0;
  const bool apart = some || plan.recompute == Recompute::full;
  out.kept = &cache.costs(plan, apart ? Recompute::none : plan.recompute, backward);
  out.recomputed = apart ? &cache.costs(plan, plan.recompute, backward) : out.kept;
  out.kept_alone = out.kept;
  out.recomputed_alone = out.recomputed;
  if (plan.overlap.expert_batches) {
    Plan alone = plan;
    alone.overlap.expert_batches = false;
    out.kept_alone = &cache.costs(alone, apart ? Recompute::none : plan.recompute, backward);
    out.recomputed_alone = apart ? &cache.costs(alone, plan.recompute, backward) : out.kept_alone;
  }
  out.shape = {static_cast<int>(plan.pp), microbatches(training, plan),
               static_cast<int>(plan.chunks)};
  out.gradient_bytes = element_size(training.gradients).value();

  const BlockCost& usual = out.kept->blocks[model.layers.front()];
  out.data_share_lost = share_lost_beside_data(out, usual);
  constexpr Bytes kActivations{32 * 1024 * 1024};  // of a layer; chooses the algorithm
  const bool experts = out.layout->ep.size > 1;
  out.paired_share_lost =
      costs
          .interference(experts ? CollectiveKind::all_to_all : CollectiveKind::all_gather,
                        kActivations, experts ? out.layout->ep : out.layout->tp)
          .compute_share;

  const auto stage_count = static_cast<std::size_t>(out.shape.virtual_stages());
  const std::vector<std::int64_t> layers =
      plan.layers.empty() ? even_layers(static_cast<std::int64_t>(model.layers.size()),
                                        static_cast<std::int64_t>(stage_count))
                          : plan.layers;
  out.stages.resize(stage_count);
  const bool ends_apart = model.ties_ends && device_of(out, 0) != device_of(out, stage_count - 1);
  std::size_t first = 0;
  for (std::size_t s = 0; s < stage_count; ++s) {
    VirtualStage& stage = out.stages[s];
    stage.first_layer = first;
    stage.layers = static_cast<std::size_t>(layers[s]);
    stage.embedding = s == 0 && !out.schedule->splits_vocabulary;
    stage.head = s + 1 == stage_count && !out.schedule->splits_vocabulary;
    if (apart) {
      stage.recomputed =
          some ? std::min(stage.layers, static_cast<std::size_t>(plan.recompute_layers))
               : stage.layers;
    }
    const std::size_t middle = first + stage.recomputed;
    const std::size_t last = first + stage.layers;
    const auto totals = [&](const ModelCosts& kept, const ModelCosts& recomputed) {
      PassTotals sum = (recomputed.before[middle] - recomputed.before[first]) +
                       (kept.before[last] - kept.before[middle]);
      if (stage.embedding) sum += kept.embedding;
      if (stage.head) sum += kept.head;
      return sum;
    };
    stage.totals = totals(*out.kept, *out.recomputed);
    stage.fastest = stage.totals;
    if (plan.overlap.expert_batches) {
      // With a partner a pass is slowed by what it hides of the other's exchanges.
      const PassTotals alone = totals(*out.kept_alone, *out.recomputed_alone);
      stage.fastest.forward = std::min(stage.fastest.forward, alone.forward);
      stage.fastest.backward = std::min(stage.fastest.backward, alone.backward);
    }
    // A device with the last stage, but not the first, keeps its own copy of a tied embedding.
    if (stage.head && ends_apart) {
      stage.totals.trained.dense += out.kept->embedding.trained.dense;
      stage.totals.frozen.dense += out.kept->embedding.frozen.dense;
    }
    first = last;
  }

  // Boundary activations: micro_batch x sequence / cp tokens, still sharded under sequence
  // parallelism.
  const Binding b = binding(model, training, plan);
  out.boundary =
      tensor_element_size(training.precision) *
      (b.micro_batch * b.sequence_length / b.cp / (b.sequence_parallel ? b.tp : 1) * model.width);
  out.transfer.resize(static_cast<std::size_t>(out.shape.devices));
  if (out.shape.devices > 1) {
    for (std::size_t i = 0; i < out.transfer.size(); ++i) {
      const RankLayout& layout = *out.layout;
      if (i > 0 && layout.boundary_level[i] == layout.boundary_level[i - 1] &&
          layout.boundary_crossing[i] == layout.boundary_crossing[i - 1]) {
        out.transfer[i] = out.transfer[i - 1];
      } else {
        out.transfer[i] = price(out.transfer_parts(i), groups, costs);
      }
    }
  }

  for (const VirtualStage& s : out.stages) {
    out.copy.push_back(costs.rounded(price(HostCopy{s.totals.saved}, groups, costs)));
  }
  if (out.schedule->splits_vocabulary) {
    const double tokens = b.micro_batch * b.sequence_length / b.cp;
    out.vocabulary = vocabulary_share(*out.kept, costs, *out.layout, out.shape.devices,
                                      out.schedule->vocabulary_barriers, out.boundary, tokens);
  }

  out.optimizer_bytes =
      optimizer_bytes(training, costs.software, Bytes(out.gradient_bytes)).value();
  if (trains_copies_apart(plan) || plan.gradient_shard > 0 || plan.weight_shard > 0) {
    out.outer = price(out.outer_parts(), groups, costs);
  }
  out.optimizer.resize(static_cast<std::size_t>(out.shape.devices));
  for (int device = 0; out.passes.optimizer && device < out.shape.devices; ++device) {
    out.optimizer[static_cast<std::size_t>(device)] =
        price(out.optimizer_parts(device), groups, costs);
  }
  if (out.passes.optimizer) out.gradient_norm = price(out.gradient_norm_parts(), groups, costs);
  if (ends_apart && out.kept->embedding.trained.dense > 0) {
    out.tied_embedding = price(out.tied_embedding_parts(), groups, costs);
  }
  return out;
}

// Of a pipeline whose devices lie in these sites.
void take_stages(StepCosts& out, std::vector<std::size_t> device_site) {
  out.device_site = std::move(device_site);
  const std::size_t devices = out.device_site.size();
  for (std::size_t device = 0; device < devices; ++device) {
    const std::size_t site = out.device_site[device];
    const StepCosts& own = out.sites[site];
    for (int c = 0; c < out.chunks_held(); ++c) {
      const auto s = static_cast<std::size_t>(
          out.schedule->virtual_stage(out.shape, static_cast<int>(device), c));
      out.stages[s] = own.stages[s];
      out.stages[s].site = site;
      out.copy[s] = own.copy[s];
    }
    out.optimizer[device] = own.optimizer[device];
    const StepCosts& next = out.sites[out.device_site[(device + 1) % devices]];
    out.transfer[device] = std::max(own.transfer[device], next.transfer[device]);
  }
}

// The site whose step takes longest, what crosses between sites included; with all of them.
StepCosts slowest_of(std::vector<StepCosts> sites) {
  StepCosts slowest;
  Picoseconds longest(-1);  // no bound is so short
  for (std::size_t i = 0; i < sites.size(); ++i) {
    StepCosts site = sites[i];
    site.sites = std::move(sites);
    const Picoseconds bound = lower_bound(site);
    sites = std::move(site.sites);
    if (bound > longest) {
      slowest = std::move(site);
      longest = bound;
    }
  }
  slowest.sites = std::move(sites);
  return slowest;
}

}  // namespace

StepCosts step_costs(CostCache& cache, const Plan& plan) {
  if (cache.sites() == 1) return costs_of_site(cache, plan);
  std::vector<StepCosts> sites;
  for (std::size_t site = 0; site < cache.sites(); ++site) {
    const Plan own = plan_of_site(cache.training(), cache.context().cluster, plan, site);
    sites.push_back(costs_of_site(cache.at_site(site), own));
  }
  std::vector<std::size_t> devices = device_sites(plan, cache.context().cluster);
  const bool by_memory = plan.state_division == StateDivision::by_memory;
  if (by_memory) divide_states_by_memory(sites);
  StepCosts out;
  if (devices.empty()) {
    out = slowest_of(std::move(sites));
  } else {
    out = sites.front();
    out.sites = std::move(sites);
  }
  out.plan = plan;
  const bool shares_outer = plan.averaging == Averaging::by_bandwidth && out.outer > Picoseconds(0);
  if (shares_outer) out.outer = Picoseconds(0);
  for (const StepCosts& site : out.sites) {
    const Picoseconds outer = shares_outer ? out.price(out.outer_parts(), site) : site.outer;
    out.outer = std::max(out.outer, outer);
    for (std::size_t d = 0; by_memory && d < out.optimizer.size(); ++d) {
      out.optimizer[d] = std::max(out.optimizer[d], site.optimizer[d]);
    }
  }
  if (!devices.empty()) take_stages(out, std::move(devices));
  if (out.gradient_norm > Picoseconds(0)) out.gradient_norm = out.price(out.gradient_norm_parts());
  if (out.tied_embedding > Picoseconds(0)) {
    out.tied_embedding = out.price(out.tied_embedding_parts());
  }
  return out;
}

const Plan& StepCosts::priced_plan() const {
  const auto site = std::ranges::find(sites, cache, &StepCosts::cache);
  return site != sites.end() ? site->plan : plan;
}

const StepCosts& StepCosts::slower_end(std::size_t boundary_index) const {
  if (device_site.empty()) return *this;
  const StepCosts& from = sites[device_site[boundary_index]];
  const StepCosts& to = sites[device_site[(boundary_index + 1) % device_site.size()]];
  return to.transfer[boundary_index] > from.transfer[boundary_index] ? to : from;
}

const StepCosts& StepCosts::slowest_at(const Communication& c) const {
  if (sites.empty()) return *this;
  return *std::ranges::max_element(sites, {}, [&](const StepCosts& site) { return site.price(c); });
}

bool StepCosts::averages_by_bandwidth(const Communication& c) const {
  const GroupShape& group = layout->groups[c.group.value()].shape;
  const std::vector<int>& members = group.members;
  return plan.averaging == Averaging::by_bandwidth && !sites.empty() &&
         c.collective == CollectiveKind::all_reduce && c.group != index(StepGroup::world) &&
         group.size > 1 && members.size() > 1 && members[members.size() - 2] < group.size;
}

Seconds StepCosts::price(const Communication& c) const {
  if (averages_by_bandwidth(c)) {
    const double size = layout->groups[c.group.value()].shape.size;
    const Cluster& cluster = sites.front().cache->context().cluster;
    std::vector<EqualMembers> members;
    for (std::size_t site = 0; site < sites.size(); ++site) {
      const double here = static_cast<double>(replicas_of(plan, cluster, site));
      members.push_back({size * here / static_cast<double>(plan.dp), sites[site].price(c)});
    }
    return averaging_by_bandwidth(members);
  }
  const StepCosts& site = slowest_at(c);
  return orrery::price(c, site.layout->groups[c.group.value()].shape, site.cache->context());
}

Picoseconds StepCosts::price(const OperationParts& parts, const StepCosts& site) const {
  const CostContext& context = site.cache->context();
  return sum_of_parts(parts, context, [&](const Activity& what) {
    const auto* communication = std::get_if<Communication>(&what);
    return communication != nullptr ? price(*communication)
                                    : orrery::price(what, site.layout->groups, context);
  });
}

Bytes StepCosts::memory_capacity(int device) const {
  if (!sites.empty() && device_site.empty()) {
    return Bytes(static_cast<double>(memory_room(*this, device).capacity));
  }
  return at(device).cache->context().cluster.accelerator.memory.capacity;
}

ScheduleRequest schedule_request(const StepCosts& step) {
  ScheduleRequest out;
  out.shape = step.shape;
  out.group = static_cast<int>(step.plan.group);
  if (!step.schedule->made_for_times) return out;
  out.times.transfer = step.transfer;
  out.times.latency.assign(step.transfer.size(), Picoseconds(0));
  out.times.vocabulary = step.vocabulary.times;
  double saved = 0;
  for (const VirtualStage& s : step.stages) saved += s.totals.saved.value();
  const double unit = saved / static_cast<double>(step.stages.size());
  for (const VirtualStage& s : step.stages) {
    const PassTotals& t = s.totals;
    const Picoseconds copy = step.copy[out.times.stage.size()];
    out.times.stage.push_back({t.forward, t.input_gradient, t.weight_gradient, t.backward,
                               t.forward + t.backward, copy, copy});
    out.times.memory.push_back(
        {t.saved.value() / unit, t.saved_for_weight_gradient.value() / unit});
  }
  return out;
}

}  // namespace orrery
