#include "network/max_min.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "outcome/invariant.h"

namespace orrery {
namespace {

// Ends that are this close, relatively, are one moment: sums of rounded rates.
constexpr double kSameMoment = 1e-12;

}  // namespace

void FlowSet::add(std::span<const ResourceUse> uses, double limit) {
  uses_.insert(uses_.end(), uses.begin(), uses.end());
  offsets_.push_back(uses_.size());
  limits_.push_back(limit);
}

std::vector<double> max_min_rates(std::span<const double> capacities, const FlowSet& flows) {
  const std::size_t n = flows.size();
  std::vector<double> left(capacities.begin(), capacities.end());
  std::vector<double> weight(capacities.size());  // of flows that still rise
  std::vector<std::size_t> offsets(capacities.size() + 1);
  for (std::size_t f = 0; f < n; ++f) {
    for (const ResourceUse& use : flows.uses(f)) {
      weight[use.resource] += use.weight;
      ++offsets[use.resource + 1];
    }
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<std::uint32_t> users(offsets.back());
  std::vector<std::uint32_t> rising(capacities.size());  // users that still rise
  for (std::size_t f = 0; f < n; ++f) {
    for (const ResourceUse& use : flows.uses(f)) {
      users[offsets[use.resource] + rising[use.resource]++] = static_cast<std::uint32_t>(f);
    }
  }

  // The level of rates at which a resource is full, or, behind the resources, a flow has its limit.
  using Level = std::pair<double, std::size_t>;
  std::vector<Level> levels;
  for (std::size_t r = 0; r < capacities.size(); ++r) {
    if (rising[r] > 0) levels.emplace_back(left[r] / weight[r], r);
  }
  for (std::size_t f = 0; f < n; ++f) {
    if (flows.limit(f) < kUnlimitedRate) levels.emplace_back(flows.limit(f), capacities.size() + f);
  }
  std::priority_queue<Level, std::vector<Level>, std::greater<>> queue(std::greater<>(),
                                                                       std::move(levels));
  std::vector<double> rates(n, kUnlimitedRate);
  std::vector<bool> fixed(n);
  double level = 0;
  const auto fix = [&](std::size_t f) {
    if (fixed[f]) return;
    fixed[f] = true;
    rates[f] = level;
    for (const ResourceUse& use : flows.uses(f)) {
      left[use.resource] -= use.weight * level;
      weight[use.resource] -= use.weight;
      --rising[use.resource];
    }
  };
  while (!queue.empty()) {
    const auto [at, what] = queue.top();
    queue.pop();
    if (what >= capacities.size()) {
      level = std::max(level, at);
      fix(what - capacities.size());
      continue;
    }
    if (rising[what] == 0) continue;
    // Flows that were fixed since left more to the others.
    const double full = std::max(level, left[what] / weight[what]);
    if (full > at * (1 + kSameMoment) && !queue.empty() && full > queue.top().first) {
      queue.emplace(full, what);
      continue;
    }
    level = full;
    for (std::size_t u = offsets[what]; u < offsets[what + 1]; ++u) fix(users[u]);
  }
  return rates;
}

FlowSimulation::FlowSimulation(std::vector<double> capacities)
    : capacities_(std::move(capacities)),
      carried_(capacities_.size()),
      users_(capacities_.size()),
      seen_resource_(capacities_.size()),
      place_(capacities_.size()) {}

void FlowSimulation::mark(const State& state) {
  for (const ResourceUse& use : state.uses) marked_.push_back(use.resource);
}

FlowSimulation::Flow FlowSimulation::start(double now, std::span<const ResourceUse> uses,
                                           double amount, double limit) {
  ORRERY_INVARIANT(now >= now_ * (1 - 1e-9));
  if (now > now_) settle();  // what was under way until now went at its own rate
  now_ = std::max(now_, now);
  Flow flow = static_cast<Flow>(flows_.size());
  if (free_.empty()) {
    flows_.emplace_back();
    seen_flow_.push_back(0);
  } else {
    flow = free_.back();
    free_.pop_back();
  }
  State& state = flows_[flow];
  state.uses.assign(uses.begin(), uses.end());
  state.left = amount;
  state.limit = limit;
  state.rate = 0;
  state.since = now_;
  state.version = ++versions_;
  state.active = true;
  for (const ResourceUse& use : state.uses) {
    users_[use.resource].push_back(flow);
    carried_[use.resource] += use.weight * amount;
  }
  mark(state);
  if (state.uses.empty()) alone_.push_back(flow);
  ++under_way_;
  return flow;
}

void FlowSimulation::settle() {
  if (marked_.empty() && alone_.empty()) return;
  ++round_;
  std::vector<std::uint32_t> resources;
  std::vector<Flow> flows = std::exchange(alone_, {});
  const auto visit = [&](std::uint32_t resource) {
    if (std::exchange(seen_resource_[resource], round_) != round_) resources.push_back(resource);
  };
  for (const std::uint32_t resource : marked_) visit(resource);
  marked_.clear();
  for (std::size_t r = 0; r < resources.size(); ++r) {
    place_[resources[r]] = static_cast<std::uint32_t>(r);
    std::erase_if(users_[resources[r]], [&](Flow flow) { return !flows_[flow].active; });
    for (const Flow flow : users_[resources[r]]) {
      if (std::exchange(seen_flow_[flow], round_) == round_) continue;
      flows.push_back(flow);
      for (const ResourceUse& use : flows_[flow].uses) visit(use.resource);
    }
  }
  // Only now are those that ended named by no resource, so that their numbers are free.
  free_.insert(free_.end(), ended_.begin(), ended_.end());
  ended_.clear();
  std::ranges::sort(flows);
  std::vector<double> capacities;
  capacities.reserve(resources.size());
  for (const std::uint32_t resource : resources) capacities.push_back(capacities_[resource]);
  FlowSet set;
  std::vector<ResourceUse> uses;
  for (const Flow flow : flows) {
    uses = flows_[flow].uses;
    for (ResourceUse& use : uses) use.resource = place_[use.resource];
    set.add(uses, flows_[flow].limit);
  }
  const std::vector<double> rates = max_min_rates(capacities, set);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    State& state = flows_[flows[f]];
    if (state.rate == rates[f]) continue;
    if (state.rate > 0) state.left = std::max(0.0, state.left - state.rate * (now_ - state.since));
    state.since = now_;
    state.rate = rates[f];
    state.version = ++versions_;
    const double time = rates[f] == kUnlimitedRate ? now_ : now_ + state.left / rates[f];
    ends_.push({time, flows[f], state.version});
  }
}

double FlowSimulation::next_end() {
  settle();
  while (!ends_.empty() && ends_.top().version != flows_[ends_.top().flow].version) ends_.pop();
  return ends_.empty() ? kUnlimitedRate : ends_.top().time;
}

std::vector<FlowSimulation::Flow> FlowSimulation::end_next() {
  const double time = next_end();
  std::vector<Flow> ended;
  now_ = std::max(now_, time);
  const double until = time * (1 + kSameMoment);
  while (!ends_.empty() && ends_.top().time <= until) {
    const End end = ends_.top();
    ends_.pop();
    State& state = flows_[end.flow];
    if (end.version != state.version) continue;
    ended.push_back(end.flow);
    state.active = false;
    state.version = ++versions_;
    mark(state);
    ended_.push_back(end.flow);
    --under_way_;
  }
  std::ranges::sort(ended);
  return ended;
}

}  // namespace orrery
