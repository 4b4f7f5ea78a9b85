// What the operations of a step outside its blocks are made of, and so what they take
// (lower/step_costs.h): communication of the data-parallel ranks, transfers, the optimizer.
#include "lower/price.h"
#include "lower/shard_moves.h"
#include "lower/step_costs.h"

namespace orrery {
namespace {

using Rounding = OperationPart::Rounding;

Communication communication(CollectiveKind kind, StepGroup group, Bytes payload) {
  return {.collective = kind, .group = index(group), .payload = payload};
}

// Adds up prices without a list of the parts: a search asks for many.
class PricedParts {
 public:
  explicit PricedParts(const StepCosts& step) : step_(step) {}
  void operator()(const Communication& c, Rounding rounding) {
    if (rounding == Rounding::own) {
      sum_ += round_to_picoseconds(open_);
      open_ = Seconds(0);
    }
    open_ += price(c, step_.layout->groups[c.group.value()].shape, step_.cache->context());
  }
  [[nodiscard]] Picoseconds sum() const { return sum_ + round_to_picoseconds(open_); }

 private:
  const StepCosts& step_;
  Picoseconds sum_;
  Seconds open_;
};

// Keeps the parts that move anything.
class ListedParts {
 public:
  explicit ListedParts(const StepCosts& step) : step_(step) {}
  void operator()(const Communication& c, Rounding rounding) {
    if (rounding == Rounding::own) begun_ = false;
    if (c.payload <= Bytes(0) || step_.layout->groups[c.group.value()].shape.size <= 1) return;
    parts_.push_back({.what = c, .rounding = begun_ ? Rounding::with_previous : Rounding::own});
    begun_ = true;
  }
  [[nodiscard]] OperationParts take() { return std::move(parts_); }

