// Shares of states in a room whose accelerators have different memory.
#include "lower/state_division.h"

#include <gtest/gtest.h>

#include <string>

#include "lower/host_offload.h"
#include "lower/random_plan.h"
#include "lower/stage_memory.h"

namespace orrery {
namespace {

struct Room {
  explicit Room(const char* plan, const char* on = "l40s:8+a100-40gb-sxm:8@metro-pair")
      : question(stated_case(small_model("llama-3-8b", 16), on, plan, 2048, 32)),
        cache(question.model, question.training,
              *cost_context(question.cluster, Catalog::built_in(), question.software)),
        costs(step_costs(cache, question.plan)) {
    for (const auto& p :
         plan_problems(question.model, question.cluster, question.training, question.plan)) {
      ADD_FAILURE() << p;
    }
  }
  [[nodiscard]] double left(std::size_t site) const {
    return costs.sites[site].memory_capacity(0).value() -
           static_cast<double>(stage_memory(costs.sites[site], 0).peak);
  }
  RandomCase question;
  CostCache cache;
  StepCosts costs;
};

TEST(StateDivision, LeavesEveryRankAsMuchMemoryAndCoversTheStatesOnce) {
  for (const std::string zero : {"1", "2", "3"}) {
    const Room even(("zero=" + zero + ",recompute=full").c_str());
    const Room divided(("zero=" + zero + ",recompute=full,state_division=by-memory").c_str());
    EXPECT_GT(even.left(0), even.left(1) + 3e9) << zero;
    double owned_by_all = 0;
    double shares = 0;
    for (std::size_t site = 0; site < 2; ++site) {
      const StepCosts& costs = divided.costs.sites[site];
      owned_by_all += 8 * owned(costs, costs.held(0).trained);
      shares += costs.state_share / 2;
    }
    EXPECT_NEAR(shares, 1, 1e-12) << zero;
    EXPECT_NEAR(owned_by_all / trained_parameters(divided.question.model), 1, 1e-9) << zero;
    EXPECT_GT(divided.left(1), even.left(1)) << zero;
    if (divided.costs.sites[1].state_share > 0) {
      EXPECT_NEAR(divided.left(0), divided.left(1), 0.02 * divided.left(1)) << zero;
    }
  }
}

// What is uneven takes as long as if all shards were as large as the largest.
TEST(StateDivision, IsPaidForByTheLargestShare) {
  const Room even("zero=3,recompute=full");
  const Room divided("zero=3,recompute=full,state_division=by-memory");
  const double largest = divided.costs.largest_share;
  EXPECT_GT(largest, 1);
  EXPECT_EQ(largest, divided.costs.sites[0].state_share);
  RankParameters parameters;
  parameters.dense = 1e9;
  RankParameters more;
  more.dense = 1e9 * largest;
  EXPECT_EQ(divided.costs.reduce(parameters), even.costs.reduce(more));
  EXPECT_EQ(divided.costs.gather(parameters, {}, Gather::forward),
            even.costs.gather(more, {}, Gather::forward));
  EXPECT_GT(divided.costs.optimizer[0], even.costs.sites[0].optimizer[0]);
  EXPECT_LE(lower_bound(even.costs), lower_bound(divided.costs));
}

// Eight ranks of each site, alike in memory: the faster have more microbatches in flight, no more.
TEST(StateDivision, OfRanksAlikeInMemoryIsEven) {
  const Room room("zero=3,state_division=by-memory", "h100-sxm:8+a100-80gb-sxm:8@metro-pair");
  const double difference = room.costs.sites[0].memory_capacity(0).value() -
                            room.costs.sites[1].memory_capacity(0).value();
  if (difference == 0) {
    EXPECT_NEAR(room.costs.sites[0].state_share, 1, 0.01);
  }
  EXPECT_NEAR(room.left(0), room.left(1), 0.02 * room.left(1));
}

TEST(StateDivision, NamesWhatWorks) {
  const auto problem = [](const char* on, const char* plan, const char* model = "llama-3-8b") {
    const RandomCase c = stated_case(small_model(model, 16), on, plan, 2048, 32);
    const auto all = plan_problems(c.model, c.cluster, c.training, c.plan);
    return all.empty() ? "" : all.front();
  };
  constexpr auto kOn = "l40s:8+a100-40gb-sxm:8@metro-pair";
  EXPECT_EQ(problem("h100-sxm:16", "state_division=by-memory"),
            "state_division=by-memory needs sites that differ; ranks that are alike have the most "
            "memory left with state_division=even");
  EXPECT_EQ(problem(kOn, "pp=2,zero=1,placement=tp+cp+dp+pp,state_division=by-memory"),
            "state_division=by-memory needs dp outermost in the placement; this has pp there");
  EXPECT_EQ(problem(kOn, "zero=1,offload_optimizer=cpu,state_division=by-memory"),
            "offloading is not modelled where sites differ: use sites that are alike");
  EXPECT_EQ(problem(kOn, "zero=0,state_division=by-memory"),
            "state_division=by-memory needs zero=1, 2 or 3: with zero 0 every rank holds all "
            "states");
  EXPECT_EQ(problem(kOn, "zero=3,shard_group=8,state_division=by-memory"),
            "state_division=by-memory is modelled for dense models whose states all replicas "
            "share: leave out shard_group, gradient_shard, weight_shard, secondary_shard, "
            "quantized_gradients, gradient_code and local steps, or write state_division=even");
}

}  // namespace
}  // namespace orrery
