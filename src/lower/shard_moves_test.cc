#include "lower/shard_moves.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "lower/random_plan.h"
#include "lower/stage_memory.h"
#include "lower/step_graph.h"
#include "simulate/simulate.h"

namespace orrery {
namespace {

ScheduleRequest request(int devices, int microbatches, int chunks, int group = 0) {
  ScheduleRequest out;
  out.shape = {devices, microbatches, chunks};
  out.group = group;
  return out;
}

struct Counts {
  int opens = 0, turns_to = 0, turns_back = 0, turns_away = 0, closes = 0;
  bool operator==(const Counts&) const = default;
};

Counts counted(std::string_view schedule, const ScheduleRequest& wanted) {
  const Schedule& known = **find_schedule(schedule);
  const Pipeline made = *pipeline(known, wanted);
  const auto order = *linear_order(made);
  Counts out;
  for (const ChunkUse& use : chunk_uses(made, order)) {
    out.opens += use.opens ? 1 : 0;
    out.turns_to += use.turns_to ? 1 : 0;
    out.turns_back += use.turns_back ? 1 : 0;
    out.turns_away += use.turns_away ? 1 : 0;
    out.closes += use.closes ? 1 : 0;
  }
  return out;
}

// Of 4 devices with 2 chunks and 16 microbatches: once a group, chunk and device.
TEST(ChunkUses, GroupsOfMicrobatchesPassAChunkInARow) {
  const ScheduleRequest fours = request(4, 16, 2);
  EXPECT_EQ(counted("interleaved_1f1b", fours), (Counts{8, 32, 32, 32, 8}));
  EXPECT_EQ(fewest_turns(**find_schedule("interleaved_1f1b"), fours), 4);
  const ScheduleRequest eights = request(4, 16, 2, 8);
  EXPECT_EQ(counted("interleaved_1f1b", eights), (Counts{8, 16, 16, 16, 8}));
  EXPECT_EQ(fewest_turns(**find_schedule("interleaved_1f1b"), eights), 2);
  EXPECT_EQ(counted("breadth_first", fours), (Counts{8, 8, 8, 8, 8}));
  EXPECT_EQ(counted("1f1b", request(4, 16, 1)), (Counts{4, 4, 4, 4, 4}));
}

// Every schedule: each chunk opens and closes once, and no device turns less often than is said.
TEST(ChunkUses, NoScheduleTurnsLessOftenThanItsBound) {
  for (const Schedule& schedule : schedules()) {
    for (const int group : {0, 6}) {
      const ScheduleRequest wanted =
          request(4, 12, schedule.chunks > 0 ? schedule.chunks : 2, group);
      if (schedule.asynchronous || !schedule_problems(schedule, wanted).empty()) continue;
      const Counts counts = counted(schedule.name, wanted);
      const int chunks = 4 * wanted.shape.chunks * schedule.routes;
      EXPECT_EQ(counts.opens, chunks) << schedule.name;
      EXPECT_EQ(counts.closes, chunks) << schedule.name;
      const int least = chunks * fewest_turns(schedule, wanted);
      EXPECT_GE(counts.turns_to, least) << schedule.name;
      EXPECT_GE(counts.turns_back, least) << schedule.name;
      EXPECT_GE(counts.turns_away, least) << schedule.name;
    }
  }
}

// Forwards of a device before its first backward, and as many backwards behind its last forward:
// p - 1 - rank and one more, interleaved 2 (p - 1 - rank) + (chunks - 1) group and one more.
TEST(ChunkUses, TheFirstForwardsAndLastBackwardsHaveNoPartner) {
  const auto alone = [](std::string_view schedule, const ScheduleRequest& wanted) {
    const Pipeline made = *pipeline(**find_schedule(schedule), wanted);
    const auto order = *linear_order(made);
    const std::vector<ChunkUse> uses = chunk_uses(made, order);
    std::vector<std::array<int, 2>> out(static_cast<std::size_t>(wanted.shape.devices));
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (uses[i].partner != Partner::none) continue;
      const bool forward = order[i].operation.action == PipelineAction::forward;
      ++out[order[i].device][forward ? 0 : 1];
    }
    return out;
  };
  using Passes = std::vector<std::array<int, 2>>;
  EXPECT_EQ(alone("1f1b", request(1, 8, 1)), (Passes{{1, 1}}));
  EXPECT_EQ(alone("1f1b", request(3, 8, 1)), (Passes{{3, 3}, {2, 2}, {1, 1}}));
  EXPECT_EQ(alone("1f1b", request(3, 2, 1)), (Passes{{2, 2}, {2, 2}, {1, 1}}));
  const auto first = alone("interleaved_1f1b", request(8, 128, 4)).front();
  EXPECT_EQ(first, (std::array<int, 2>{39, 39}));
}

RandomCase llama(std::string_view plan) {
  return stated_case(small_model("llama-3-8b", 16), "h100-sxm:16", plan, 4096, 64);
}

SoftwareProfile holding(PipelineShards shards) {
  SoftwareProfile out;
  out.pipeline_shards = shards;
  return out;
}

struct Step {
  std::map<std::string, int, std::less<>> nodes;
  Picoseconds time;
  double peak = 0;  // bytes, of the second stage
};

Step step_of(std::string_view plan, const SoftwareProfile& software = {}) {
  const RandomCase c = llama(plan);
  CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in(), software));
  const StepCosts costs = step_costs(cache, c.plan);
  const auto made = step_graph(costs, Folding::folded);
  Step out;
  for (std::uint32_t n = 0; n < made->graph.size(); ++n) {
    ++out.nodes[std::string(made->graph.name(NodeIndex(n)))];
  }
  out.time = simulate(made->graph).makespan;
  out.peak = static_cast<double>(stage_memory(costs, 1).peak);
  return out;
}

