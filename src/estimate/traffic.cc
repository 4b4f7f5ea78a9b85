#include "estimate/traffic.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
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

// Where the ranks of a site lie, and what its levels are.
struct View {
  std::span<const Group> groups;
  std::vector<FabricLevel> levels;
};

// Levels are counted from the outside where sites differ, so that the link is one of them.
class Counter {
 public:
  Counter(std::vector<View> views, std::size_t devices)
      : views_(std::move(views)), devices_(static_cast<double>(devices)) {
    for (const View& view : views_) levels_ = std::max(levels_, view.levels.size());
    bytes_.assign(groups().size() + 1, std::vector<Bytes>(levels_));
    over_time_.assign(levels_, std::vector<Bytes>(kTrafficParts));
  }

  // Calls visit(group, level, bytes) for what one device in that site does; the group behind the last
  // is that of messages.
  template <class Visit>
  void each(const OperationPart& part, std::size_t site, Visit visit) const {
    const std::size_t inside = levels_ - views_[site].levels.size();
    if (const auto* message = std::get_if<Message>(&part.what)) {
      for (std::size_t l = 0; l <= inside + message->level && l < levels_; ++l) {
        visit(groups().size(), l, message->bytes);
      }
    }
    if (const auto* c = std::get_if<Communication>(&part.what)) {
      const GroupShape& group = views_[site].groups[c->group.value()].shape;
      for (std::size_t l = 0; l < group.members.size(); ++l) {
        const int inner = l == 0 ? 1 : group.members[l - 1];
        visit(c->group.value(), inside + l, leaving(*c, group, inner) * (c->times / c->pieces));
      }
    }
  }

  // What `devices` of the pipeline's devices, in that site, do.
  void add(const OperationPart& part, std::size_t site, double devices) {
    each(part, site, [&](std::size_t group, std::size_t level, Bytes bytes) {
      bytes_[group][level] += bytes * (devices / devices_);
    });
  }
  // The same of one device, between two moments in parts of the step.
  void add(const OperationPart& part, std::size_t site, double from, double until) {
    each(part, site, [&](std::size_t, std::size_t level, Bytes bytes) {
      if (bytes <= Bytes(0)) return;
      auto p = std::min(static_cast<std::size_t>(from), kTrafficParts - 1);
      for (; p < kTrafficParts && static_cast<double>(p) < until; ++p) {
        const auto begin = static_cast<double>(p);
        const double here = std::min(until, begin + 1) - std::max(from, begin);
        over_time_[level][p] += bytes * (here / (until - from) / devices_);
      }
    });
  }

  [[nodiscard]] StepTraffic traffic(Seconds step, Seconds simulated) && {
    StepTraffic out;
    for (std::size_t l = 0; l < levels_; ++l) {
      LevelTraffic row{.level = "", .bytes = Bytes(0)};
      for (const std::vector<Bytes>& axis : bytes_) row.bytes += axis[l];
      BytesPerSecond slowest;
      for (const View& view : views_) {
        const std::size_t inside = levels_ - view.levels.size();
        if (l < inside) continue;
        const FabricLevel& level = view.levels[l - inside];
        if (row.level.find(level.name) == std::string::npos) {
          row.level += (row.level.empty() ? "" : ", ") + level.name;
        }
        const BytesPerSecond rate = delivery(level).rate;
        if (slowest > BytesPerSecond(0) && rate >= slowest) continue;
        slowest = rate;
        row.use = row.bytes / rate / step;
        row.over_time.clear();
        for (const Bytes b : over_time_[l]) {
          row.over_time.push_back(b / rate / (simulated / static_cast<double>(kTrafficParts)));
        }
      }
      out.levels.push_back(std::move(row));
    }
    for (std::size_t g = 0; g < bytes_.size(); ++g) {
      const bool sends = std::ranges::any_of(bytes_[g], [](Bytes b) { return b > Bytes(0); });
      if (!sends) continue;
      out.axes.push_back(
          {g < groups().size() ? groups()[g].label : "pipeline", std::move(bytes_[g])});
    }
    return out;
  }

 private:
  [[nodiscard]] std::span<const Group> groups() const { return views_.front().groups; }

  std::vector<View> views_;
  std::size_t levels_ = 0;
  double devices_;
  std::vector<std::vector<Bytes>> bytes_;      // by group and level; the last of messages
  std::vector<std::vector<Bytes>> over_time_;  // by level and part of the step
};

}  // namespace

Result<StepTraffic> traffic(const PredictedStep& step) {
  ORRERY_TRY(const StepGraph expanded, step_graph(step.costs, Folding::expanded));
  const Graph& graph = expanded.graph;
  const StepCosts& costs = step.costs;
  std::vector<View> views;
  std::size_t site_of_all = 0;  // where replicas lie across sites, the one that stands for them
  for (std::size_t site = 0; site < site_count(step.cluster()); ++site) {
    const StepCosts& seen = costs.sites.empty() ? costs : costs.sites[site];
    views.push_back({seen.layout->groups, at_site(step.cluster(), site).levels});
    if (seen.cache == costs.cache) site_of_all = site;
  }
  const auto site_of = [&](StreamIndex stream) {
    return costs.device_site.empty()
               ? site_of_all
               : costs.device_site[graph.streams()[stream.value()].rank_class];
  };
  // By site, the devices that do an operation, over the step.
  std::vector<std::vector<double>> devices(views.size(),
                                           std::vector<double>(graph.operations().size()));
  for (std::size_t n = 0; n < graph.size(); ++n) {
    const NodeIndex node(n);
    const std::size_t operation = graph.operation_index(node).value();
    devices[site_of(graph.stream(node))][operation] += 1;
    for (const StreamIndex other : graph.rendezvous_streams(node)) {
      devices[site_of(other)][operation] += 1;
    }
  }
  Counter counter(std::move(views), expanded.gradients_ready.size());
  for (std::size_t site = 0; site < devices.size(); ++site) {
    for (std::size_t o = 0; o < devices[site].size(); ++o) {
      if (devices[site][o] == 0) continue;
      for (const OperationPart& part : graph.operations()[o].parts) {
        counter.add(part, site, devices[site][o]);
      }
    }
  }
  const Timeline timeline = simulate(graph);
  const double part_ps = timeline.makespan.count() / static_cast<double>(kTrafficParts);
  for (std::size_t n = 0; n < graph.size() && part_ps > 0; ++n) {
    const NodeIndex node(n);
    if (graph.duration(node) <= Picoseconds(0)) continue;
    for (const OperationPart& part : graph.operation(node).parts) {
      counter.add(part, site_of(graph.stream(node)), timeline.start(graph, node).count() / part_ps,
                  timeline.end(node).count() / part_ps);
    }
  }
  return std::move(counter).traffic(step.folded.time.seconds(), timeline.makespan.seconds());
}

}  // namespace orrery
