// What the operations of a step outside its blocks are made of, and so what they take
// (lower/step_costs.h): communication of the data-parallel ranks, transfers, the optimizer.
#include <algorithm>
#include <cmath>
#include <utility>

#include "lower/host_offload.h"
#include "lower/price.h"
#include "lower/shard_moves.h"
#include "lower/step_costs.h"

namespace orrery {
namespace {

using Rounding = OperationPart::Rounding;

// Of an element, without the scales of its block (one fp32 for 2,048: 0.2 %).
constexpr Bytes k8Bits{1};
constexpr Bytes k4Bits{0.5};

// How gradients are coded (lower/step_costs.h): among so many ranks, of each of which the others on its
// node have as much to code.
struct CodedGradient {
  Bytes sent;      // of one gradient on the way to the rank that adds it up
  Bytes returned;  // of the sum on the way back
  int ranks = 1;
  int node = 1;
};
enum class Coded { dense, expert };
// Those of experts are coded whole among the ranks that hold them.
CodedGradient coded_gradient(const StepCosts& step, Coded what) {
  const RankLayout& layout = *step.layout;
  const bool dense = what == Coded::dense;
  CodedGradient out{k8Bits, k8Bits, (dense ? layout.dense_shard : layout.expert_shard).size, 1};
  const int nodes = layout.groups[index(StepGroup::secondary_peers).value()].shape.size;
  if (dense && nodes > 1) {
    out.ranks = nodes;
    out.node = layout.secondary.size;
  }
  if (step.plan.gradient_code == GradientCode::ternary) {
    out.sent = k8Bits * (std::log2(3.0) / 8);
    out.returned = k8Bits * (std::log2(2.0 * out.ranks + 1) / 8);
  }
  return out;
}

Communication communication(CollectiveKind kind, StepGroup group, Bytes payload) {
  return {.collective = kind, .group = index(group), .payload = payload};
}

// Adds up prices without a list of the parts: a search asks for many.
class PricedParts {
 public:
  explicit PricedParts(const StepCosts& step) : step_(step) {}
  void operator()(const Communication& c, Rounding rounding) {
    if (rounding == Rounding::own) {
      sum_ += step_.cache->context().rounded(open_);
      open_ = Seconds(0);
    }
    open_ += step_.price(c);
  }
  [[nodiscard]] Picoseconds sum() const { return sum_ + step_.cache->context().rounded(open_); }

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
  const bool widened = step.widens_gradients();
  const bool sharded = step.plan.zero > 0 && !widened;
  const bool copies_agree = !trains_copies_apart(step.plan);
  const double element = widened ? element_size(NumberFormat::fp32).value() : step.gradient_bytes;
  const auto reduce = [&](Bytes gradients, StepGroup shard, StepGroup copies, int shards) {
    if (step.plan.gradient_code != GradientCode::none) {
      // A node adds up what it has; each of its ranks codes a part of the sum, decodes and adds up its
      // part of what the other nodes send, and sends that sum.
      const CodedGradient code =
          coded_gradient(step, shard == StepGroup::replicas ? Coded::dense : Coded::expert);
      const bool nodes = code.node > 1;
      const StepGroup among = nodes ? StepGroup::secondary_peers : shard;
      const double coded = gradients.value() / element / code.node;
      Rounding rounding = Rounding::own;
      const auto next = [&](CollectiveKind kind, StepGroup group, Bytes payload) {
        visit(communication(kind, group, payload),
              std::exchange(rounding, Rounding::with_previous));
      };
      if (nodes) next(CollectiveKind::reduce_scatter, StepGroup::secondary, gradients);
      next(CollectiveKind::all_to_all, among, code.sent * coded);
      if (!sharded) next(CollectiveKind::all_gather, among, code.returned * coded);
      if (!sharded && nodes) next(CollectiveKind::all_gather, StepGroup::secondary, gradients);
    } else {
      visit(communication(sharded ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
                          shard, gradients),
            Rounding::own);
    }
    if (!copies_agree) return;
    visit(
        communication(CollectiveKind::all_reduce, copies, sharded ? gradients / shards : gradients),
        Rounding::with_previous);
  };
  // Shards of different sizes take as long as the largest.
  const Bytes of_dense(trained.dense * element * (sharded ? step.largest_share : 1));
  const Bytes of_expert(trained.expert * element);
  if (step.plan.quantized_gradients) {
    // What every rank of a node needs of the others there, then of the other nodes (qgZ).
    const Bytes narrow = k4Bits * trained.dense;
    const int node = layout.secondary.size;
    visit(communication(CollectiveKind::all_to_all, StepGroup::secondary, narrow), Rounding::own);
    visit(communication(CollectiveKind::all_to_all, StepGroup::secondary_peers, narrow / node),
          Rounding::with_previous);
    if (copies_agree) {
      visit(communication(CollectiveKind::all_reduce, StepGroup::replica_copies,
                          of_dense / layout.dense_shard.size),
            Rounding::with_previous);
    }
  } else if (step.plan.gradient_shard > 0) {
    // What the groups have in common is added up once a step (outer_parts).
    visit(communication(CollectiveKind::reduce_scatter, StepGroup::gradient_shard, of_dense),
          Rounding::own);
  } else {
    reduce(of_dense, StepGroup::replicas, StepGroup::replica_copies, layout.dense_shard.size);
  }
  reduce(of_expert, StepGroup::expert_replicas, StepGroup::expert_replica_copies,
         layout.expert_shard.size);
  if (step.schedule->routes > 1) {
    const Bytes shard =
        sharded ? of_dense / layout.gradients.size + of_expert / layout.expert_shard.size
                : of_dense + of_expert;
    visit(communication(CollectiveKind::all_reduce, StepGroup::mirrored_stages, shard),
          Rounding::own);
  }
}

template <class Visit>
void each_gather(const StepCosts& step, const RankParameters& trained, const RankParameters& frozen,
                 Gather pass, Visit&& visit) {
  const RankParameters moved = step.plan.zero >= 3 ? trained + frozen : trained;
  const Bytes weight = tensor_element_size(step.cache->training().precision);
  const bool broadcasts =
      step.cache->context().software.shard_transfers == ShardTransfers::broadcasts &&
      step.plan.zero < 3;
  const auto gather = [&](double parameters, StepGroup group, const GroupShape& shard) {
    const Bytes all = weight * (parameters * step.largest_share);
    Communication c = communication(CollectiveKind::all_gather, group, all);
    if (broadcasts) {
      c.collective = CollectiveKind::broadcast;
      c.payload = all / shard.size;
      c.times = shard.size;
    }
    visit(c, Rounding::own);
  };
  if (pass == Gather::backward && step.plan.secondary_shard > 0) {
    gather(moved.dense, StepGroup::secondary, step.layout->secondary);
  } else if (step.plan.weight_shard > 0) {
    gather(moved.dense, StepGroup::weight_shard, step.layout->weights);
  } else {
    gather(step.plan.quantized_weights ? moved.dense * (k8Bits / weight) : moved.dense,
           StepGroup::replicas, step.layout->dense_shard);
  }
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

Picoseconds StepCosts::gather(const RankParameters& trained, const RankParameters& frozen,
                              Gather pass) const {
  PricedParts priced(*this);
  each_gather(*this, trained, frozen, pass, priced);
  return priced.sum();
}

OperationParts StepCosts::gather_parts(const RankParameters& trained, const RankParameters& frozen,
                                       Gather pass) const {
  ListedParts listed(*this);
  each_gather(*this, trained, frozen, pass, listed);
  return listed.take();
}

Seconds StepCosts::listing(int tensors) const {
  const SoftwareProfile& software = cache->context().software;
  if (software.shard_transfers != ShardTransfers::lists || plan.zero < 3) return Seconds(0);
  return software.host.kernel * (2.0 * tensors * layout->dense_shard.size);
}

Bytes StepCosts::copied_gathered(double parameters, Gather pass) const {
  const ShardTransfers how = cache->context().software.shard_transfers;
  const bool copied = how == ShardTransfers::copied || how == ShardTransfers::lists;
  const Bytes weight = tensor_element_size(cache->training().precision);
  const bool second = pass == Gather::backward && plan.secondary_shard > 0;
  const Bytes quantized = plan.quantized_weights && !second
                              ? (k8Bits + weight) * (1 + 1.0 / layout->dense_shard.size)
                              : Bytes(0);
  return (copied ? 2 * weight + quantized : quantized) * parameters;
}

Bytes StepCosts::copied_reduced(const RankParameters& of) const {
  const double g = gradient_bytes;
  const double parameters = of.all();
  if (plan.gradient_code != GradientCode::none) {
    const auto copied = [&](Coded what, double gradients) {
      const CodedGradient code = coded_gradient(*this, what);
      if (code.ranks <= 1) return Bytes(0);
      const double ranks = code.ranks;
      const Bytes decoded =
          plan.zero > 0 ? Bytes(g / ranks) : code.returned * (1 + 1 / ranks) + Bytes(g);
      return (Bytes(g) + 2 * code.sent + decoded) * (gradients / code.node);
    };
    return copied(Coded::dense, of.dense) + copied(Coded::expert, of.expert);
  }
  if (plan.quantized_gradients) {
    const double node = layout->secondary.size;
    return (Bytes(g) + k4Bits * (2 + 2 / node)) * parameters;
  }
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

bool StepCosts::widens_gradients() const {
  return plan.zero <= 1 && plan.gradient_code == GradientCode::none &&
         cache->context().software.gradient_exchange == GradientExchange::fp32_to_all;
}

double StepCosts::widening_bytes() const {
  const double g = gradient_bytes;
  const double weight = tensor_element_size(cache->training().precision).value();
  const double wide = element_size(NumberFormat::fp32).value();
  const double exchanged = 6 * g + (g < wide ? 2 * (g + wide) : 0);
  return plan.zero == 1 ? exchanged + 3 * g + 2 * weight : exchanged;
}

Picoseconds StepCosts::copying(Bytes moved) const {
  if (moved <= Bytes(0)) return Picoseconds(0);
  return cache->context().rounded(orrery::price(memory_bound(moved), cache->context()));
}

OperationParts StepCosts::transfer_parts(std::size_t boundary_index) const {
  if (!device_site.empty()) return slower_end(boundary_index).transfer_parts(boundary_index);
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
  const auto reduced = [](StepGroup group) -> OperationPart {
    return {.what = communication(CollectiveKind::all_reduce, group, Bytes(4))};
  };
  if (!trains_copies_apart(plan)) return {reduced(StepGroup::world)};
  // The ranks of one copy alone.
  return {reduced(StepGroup::tensor), reduced(StepGroup::stages), reduced(StepGroup::replicas)};
}

OperationParts StepCosts::tied_embedding_parts() const {
  return {{.what = communication(CollectiveKind::all_reduce, StepGroup::end_stages,
                                 Bytes(kept->embedding.trained.dense * gradient_bytes))}};
}

OperationParts StepCosts::outer_parts() const {
  RankParameters most;  // of the device that owns most
  for (int d = 0; d < shape.devices; ++d) {
    const RankParameters trained = held(d).trained;
    if (owned(*this, trained) > owned(*this, most)) most = trained;
  }
  if (!trains_copies_apart(plan)) {
    ListedParts listed(*this);
    const double states = layout->dense_shard.size;
    const Bytes gradients(most.dense * gradient_bytes);
    const Bytes weights(most.dense * tensor_element_size(cache->training().precision).value());
    listed(communication(CollectiveKind::reduce_scatter, StepGroup::gradient_peers,
                         gradients / layout->gradients.size),
           Rounding::own);
    if (plan.gradient_shard > 0) {
      listed(
          communication(CollectiveKind::all_reduce, StepGroup::replica_copies, gradients / states),
          Rounding::with_previous);
    }
    listed(communication(CollectiveKind::all_gather, StepGroup::weight_peers,
                         weights / layout->weights.size),
           Rounding::own);
    return listed.take();
  }
  const double steps = mean_local_steps(plan);
  // Two copies are each other's only neighbour.
  const int others = layout->dense_outer.size - 1;
  const double neighbours = plan.averaging == Averaging::ring ? std::min(2, others) : 1;
  OperationParts out;
  const auto average = [&](StepGroup copies, RankParameters parameters) {
    Communication c = communication(CollectiveKind::all_reduce, copies,
                                    element_size(NumberFormat::fp32) * owned(*this, parameters));
    c.times = 1 / steps;
    if (averages_with_neighbours(plan)) {
      // One step of a ring takes what one neighbour sends.
      const int size = layout->groups[c.group.value()].shape.size;
      c.collective = CollectiveKind::all_gather;
      c.payload = c.payload * size;
      c.pieces = std::max(1, size - 1);
      c.times *= neighbours;
    }
    out.push_back({.what = c});
  };
  average(StepGroup::replica_copies, {.dense = most.dense});
  if (most.expert > 0) average(StepGroup::expert_replica_copies, {.expert = most.expert});
  const double moved = averages_with_neighbours(plan) ? 2 + neighbours : 7;
  out.push_back({.what = memory_bound(moved * element_size(NumberFormat::fp32) *
                                      owned(*this, most) / steps)});
  return out;
}

OperationParts StepCosts::optimizer_parts(int device) const {
  const PassTotals totals = held(device);
  if (plan.offload_optimizer != Offload::none)
    return {{.what = host_update(*this, totals.trained)}};
  const double owned = orrery::owned(*this, totals.trained);
  // Accumulated gradients are set to zero for the next step; shards of them are small.
  const bool shards = plan.zero >= 2 && shard_moves(plan, cache->context().software).gradients ==
                                            ShardMove::each_pass;
  const double accumulated =
      shards
          ? state_share * totals.trained.sharded(layout->gradients.size, layout->expert_shard.size)
          : totals.trained.all();
  OperationParts out = {{.what = memory_bound(Bytes(owned * optimizer_bytes))},
                        {.what = memory_bound(Bytes(accumulated * gradient_bytes)),
                         .rounding = Rounding::with_previous}};
  if (widens_gradients() && replicated()) {
    out.push_back({.what = memory_bound(Bytes(totals.trained.all() * widening_bytes())),
                   .rounding = Rounding::with_previous});
  }
  return out;
}

}  // namespace orrery
