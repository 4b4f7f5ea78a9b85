#include "lower/shard_communication.h"

#include <cmath>
#include <utility>
#include <variant>

#include "lower/price.h"

namespace orrery {

OperationIndex ShardCommunications::operation(NodeKind kind, Category category,
                                              std::string_view name, OperationParts parts) {
  return builder_.intern(Operation{.kind = kind,
                                   .category = index(category),
                                   .name = builder_.intern(name),
                                   .parts = std::move(parts)});
}

PricedOperation ShardCommunications::priced(const StepCosts& costs, NodeKind kind,
                                            Category category, std::string_view name,
                                            OperationParts parts) {
  const Picoseconds time = costs.price(parts);
  return {time, operation(kind, category, name, std::move(parts))};
}

PricedOperation ShardCommunications::gather(const StepCosts& costs, OperationParts parts) {
  return priced(costs, NodeKind::collective, Category::exposed_dp, "gather parameters",
                std::move(parts));
}

PricedOperation ShardCommunications::reduction(const StepCosts& costs, OperationParts parts) {
  return priced(costs, NodeKind::collective, Category::exposed_dp, "reduce gradients",
                std::move(parts));
}

PricedOperation ShardCommunications::buffer_copy(const StepCosts& costs, std::string_view name,
                                                 Bytes moved) {
  if (moved <= Bytes(0)) return {};
  return priced(costs, NodeKind::kernel, Category::elementwise, name,
                {{.what = memory_bound(moved)}});
}

const ShardCommunication& ShardCommunications::of(ShardCommunication& known, const StepCosts& costs,
                                                  const BlockCost& cost) {
  if (known.known) return known;
  const auto with_listing = [&](OperationParts parts, int tensors) {
    const Seconds listing = costs.listing(tensors);
    if (listing > Seconds(0)) parts.push_back({.what = StatedTime{listing}});
    return parts;
  };
  const auto gathered = [&](Gather pass) {
    return with_listing(costs.gather_parts(cost.trained, cost.frozen, pass), cost.weight_tensors);
  };
  const auto copied = [&](Gather pass) {
    const double parameters = cost.trained.all() + cost.frozen.all();
    return buffer_copy(costs, "copy gathered weights", costs.copied_gathered(parameters, pass));
  };
  const OperationParts again = gathered(Gather::backward);
  OperationParts twice = again;
  twice.insert(twice.end(), again.begin(), again.end());
  known = {.gather = gather(costs, gathered(Gather::forward)),
           .gather_again = gather(costs, again),
           .reduce = reduction(
               costs, with_listing(costs.reduce_parts(cost.trained), cost.trained_tensors)),
           .gather_twice = gather(costs, std::move(twice)),
           .copy_gathered = copied(Gather::forward),
           .copy_again = copied(Gather::backward),
           .copy_reduced =
               buffer_copy(costs, "copy gradients to reduce", costs.copied_reduced(cost.trained)),
           .known = true};
  return known;
}

std::optional<Reduction> GradientBucket::add(const StepCosts& costs, const RankParameters& trained,
                                             bool all, std::optional<NodeIndex> behind) {
  constexpr double kMiB = 1024.0 * 1024.0;
  collected_ += trained;
  const double mib = collected_.all() * costs.gradient_bytes / kMiB;
  const auto limit = static_cast<double>(step_.plan.gradient_bucket_mib);
  if (mib <= 0 || (!all && mib < (first_ ? std::min(1.0, limit) : limit))) return std::nullopt;
  first_ = false;
  // Of a block that is larger, as many parts as there are buckets in it.
  const double parts = std::max(1.0, std::floor(mib / limit));
  OperationParts what =
      costs.reduce_parts({.dense = collected_.dense / parts, .expert = collected_.expert / parts});
  for (OperationPart& part : what) {
    if (auto* c = std::get_if<Communication>(&part.what)) c->times *= parts;
  }
  return Reduction{communication_.reduction(costs, std::move(what)), behind,
                   std::exchange(collected_, {})};
}

}  // namespace orrery