 private:
  const StepCosts& step_;
  OperationParts parts_;
  bool begun_ = false;
};

template <class Visit>
void each_reduction(const StepCosts& step, const RankParameters& trained, Visit&& visit) {
  const RankLayout& layout = *step.layout;
  const bool sharded = step.plan.zero > 0;
  const auto reduce = [&](Bytes gradients, StepGroup shard, StepGroup copies, int shards) {
    visit(communication(sharded ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
                        shard, gradients),
          Rounding::own);
    visit(
        communication(CollectiveKind::all_reduce, copies, sharded ? gradients / shards : gradients),
        Rounding::with_previous);
  };
  const Bytes of_dense(trained.dense * step.gradient_bytes);
  const Bytes of_expert(trained.expert * step.gradient_bytes);
  reduce(of_dense, StepGroup::replicas, StepGroup::replica_copies, layout.dense_shard.size);
  reduce(of_expert, StepGroup::expert_replicas, StepGroup::expert_replica_copies,
         layout.expert_shard.size);
  if (step.schedule->routes > 1) {
    const Bytes shard =
        sharded ? of_dense / layout.dense_shard.size + of_expert / layout.expert_shard.size
                : of_dense + of_expert;
    visit(communication(CollectiveKind::all_reduce, StepGroup::mirrored_stages, shard),
          Rounding::own);
  }
}

template <class Visit>
void each_gather(const StepCosts& step, const RankParameters& trained, const RankParameters& frozen,
                 Visit&& visit) {
  const RankParameters moved = step.plan.zero >= 3 ? trained + frozen : trained;
  const Bytes weight = tensor_element_size(step.cache->training().precision);
  const bool broadcasts =
      step.cache->context().software.shard_transfers == ShardTransfers::broadcasts &&
      step.plan.zero < 3;
  const auto gather = [&](double parameters, StepGroup group, const GroupShape& shard) {
    const Bytes all = weight * parameters;
    Communication c = communication(CollectiveKind::all_gather, group, all);
    if (broadcasts) {
      c.collective = CollectiveKind::broadcast;
      c.payload = all / shard.size;
      c.times = shard.size;
    }
    visit(c, Rounding::own);
  };
  gather(moved.dense, StepGroup::replicas, step.layout->dense_shard);
  gather(moved.expert, StepGroup::expert_replicas, step.layout->expert_shard);
}

}  // namespace

Picoseconds StepCosts::reduce(const RankParameters& trained_parameters) const {
  PricedParts priced(*this);
  each_reduction(*this, trained_parameters, priced);
  return priced.sum();
}

OperationParts StepCosts::reduce_parts(const RankParameters& trained_parameters) const {
  ListedParts listed(*this);
  each_reduction(*this, trained_parameters, listed);
  return listed.take();
}

Picoseconds StepCosts::gather(const RankParameters& trained, const RankParameters& frozen) const {
  PricedParts priced(*this);
  each_gather(*this, trained, frozen, priced);
  return priced.sum();
}

OperationParts StepCosts::gather_parts(const RankParameters& trained,
                                       const RankParameters& frozen) const {
  ListedParts listed(*this);
  each_gather(*this, trained, frozen, listed);
  return listed.take();
}

Seconds StepCosts::listing(int tensors) const {
  const SoftwareProfile& software = cache->context().software;
  if (software.shard_transfers != ShardTransfers::lists || plan.zero < 3) return Seconds(0);
  return software.host.kernel * (2.0 * tensors * layout->dense_shard.size);
}

Bytes StepCosts::copied_gathered(double parameters) const {
  const ShardTransfers how = cache->context().software.shard_transfers;
  const bool copied = how == ShardTransfers::copied || how == ShardTransfers::lists;
  const Bytes weight = tensor_element_size(cache->training().precision);
  return copied ? 2 * weight * parameters : Bytes(0);
}

Bytes StepCosts::copied_reduced(double parameters) const {
  const double g = gradient_bytes;
  const double weight = tensor_element_size(cache->training().precision).value();
  switch (cache->context().software.shard_transfers) {
    case ShardTransfers::in_place:
    case ShardTransfers::broadcasts:
      return Bytes(0);
    case ShardTransfers::flat:
      return Bytes((2 * weight + (g == weight ? 0 : weight + g) + 2 * g) * parameters);
    case ShardTransfers::copied:
    case ShardTransfers::lists:
      return Bytes((weight + g) * parameters);
  }
  return Bytes(0);
}

Picoseconds StepCosts::copying(Bytes moved) const {
  if (moved <= Bytes(0)) return Picoseconds(0);
  return round_to_picoseconds(price(memory_bound(moved), cache->context()));
}

OperationParts StepCosts::transfer_parts(std::size_t boundary_index) const {
  const CostContext& costs = cache->context();
  // What all tensor-parallel ranks hold alike each of them may send a piece of.
  const bool pieces = costs.software.splits_transfers && plan.tp > 1 && !plan.sequence_parallel;
  OperationParts out = {
      {.what = Message{pieces ? boundary / static_cast<double>(plan.tp) : boundary,
                       static_cast<std::uint32_t>(layout->boundary_level[boundary_index]),
                       layout->boundary_crossing[boundary_index]}}};
  if (pieces) {
    out.push_back({.what = communication(CollectiveKind::all_gather, StepGroup::tensor, boundary),
                   .rounding = Rounding::with_previous});
  }
  return out;
}

OperationParts StepCosts::gradient_norm_parts() const {
  return {{.what = communication(CollectiveKind::all_reduce, StepGroup::world, Bytes(4))}};
}

OperationParts StepCosts::tied_embedding_parts() const {
  return {{.what = communication(CollectiveKind::all_reduce, StepGroup::end_stages,
                                 Bytes(kept->embedding.trained.dense * gradient_bytes))}};
}

OperationParts StepCosts::optimizer_parts(int device) const {
  const PassTotals totals = held(device);
  const double owned =
      plan.zero == 0 ? totals.trained.all()
                     : totals.trained.sharded(layout->dense_shard.size, layout->expert_shard.size);
  // Accumulated gradients are set to zero for the next step; shards of them are small.
  const bool shards = plan.zero >= 2 && shard_moves(plan, cache->context().software).gradients ==
                                            ShardMove::each_pass;
  const double accumulated = shards ? owned : totals.trained.all();
  return {{.what = memory_bound(Bytes(owned * optimizer_bytes))},
          {.what = memory_bound(Bytes(accumulated * gradient_bytes)),
           .rounding = Rounding::with_previous}};
}

}  // namespace orrery
