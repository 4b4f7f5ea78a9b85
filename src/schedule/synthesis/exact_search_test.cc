// The branch and bound against every order there is.
#include "schedule/synthesis/exact_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "schedule/split_scheduling.h"
#include "schedule/splitmix.h"
#include "schedule/synthesis/lower_bound.h"

namespace orrery {
namespace {

// All orders, one pass after the other on any device, with no thought.
class EveryOrder {
 public:
  explicit EveryOrder(const OrderProblem& problem)
      : problem_(problem),
        clock_(problem),
        orders_(static_cast<std::size_t>(problem.shape.devices)) {
    counts_.resize(orders_.size(),
                   std::vector<int>(3 * static_cast<std::size_t>(problem.shape.chunks)));
  }
  double least() {
    device(0, 0);
    return least_;
  }

 private:
  void device(std::size_t d, double memory) {
    if (d == orders_.size()) {
      const PassTimes& t = clock_.run(orders_);
      if (t.complete) least_ = std::min(least_, t.makespan);
      return;
    }
    const auto chunks = static_cast<std::size_t>(problem_.shape.chunks);
    bool full = true;
    for (std::size_t kind = 0; kind < 3; ++kind) {
      for (std::size_t c = 0; c < chunks; ++c) {
        int& count = counts_[d][kind * chunks + c];
        if (count == problem_.shape.microbatches) continue;
        full = false;
        if (kind > 0 && counts_[d][(kind - 1) * chunks + c] <= count) continue;
        const std::size_t s = problem_.stage_of(d, c);
        const double now = memory + problem_.change(s, static_cast<PassKind>(kind));
        if (now > problem_.limit[d]) continue;
        ++count;
        orders_[d].push_back({static_cast<PassKind>(kind), static_cast<std::uint8_t>(c)});
        device(d, now);
        orders_[d].pop_back();
        --count;
      }
    }
    if (full) device(d + 1, 0);
  }

  const OrderProblem& problem_;
  PassClock clock_;
  PassOrders orders_;
  std::vector<std::vector<int>> counts_;
  double least_ = std::numeric_limits<double>::infinity();
};

void expect_exact(const OrderProblem& problem) {
  const double least = EveryOrder(problem).least();
  ASSERT_LT(least, 1e300);
  EXPECT_LE(lower_bound(problem), least);
  ExactOptions options;
  options.lower = lower_bound(problem);
  options.upper = least + 50;
  ExactResult result = exact_search(problem, options);
  EXPECT_EQ(result.lower, least);
  ASSERT_FALSE(result.orders.empty());
  PassClock clock(problem);
  EXPECT_EQ(clock.run(result.orders).makespan, least);
  for (std::size_t d = 0; d < result.orders.size(); ++d) {
    EXPECT_LE(peak_memory(problem, d, result.orders[d]), problem.limit[d]);
  }
}

OrderProblem random_problem(const PipelineShape& shape, VirtualStage placement, Splitmix& random,
                            double limit) {
  PipelineTimes times = equal_times(shape, Picoseconds(1), Picoseconds(1), Picoseconds(1));
  for (StageTimes& stage : times.stage) {
    for (Picoseconds* t : {&stage.forward, &stage.input_gradient, &stage.weight_gradient}) {
      *t = Picoseconds(static_cast<double>(1 + random.below(6)));
    }
  }
  for (auto& t : times.latency) t = Picoseconds(static_cast<double>(random.below(3)));
  return order_problem(shape, placement, times, limit);
}

TEST(ExactSearch, FindsTheLeastOfAllOrders) {
  Splitmix random(3);
  for (int round = 0; round < 4; ++round) {
    for (const double limit : {1.0, 2.0, std::numeric_limits<double>::infinity()}) {
      expect_exact(random_problem({2, 3, 1}, loop_virtual_stage, random, limit));
      expect_exact(random_problem({3, 2, 1}, loop_virtual_stage, random, limit));
    }
  }
}

TEST(ExactSearch, FindsTheLeastWithTwoChunks) {
  Splitmix random(5);
  for (int round = 0; round < 4; ++round) {
    for (const double limit : {2.0, 3.0, std::numeric_limits<double>::infinity()}) {
      expect_exact(random_problem({1, 2, 2}, loop_virtual_stage, random, limit));
      expect_exact(random_problem({2, 1, 2}, snake_virtual_stage, random, limit));
      expect_exact(random_problem({3, 1, 2}, loop_virtual_stage, random, limit));
    }
  }
}

TEST(ExactSearch, TheSameBudgetGivesTheSameAnswer) {
  Splitmix random(9);
  const OrderProblem problem = random_problem({4, 6, 1}, loop_virtual_stage, random, 3);
  ExactOptions options;
  options.lower = lower_bound(problem);
  options.upper = 3 * options.lower;
  options.node_budget = 20'000;
  const ExactResult a = exact_search(problem, options);
  const ExactResult b = exact_search(problem, options);
  EXPECT_EQ(a.orders, b.orders);
  EXPECT_EQ(a.lower, b.lower);
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_LE(a.nodes, 20'003);
}

}  // namespace
}  // namespace orrery
