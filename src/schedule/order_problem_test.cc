// The fast clock agrees with the simulation; list schedules, justification and annealing keep what
// they must.
#include "schedule/order_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "schedule/execution.h"
#include "schedule/justification.h"
#include "schedule/order_improvement.h"
#include "schedule/schedule.h"
#include "schedule/split_scheduling.h"
#include "schedule/splitmix.h"

namespace orrery {
namespace {

PipelineTimes random_times(const PipelineShape& shape, Splitmix& random) {
  PipelineTimes out = equal_times(shape, Picoseconds(1), Picoseconds(1), Picoseconds(1));
  const auto some = [&](std::size_t most) {
    return Picoseconds(static_cast<double>(1 + random.below(most)));
  };
  for (StageTimes& stage : out.stage) {
    stage.forward = some(9);
    stage.input_gradient = some(9);
    stage.weight_gradient = some(9);
    stage.backward = stage.input_gradient + stage.weight_gradient;
  }
  for (auto& t : out.transfer) t = Picoseconds(static_cast<double>(random.below(4)));
  for (auto& t : out.latency) t = Picoseconds(static_cast<double>(random.below(4)));
  for (int s = 0; s < shape.virtual_stages(); ++s) {
    const auto held = static_cast<double>(2 + random.below(4));
    out.memory.push_back({held, static_cast<double>(1 + random.below(2))});
  }
  return out;
}

ListRule any_rule(const OrderProblem& problem, Splitmix& random) {
  ListRule out;
  const std::size_t n = problem.stages() * problem.microbatches();
  for (auto& kind : out.rank) {
    for (std::size_t i = 0; i < n; ++i) kind.push_back(static_cast<float>(random.below(100)));
  }
  out.patience = static_cast<double>(random.below(10));
  out.weights_fill = random.below(2) == 0;
  return out;
}

double peak(const OrderProblem& problem, const PassOrders& orders) {
  double out = 0;
  for (std::size_t d = 0; d < orders.size(); ++d) {
    out = std::max(out, peak_memory(problem, d, orders[d]));
  }
  return out;
}

TEST(OrderProblem, ClockAndMemoryAreThoseOfTheSimulation) {
  Splitmix random(7);
  for (int round = 0; round < 60; ++round) {
    const PipelineShape shape{1 + static_cast<int>(random.below(5)),
                              1 + static_cast<int>(random.below(9)),
                              1 + static_cast<int>(random.below(3))};
    const PipelineTimes times = random_times(shape, random);
    for (const VirtualStage placement : {loop_virtual_stage, snake_virtual_stage}) {
      OrderProblem problem = order_problem(shape, placement, times, 1e9);
      // Just enough for one microbatch and a little more.
      for (std::size_t d = 0; d < problem.devices(); ++d) {
        problem.limit[d] = problem.one_microbatch(d) + static_cast<double>(random.below(9));
      }
      const auto orders = list_schedule(problem, any_rule(problem, random));
      ASSERT_TRUE(orders) << "a limit that holds one microbatch can not deadlock";
      PassClock clock(problem);
      const PassTimes& fast = clock.run(*orders);
      ASSERT_TRUE(fast.complete);
      const auto run = execute(to_pipeline(problem, placement, *orders), times);
      ASSERT_TRUE(run) << run.error().text();
      EXPECT_EQ(fast.makespan, run->measures.makespan.count());
      EXPECT_EQ(fast.span, run->measures.longest_device_span.count());
      for (std::size_t d = 0; d < orders->size(); ++d) {
        const double held = peak_memory(problem, d, (*orders)[d]);
        EXPECT_EQ(held, run->measures.peak_memory[d]);
        EXPECT_LE(held, problem.limit[d]);
      }
    }
  }
}

TEST(OrderProblem, NothingThatImprovesLengthensOrHoldsMore) {
  Splitmix random(11);
  for (int round = 0; round < 25; ++round) {
    const PipelineShape shape{2 + static_cast<int>(random.below(3)),
                              2 + static_cast<int>(random.below(7)),
                              1 + static_cast<int>(random.below(2))};
    const OrderProblem problem =
        order_problem(shape, snake_virtual_stage, random_times(shape, random), 25);
    const auto orders = list_schedule(problem, any_rule(problem, random));
    ASSERT_TRUE(orders);
    PassClock clock(problem);
    const double before = clock.run(*orders).makespan;
    ImprovementOptions options;
    options.placements = 300'000;
    for (const PassOrders& after : {justified(problem, *orders), improve(problem, *orders, options),
                                    perturbed(problem, *orders, options)}) {
      const PassTimes& t = clock.run(after);
      ASSERT_TRUE(t.complete);
      EXPECT_LE(t.makespan, before * 1.02);  // the span counts a little
      EXPECT_GE(t.makespan, order_bound(problem).makespan);
      EXPECT_LE(peak(problem, after), 25);
      for (std::size_t d = 0; d < after.size(); ++d) {
        EXPECT_EQ(after[d].size(), (*orders)[d].size());
      }
    }
    EXPECT_LE(clock.run(justified(problem, *orders)).makespan, before);
    EXPECT_EQ(improve(problem, *orders, options), improve(problem, *orders, options));
  }
}

TEST(OrderProblem, AnOrderThatWaitsForItselfIsNotComplete) {
  const PipelineShape shape{2, 1, 1};
  const OrderProblem problem =
      order_problem(shape, loop_virtual_stage,
                    equal_times(shape, Picoseconds(1), Picoseconds(1), Picoseconds(1)), 9);
  PassClock clock(problem);
  const OrderedPass f{PassKind::forward, 0};
  const OrderedPass b{PassKind::input_gradient, 0};
  const OrderedPass w{PassKind::weight_gradient, 0};
  EXPECT_FALSE(clock.run({{b, f, w}, {f, b, w}}).complete);
  EXPECT_TRUE(clock.run({{f, b, w}, {f, b, w}}).complete);
  EXPECT_EQ(clock.run({{f, b, w}, {f, b, w}}).makespan, 5);
}

}  // namespace
}  // namespace orrery
