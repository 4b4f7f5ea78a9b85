// Durations of a step are prices of its operations.
#include "lower/price.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lower/random_plan.h"
#include "lower/step_graph.h"
#include "simulate/simulate.h"

namespace orrery {
namespace {

// What an operation's parts say of it.
bool communicates(const Operation& operation) {
  return std::ranges::any_of(operation.parts, [](const OperationPart& part) {
    return std::holds_alternative<Communication>(part.what) ||
           std::holds_alternative<Message>(part.what);
  });
}

CostContext with_bandwidth(CostContext context, double factor) {
  for (FabricLevel& level : context.cluster.levels) level.bandwidth = level.bandwidth * factor;
  for (FabricLevel& level : context.pairwise) level.bandwidth = level.bandwidth * factor;
  return context;
}

template <class Check>
void for_random_steps(int wanted, Check check) {
  std::mt19937 random(20261122);
  for (int plans = 0; plans < wanted;) {
    const auto drawn = random_case(random);
    if (!drawn) continue;
    ++plans;
    CostCache cache(drawn->model, drawn->training,
                    *cost_context(drawn->cluster, Catalog::built_in(), drawn->software));
    const auto step = step_graph(step_costs(cache, drawn->plan), Folding::expanded);
    ASSERT_TRUE(step) << to_text(drawn->plan);
    check(step->graph, cache.context(), to_text(drawn->plan));
  }
}

TEST(Price, OfTheSameCostsGivesTheSameStepToTheBit) {
  for_random_steps(200, [](const Graph& graph, const CostContext& context, const auto& plan) {
    const std::vector<double> again = priced_durations(graph, context);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      ASSERT_EQ(again[i], graph.durations()[i]) << plan << ": " << graph.name(NodeIndex(i));
    }
  });
}

TEST(Price, EveryOperationOfAStepThatTakesTimeHasParts) {
  for_random_steps(50, [](const Graph& graph, const CostContext&, const auto& plan) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const Operation& operation = graph.operation(NodeIndex(i));
      if (graph.durations()[i] == 0 || operation.kind == NodeKind::block) continue;
      ASSERT_FALSE(operation.parts.empty()) << plan << ": " << graph.name(NodeIndex(i));
    }
  });
}

// Communication takes less, but not less than half; everything else the same; and the step lies
// between.
TEST(Price, UnderTwiceTheBandwidthOnlyCommunicationShrinks) {
  for_random_steps(50, [](const Graph& graph, const CostContext& context, const auto& plan) {
    const std::vector<double> faster = priced_durations(graph, with_bandwidth(context, 2));
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const double before = graph.durations()[i];
      if (communicates(graph.operation(NodeIndex(i)))) {
        ASSERT_LE(faster[i], before) << plan;
        ASSERT_GE(faster[i], std::floor(before / 2)) << plan;
      } else {
        ASSERT_EQ(faster[i], before) << plan;
      }
    }
    const Picoseconds before = simulate(graph).makespan;
    const Picoseconds after = simulate(graph, faster).makespan;
    ASSERT_LE(after, before) << plan;
    ASSERT_GE(after.count(), before.count() / 2) << plan;
  });
}

}  // namespace
}  // namespace orrery
