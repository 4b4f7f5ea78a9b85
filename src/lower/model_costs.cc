#include "lower/model_costs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lower/shard_moves.h"
#include "plan/plan_rules.h"

namespace orrery {

PassTotals& PassTotals::operator+=(const BlockCost& b) {
  forward += b.forward.time;
  backward += b.backward.time;
  input_gradient += b.input_gradient.time;
  weight_gradient += b.weight_gradient.time;
  exposed_ep +=
      b.forward.breakdown[Category::exposed_ep] + b.backward.breakdown[Category::exposed_ep];
  trained += b.trained;
  frozen += b.frozen;
  tables += b.tables;
  saved += b.memory.saved;
  saved_for_weight_gradient += b.saved_for_weight_gradient;
  recomputed += b.recomputed;
  return *this;
}

namespace {

// `into` takes in every part of the other.
template <class Into>
PassTotals combined(PassTotals a, const PassTotals& b, Into into) {
  into(a.forward, b.forward);
  into(a.backward, b.backward);
  into(a.input_gradient, b.input_gradient);
  into(a.weight_gradient, b.weight_gradient);
  into(a.exposed_ep, b.exposed_ep);
  into(a.trained, b.trained);
  into(a.frozen, b.frozen);
  into(a.tables, b.tables);
  into(a.saved, b.saved);
  into(a.saved_for_weight_gradient, b.saved_for_weight_gradient);
  into(a.recomputed, b.recomputed);
  return a;
}

}  // namespace

PassTotals operator-(PassTotals a, const PassTotals& b) {
  return combined(a, b, [](auto& x, const auto& y) { x -= y; });
}

PassTotals operator+(PassTotals a, const PassTotals& b) {
  return combined(a, b, [](auto& x, const auto& y) { x += y; });
}

ExpertBalance balance_of_experts(const Model& model, const Training& training, const Plan& plan,
                                 double part) {
  if (model.experts == 0) return {};
  const bool sequence_parallel = plan.tp > 1 && plan.sequence_parallel;
  const auto etp = static_cast<double>(std::max<std::int64_t>(1, plan.etp));
  const double rows = part * static_cast<double>(plan.micro_batch * training.sequence_length) /
                      static_cast<double>(plan.cp) * static_cast<double>(model.experts_of_a_token) *
                      etp / static_cast<double>(sequence_parallel ? plan.tp : 1);
  return expert_balance(training.expert_load, plan, model.experts, rows);
}

double kept_tokens(const Model& model, const Training& training, const Plan& plan) {
  const double part = plan.halves == Halves::none ? 1 : 0.5;
  return 1 - balance_of_experts(model, training, plan, part).dropped;
}

Binding binding(const Model& model, const Training& training, const Plan& plan) {
  Binding b;
  b.micro_batch = static_cast<double>(plan.micro_batch);
  b.sequence_length = static_cast<double>(training.sequence_length);
  b.source_length = static_cast<double>(training.source_length);
  b.tp = static_cast<int>(plan.tp);
  b.cp = static_cast<int>(plan.cp);
  b.ep = static_cast<int>(plan.ep);
  b.etp = static_cast<int>(std::max<std::int64_t>(1, plan.etp));
  // A recommendation model has no sequence to divide.
  b.sequence_parallel = plan.tp > 1 && plan.sequence_parallel && model.tables == 0;
  if (model.experts > 0) {
    b.expert_imbalance = balance_of_experts(model, training, plan).busiest;
    b.expert_copies =
        1 + static_cast<double>(plan.redundant_experts) / static_cast<double>(model.experts);
  }
  return b;
}

CostCache::CostCache(const Model& model, const Training& training, CostContext context,
                     BlockGraphs graphs)
    : model_(model), training_(training), context_(std::move(context)), graphs_(graphs) {
  for (CostContext& site : context_.further_sites) {
    further_sites_.push_back(std::make_unique<CostCache>(model, training, std::move(site), graphs));
  }
  context_.further_sites.clear();
  if (model.tables == 0) context_.software.host.work.clear();
  // Lengths that fill no row are refused with the plan.
  if (training.documents.lengths.empty() ||
      !document_problems(training.documents, training.sequence_length).empty()) {
    return;
  }
  documents_ = std::make_unique<DocumentRows>(training.documents, training.sequence_length);
}

namespace {

void drop_graphs(BlockCost& block) {
  for (BlockPass* pass :
       {&block.forward, &block.backward, &block.input_gradient, &block.weight_gradient}) {
    pass->graph = Graph();
  }
}

bool reduces_each_microbatch(const Plan& plan, const SoftwareProfile& software) {
  return plan.zero >= 2 && shard_moves(plan, software).gradients == ShardMove::each_pass;
}

std::vector<std::int64_t> mesh_key(const Plan& plan) {
  std::vector<std::int64_t> key = {plan.tp,
                                   plan.cp,
                                   plan.pp,
                                   plan.dp,
                                   plan.ep,
                                   plan.etp,
                                   plan.shard_group,
                                   head_ranks(plan),
                                   ring_ranks(plan),
                                   plan.inner_ring,
                                   static_cast<std::int64_t>(plan.context_groups),
                                   static_cast<std::int64_t>(plan.context_placement),
                                   gradient_shard(plan),
                                   weight_shard(plan),
                                   plan.towers,
                                   plan.secondary_shard,
                                   static_cast<std::int64_t>(trains_copies_apart(plan))};
  for (const MeshAxis axis : plan.placement) key.push_back(static_cast<std::int64_t>(axis));
  return key;
}

void append(std::vector<std::int64_t>& key, const GroupShape& group) {
  for (const int m : group.members) key.push_back(m);
}

}  // namespace

const DocumentRows* CostCache::documents(const Plan& plan) const {
  if (plan.context_groups == ContextGroups::fixed || !documents_) return documents_.get();
  const std::scoped_lock lock(mutex_);
  auto& slot = documents_by_length_[plan.cp];
  if (!slot) {
    slot = std::make_unique<DocumentRows>(training_.documents, training_.sequence_length, plan.cp);
  }
  return slot.get();
}

RowDivision CostCache::rows(const Plan& plan) const {
  // Ranks that send each other tokens wait in every layer.
  const bool each = reduces_each_microbatch(plan, context_.software) || plan.ep > 1;
  return row_division(training_, plan, each);
}

const RankLayout& CostCache::layout(const Plan& plan) {
  Key key = mesh_key(plan);
  const std::scoped_lock lock(mutex_);
  auto& slot = layouts_[std::move(key)];
  if (!slot)
    slot = std::make_unique<RankLayout>(rank_layout(plan, context_.cluster, context_.first_rank));
  return *slot;
}

const std::vector<InFlight>& CostCache::in_flight(const Schedule& schedule,
                                                  const PipelineShape& shape, int group,
                                                  double pending_weight) {
  Key key = {static_cast<std::int64_t>(&schedule - schedules().data()),
             shape.devices,
             shape.microbatches,
             shape.chunks,
             group,
             std::llround(pending_weight * 1024)};
  {
    const std::scoped_lock lock(mutex_);
    if (const auto it = in_flight_.find(key); it != in_flight_.end()) return *it->second;
  }
  ScheduleRequest request;
  request.shape = shape;
  request.group = group;
  auto made = std::make_unique<std::vector<InFlight>>(static_cast<std::size_t>(shape.devices));
  const std::vector<StageMemory> memory(static_cast<std::size_t>(shape.virtual_stages()),
                                        StageMemory{1, pending_weight});
  const auto peaks = [&](int microbatches) {
    request.shape.microbatches = microbatches;
    std::vector<InFlight> out;
    const auto pipeline = orrery::pipeline(schedule, request);
    for (std::size_t d = 0; pipeline && d < made->size(); ++d) {
      out.push_back(peak_in_flight(*pipeline, d, memory));
    }
    return out;
  };
  // The same few units are held through a long steady state: if two more rounds of 2p microbatches
  // change nothing, no further ones do.
  const int round = 2 * shape.devices;
  const int rounds = (shape.microbatches - 8 * shape.devices) / round;
  std::vector<InFlight> found;
  if (rounds > 2) {
    found = peaks(shape.microbatches - rounds * round);
    if (found != peaks(shape.microbatches - (rounds - 2) * round)) found.clear();
  }
  if (found.empty()) found = peaks(shape.microbatches);
  if (!found.empty()) {
    *made = std::move(found);
  } else {
    // Refused when the step is built, with its reason; until then it holds everything.
    const std::vector<int> all(static_cast<std::size_t>(shape.chunks * schedule.routes),
                               shape.microbatches);
    for (InFlight& device : *made) device = {all, std::vector<int>(all.size()), 0};
  }
  const std::scoped_lock lock(mutex_);
  auto& slot = in_flight_[std::move(key)];
  if (!slot) slot = std::move(made);
  return *slot;
}

Result<Pipeline> CostCache::pipeline(const Schedule& schedule, const ScheduleRequest& request) {
  if (!schedule.made_for_times) return orrery::pipeline(schedule, request);
  constexpr std::size_t kMostKept = 64;  // a few megabytes each
  std::shared_ptr<SoughtPipeline> sought;
  {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<SoughtPipeline>& slot = pipelines_[{&schedule, request}];
    if (slot == nullptr) slot = std::make_shared<SoughtPipeline>();
    sought = slot;
    if (pipelines_.size() > kMostKept) pipelines_ = {{{&schedule, request}, sought}};
  }
  std::call_once(sought->once, [&] { sought->made = orrery::pipeline(schedule, request); });
  return *sought->made;
}

BlockSetting CostCache::setting(const Plan& plan) {
  return setting(plan, documents_ ? rows(plan) : RowDivision{});
}

BlockSetting CostCache::setting(const Plan& plan, const RowDivision& rows) {
  BlockSetting out{binding(model_, training_, plan),
                   model_.width,
                   plan,
                   training_,
                   layout(plan),
                   context_,
                   documents(plan),
                   rows};
  if (plan.halves != Halves::none) {
    out.expert_imbalance_of_half = balance_of_experts(model_, training_, plan, 0.5).busiest;
  }
  out.kept_tokens = kept_tokens(model_, training_, plan);
  return out;
}

const ModelCosts& CostCache::costs(const Plan& plan, Recompute recompute, Backward backward) {
  const RankLayout& groups = layout(plan);
  const bool reduces_each = reduces_each_microbatch(plan, context_.software);
  Key key = {plan.tp,
             plan.cp,
             plan.ep,
             plan.etp,
             plan.micro_batch,
             static_cast<std::int64_t>(plan.tp > 1 && plan.sequence_parallel),
             static_cast<std::int64_t>(plan.context_parallel),
             static_cast<std::int64_t>(plan.context_balance),
             static_cast<std::int64_t>(plan.context_groups),
             plan.inner_ring,
             plan.loss_tiles,
             plan.mlp_tiles,
             static_cast<std::int64_t>(plan.attention),
             static_cast<std::int64_t>(plan.overlap.tensor_parallel),
             static_cast<std::int64_t>(plan.overlap.tensor_tiles),
             static_cast<std::int64_t>(plan.halves),
             static_cast<std::int64_t>(plan.overlap.expert),
             static_cast<std::int64_t>(plan.overlap.expert_batches),
             static_cast<std::int64_t>(plan.dispatch),
             static_cast<std::int64_t>(plan.dispatch_format),
             static_cast<std::int64_t>(plan.expert_placement),
             static_cast<std::int64_t>(plan.expert_products),
             plan.redundant_experts,
             static_cast<std::int64_t>(plan.table_sharding),
             plan.towers,
             static_cast<std::int64_t>(plan.codec),
             static_cast<std::int64_t>(recompute),
             static_cast<std::int64_t>(RecomputeModuleSet(plan.recompute_modules).bits()),
             static_cast<std::int64_t>(backward),
             static_cast<std::int64_t>(microbatches(training_, plan) > 1),
             static_cast<std::int64_t>(reduces_each),
             static_cast<std::int64_t>(plan.pp > 1)};
  append(key, groups.tp);
  append(key, groups.cp);
  append(key, groups.cp_heads);
  append(key, groups.cp_ring);
  append(key, groups.cp_inner);
  append(key, groups.cp_outer);
  append(key, groups.ep);
  append(key, groups.ep_node);
  append(key, groups.etp);
  append(key, groups.tower);
  if (model_.tables > 0) {
    // These ranks average the gradients of replicated tables.
    append(key, groups.expert_shard);
    // The placement of tables depends on further fields of the plan; the address of the placed
    // model stands for them.
    key.push_back(std::bit_cast<std::int64_t>(&model_on_ranks(plan)));
  }
  const RowDivision rows = documents_ ? this->rows(plan) : RowDivision{};
  if (documents_) {
    key.push_back(rows.replicas);
    key.push_back(rows.together);
  }
  {
    const std::scoped_lock lock(mutex_);
    if (const auto it = costs_.find(key); it != costs_.end()) return *it->second;
  }
  // Priced outside the lock; two threads may do the same work, the first result is kept.
  const BlockSetting setting = this->setting(plan, rows);
  auto made = std::make_unique<ModelCosts>();
  const Model& on_ranks = model_on_ranks(plan);
  for (const Block& block : on_ranks.blocks) {
    made->blocks.push_back(block_cost(block, setting, recompute, backward));
  }
  BlockSetting ends = setting;
  ends.layer = false;
  made->embedding = block_cost(on_ranks.embedding, ends, Recompute::none, backward);
  // A module of multi-token prediction has a layer of its own.
  const bool modules = recompute == Recompute::selective;
  made->head = block_cost(on_ranks.head, ends, modules ? recompute : Recompute::none, backward);
  if (graphs_ == BlockGraphs::dropped) {
    std::ranges::for_each(made->blocks, drop_graphs);
    drop_graphs(made->embedding);
    drop_graphs(made->head);
  }
  made->before.resize(model_.layers.size() + 1);
  for (std::size_t l = 0; l < model_.layers.size(); ++l) {
    made->before[l + 1] = made->before[l];
    made->before[l + 1] += made->blocks[model_.layers[l]];
  }
  const std::scoped_lock lock(mutex_);
  auto& slot = costs_[std::move(key)];
  if (!slot) slot = std::move(made);
  return *slot;
}

}  // namespace orrery
