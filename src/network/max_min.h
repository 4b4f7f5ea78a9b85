// Rates of flows that share resources fairly: the max-min allocation by progressive filling.
//
//   all rates rise together; a flow stops rising when it reaches its own limit, or when a resource
//   it uses is full:   sum over flows f of weight(f, r) * rate(f) <= capacity(r)
//
// which is the one allocation in which no rate can be raised without lowering one that is not higher
// (Bertsekas and Gallager, Data Networks, section 6.5.2). A weight says what part of a flow takes
// the resource: 1 for a link of its path, 1/k for one of k paths over which it is spread, and n for
// n flows that are alike and are given as one. O(uses * log resources), deterministic.
//
// FlowSimulation lets flows come and go. What changes is the rates of those that share resources
// with them, directly or through others; all others keep theirs.
#pragma once

#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <vector>

namespace orrery {

inline constexpr double kUnlimitedRate = std::numeric_limits<double>::infinity();

struct ResourceUse {
  std::uint32_t resource = 0;
  double weight = 1;
};

// Flows with their uses: those of one flow lie together. A resource appears once in a flow.
class FlowSet {
 public:
  void add(std::span<const ResourceUse> uses, double limit = kUnlimitedRate);
  [[nodiscard]] std::size_t size() const { return limits_.size(); }
  [[nodiscard]] std::span<const ResourceUse> uses(std::size_t flow) const {
    return std::span(uses_).subspan(offsets_[flow], offsets_[flow + 1] - offsets_[flow]);
  }
  [[nodiscard]] double limit(std::size_t flow) const { return limits_[flow]; }

 private:
  std::vector<ResourceUse> uses_;
  std::vector<std::size_t> offsets_ = {0};
  std::vector<double> limits_;
};

// The rate of every flow. A flow that uses nothing and has no limit gets an infinite one.
std::vector<double> max_min_rates(std::span<const double> capacities, const FlowSet& flows);

class FlowSimulation {
 public:
  using Flow = std::uint32_t;

  explicit FlowSimulation(std::vector<double> capacities);

  // From `now` on, which must not be before any time given or returned so far. Numbers of flows that
  // ended are given again.
  Flow start(double now, std::span<const ResourceUse> uses, double amount,
             double limit = kUnlimitedRate);
  // When the next flow ends; infinite where none is under way.
  double next_end();
  // Ends all flows that end at that time, in the order of their numbers.
  std::vector<Flow> end_next();
  [[nodiscard]] std::size_t under_way() const { return under_way_; }
  // The sum of what the flows have carried over a resource.
  [[nodiscard]] double carried(std::uint32_t resource) const { return carried_[resource]; }

 private:
  struct State {
    std::vector<ResourceUse> uses;
    double left = 0;
    double limit = 0;
    double rate = 0;
    double since = 0;  // time at which `left` was left
    std::uint64_t version = 0;
    bool active = false;
  };
  struct End {
    double time;
    Flow flow;
    std::uint64_t version;
    bool operator>(const End& o) const { return time != o.time ? time > o.time : flow > o.flow; }
  };
  void settle();  // new rates of all that share resources with what came and went
  void mark(const State& state);

  std::vector<double> capacities_;
  std::vector<double> carried_;
  std::vector<std::vector<Flow>> users_;  // of a resource
  std::vector<State> flows_;
  std::vector<Flow> ended_, free_;     // since rates were last found; whose numbers are free
  std::vector<std::uint32_t> marked_;  // resources whose users changed
  std::vector<Flow> alone_;            // new flows that use nothing
  std::vector<std::uint32_t> seen_resource_, seen_flow_, place_;
  std::uint32_t round_ = 0;
  std::uint64_t versions_ = 0;
  std::size_t under_way_ = 0;
  double now_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace orrery