// 4 stages of 4 chunks, a layer each, and 16 microbatches a replica; the embedding and the head are
// a unit each.
TEST(ShardMoves, CountGathersAndReductionsOfAStep) {
  const int units = 16 + 2;
  const int passes = 16;
  const auto moved = [](const std::string& schedule, const SoftwareProfile& software = {}) {
    const Step step = step_of("pp=4,dp=4,schedule=" + schedule, software);
    return std::pair{step.nodes.count("gather parameters") ? step.nodes.at("gather parameters") : 0,
                     step.nodes.at("reduce gradients")};
  };
  EXPECT_EQ(moved("1f1b,zero=3"), (std::pair{2 * passes * units, passes * units}));
  EXPECT_EQ(moved("1f1b,zero=2"), (std::pair{units, passes * units}));
  EXPECT_EQ(moved("interleaved_1f1b,chunks=4,zero=3"), (std::pair{2 * 4 * units, 4 * units}));
  EXPECT_EQ(moved("interleaved_1f1b,chunks=4,group=8,zero=3"),
            (std::pair{2 * 2 * units, 2 * units}));
  EXPECT_EQ(moved("breadth_first,chunks=4,zero=3"), (std::pair{2 * units, units}));
  EXPECT_EQ(moved("breadth_first,chunks=4,zero=2"), (std::pair{units, units}));
  // Of two chunks all weights are whole once they are gathered.
  EXPECT_EQ(moved("interleaved_1f1b,chunks=2,zero=3"), (std::pair{units, 4 * units}));
  for (const char* schedule : {"1f1b", "interleaved_1f1b,chunks=4", "breadth_first,chunks=4"}) {
    EXPECT_EQ(moved(std::string(schedule) + ",zero=3", holding(PipelineShards::step)),
              (std::pair{units, units}))
        << schedule;
  }
}

// What is moved less often is held longer.
TEST(ShardMoves, FewerMovesTakeLessTimeAndMoreMemory) {
  for (const char* zero : {",zero=2", ",zero=3"}) {
    for (const char* schedule : {"interleaved_1f1b,chunks=4", "1f1b"}) {
      const std::string plan = std::string("pp=4,dp=4,schedule=") + schedule + zero;
      const Step less = step_of(plan, holding(PipelineShards::step));
      const Step more = step_of(plan);
      EXPECT_LT(less.time, more.time) << plan;
      EXPECT_GT(less.peak, more.peak) << plan;
    }
  }
}

// More sharding is never faster and never larger, but for what fills the last pages: whatever bytes
// the software keeps of a gradient, and however few ranks there are.
TEST(ShardMoves, MoreShardingTakesMoreTimeAndLessMemory) {
  for (const char* profile :
       {"megatron-core-0.12", "nemo-24", "internevo", "deepspeed", "torchtitan"}) {
    const SoftwareProfile software = *load_software(Catalog::built_in(), profile);
    for (const char* plan :
         {"pp=4,dp=4,chunks=4", "pp=4,dp=4,chunks=2", "pp=4,dp=4,chunks=2,schedule=breadth_first",
          "tp=2,pp=4,dp=2,chunks=2", "pp=4,dp=4,chunks=2,layers=4+4+4+4+0+0+0+0"}) {
      const Step one = step_of(std::string(plan) + ",zero=1", software);
      const Step two = step_of(std::string(plan) + ",zero=2", software);
      const Step three = step_of(std::string(plan) + ",zero=3", software);
      EXPECT_GE(two.time.count(), 0.999 * one.time.count()) << profile << " " << plan;
      // ZeRO 3 gathers what ZeRO 2 may broadcast rank by rank.
      if (software.shard_transfers != ShardTransfers::broadcasts) {
        EXPECT_GE(three.time.count(), 0.999 * two.time.count()) << profile << " " << plan;
      }
      EXPECT_LE(two.peak, 1.003 * one.peak) << profile << " " << plan;
    }
  }
}

TEST(ShardMoves, WithoutAPipelineEveryPassMoves) {
  for (const PipelineShards shards : {PipelineShards::chunk, PipelineShards::step}) {
    const ShardMoves moves = shard_moves(llama("zero=3").plan, holding(shards));
    EXPECT_EQ(moves.weights, ShardMove::each_pass);
    EXPECT_EQ(moves.gradients, ShardMove::each_pass);
  }
}

}  // namespace
}  // namespace orrery
