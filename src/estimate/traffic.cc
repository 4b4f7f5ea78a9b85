#include "estimate/traffic.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <variant>

#include "cost/collective/token_exchange.h"

namespace orrery {
namespace {

// Of one rank of the group, beyond units of `inner` of its ranks.
Bytes leaving(const Communication& c, const GroupShape& group, int inner) {
  const double units = std::ceil(static_cast<double>(group.size) / inner);
  if (units <= 1) return Bytes(0);
  const double others = (units - 1) / units;
  if (const auto* tokens = std::get_if<TokenExchange>(&c.tokens)) {
    return tokens->token * (tokens->tokens * others *
                            distinct_units(units, tokens->experts, tokens->top_k, tokens->limit));
  }
  switch (c.collective) {
    case CollectiveKind::all_reduce:
      return c.payload * (2 * others / inner);
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::broadcast:
      return c.payload * (others / inner);
    case CollectiveKind::all_to_all:
      return c.payload * others;
  }
  return Bytes(0);
}

class Counter {
 public:
  Counter(std::span<const Group> groups, std::size_t levels, std::size_t devices)
      : groups_(groups),
        levels_(levels),
        devices_(static_cast<double>(devices)),
        bytes_(groups.size() + 1, std::vector<Bytes>(levels)) {}

  // What `devices` of the pipeline's devices do.
  void add(const OperationPart& part, double devices) {
    const double share = devices / devices_;
    if (const auto* message = std::get_if<Message>(&part.what)) {
      for (std::size_t l = 0; l <= message->level && l < levels_; ++l) {
        bytes_.back()[l] += message->bytes * share;
      }
    }
    if (const auto* c = std::get_if<Communication>(&part.what)) {
      const GroupShape& group = groups_[c->group.value()].shape;
      for (std::size_t l = 0; l < group.members.size(); ++l) {
        const int inner = l == 0 ? 1 : group.members[l - 1];
        bytes_[c->group.value()][l] += leaving(*c, group, inner) * (share * c->times / c->pieces);
      }
    }
  }

  [[nodiscard]] StepTraffic traffic(const std::vector<FabricLevel>& levels, Seconds step) && {
    StepTraffic out;
    for (std::size_t l = 0; l < levels_; ++l) {
      LevelTraffic row{.level = levels[l].name, .bytes = Bytes(0)};
      for (const std::vector<Bytes>& axis : bytes_) row.bytes += axis[l];
      row.use = row.bytes / delivery(levels[l]).rate / step;
      out.levels.push_back(std::move(row));
    }
    for (std::size_t g = 0; g < bytes_.size(); ++g) {
      const bool sends = std::ranges::any_of(bytes_[g], [](Bytes b) { return b > Bytes(0); });
      if (!sends) continue;
      out.axes.push_back(
          {g < groups_.size() ? groups_[g].label : "pipeline", std::move(bytes_[g])});
    }
    return out;
  }

 private:
  std::span<const Group> groups_;
  std::size_t levels_;
  double devices_;
  std::vector<std::vector<Bytes>> bytes_;  // by group and level; the last of messages
};

}  // namespace

Result<StepTraffic> traffic(const PredictedStep& step) {
  ORRERY_TRY(const StepGraph expanded, step_graph(step.costs, Folding::expanded));
  const Graph& graph = expanded.graph;
  const std::vector<FabricLevel>& levels = step.cluster().levels;
  std::vector<double> devices(graph.operations().size());  // that do an operation, over the step
  for (std::size_t n = 0; n < graph.size(); ++n) {
    const NodeIndex node(n);
    const auto others = static_cast<double>(graph.rendezvous_streams(node).size());
    devices[graph.operation_index(node).value()] += 1 + others;
  }
  Counter counter(graph.groups(), levels.size(), expanded.gradients_ready.size());
  for (std::size_t o = 0; o < devices.size(); ++o) {
    for (const OperationPart& part : graph.operations()[o].parts) counter.add(part, devices[o]);
  }
  return std::move(counter).traffic(levels, step.folded.time.seconds());
}

}  // namespace orrery
