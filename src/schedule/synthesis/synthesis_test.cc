// The synthesis never loses to a fixed schedule, keeps its limit, and proves what it says.
#include "schedule/synthesis/synthesis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "outcome/sanitizers.h"
#include "schedule/schedule.h"
#include "schedule/splitmix.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;

SynthesisRequest synthesis_of(PipelineShape shape, double f, double b, double w,
                              double latency = 0) {
  SynthesisRequest out;
  out.shape = shape;
  out.times =
      equal_times(shape, Picoseconds(f), Picoseconds(b), Picoseconds(w), Picoseconds(latency));
  return out;
}

SynthesisOptions quick() {
  SynthesisOptions out;
  out.placement_budget = 4'000'000;
  out.node_budget = 1'000'000;
  return out;
}

TEST(Synthesis, ClosesFourDevicesAndEightMicrobatches) {
  // One chunk: the bound is the way to the last device and its work (ZB-H2, 27). Two: half the way.
  const auto one = synthesise(synthesis_of({4, 8, 1}, 1, 1, 1), quick());
  ASSERT_TRUE(one) << one.error().text();
  EXPECT_EQ(one->once.makespan, Picoseconds(27));
  EXPECT_EQ(one->once.gap, 0);
  const auto two = synthesise(synthesis_of({4, 8, 2}, 1, 1, 1), quick());
  ASSERT_TRUE(two);
  EXPECT_EQ(two->makespan, Picoseconds(51));
  EXPECT_EQ(two->stopped, SynthesisStop::proven_best);
  EXPECT_EQ(two->gap, 0);
}

TEST(Synthesis, ClosesMemoryLimitsOfOneChunk) {
  // Two microbatches: four round trips of eight passes and their weight gradients cannot be beaten
  // by less than what the branch and bound proves.
  for (const auto& [limit, makespan] :
       {std::pair{4.0, 27.0}, {3.0, 31.0}, {2.0, 41.0}, {1.0, 72.0}}) {
    SynthesisRequest request = synthesis_of({4, 8, 1}, 1, 1, 1);
    request.memory_limit = limit;
    const auto result = synthesise(request, quick());
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->once.makespan.count(), makespan) << limit;
    EXPECT_EQ(result->once.gap, 0) << limit;
    for (const double peak : result->measures.peak_memory) EXPECT_LE(peak, limit);
  }
}

TEST(Synthesis, NeverLosesToASchedule) {
  Splitmix random(17);
  for (int round = 0; round < 3; ++round) {
    const PipelineShape shape{2 + 2 * static_cast<int>(random.below(2)),
                              4 * (1 + static_cast<int>(random.below(3))), 2};
    SynthesisRequest request = synthesis_of(shape, 1, 1, 1, static_cast<double>(random.below(3)));
    for (StageTimes& stage : request.times.stage) {
      stage.forward = Picoseconds(static_cast<double>(3 + random.below(5)));
      stage.input_gradient = Picoseconds(static_cast<double>(3 + random.below(5)));
      stage.weight_gradient = Picoseconds(static_cast<double>(1 + random.below(5)));
      stage.backward = stage.input_gradient + stage.weight_gradient;
      stage.forward_and_backward = stage.forward + stage.backward;
    }
    request.memory_limit = static_cast<double>(4 + random.below(8));
    SynthesisOptions options = quick();
    options.placement_budget = 500'000;
    options.node_budget = 50'000;
    const auto result = synthesise(request, options);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_LE(result->lower_bound, result->makespan);
    const auto again = execute(result->pipeline, result->times);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->measures.makespan, result->makespan);
    for (const double peak : again->measures.peak_memory) EXPECT_LE(peak, request.memory_limit);
    for (const SynthesisCandidate& candidate : result->candidates) {
      if (!candidate.fits) continue;
      EXPECT_LE(result->makespan, candidate.makespan) << candidate.name;
      const bool twice = (*find_schedule(candidate.name))->routes > 1;
      EXPECT_GE(candidate.makespan, twice ? Picoseconds(0) : result->once.lower_bound)
          << candidate.name;
    }
  }
}

TEST(Synthesis, AnInterruptedSearchKeepsTheBest) {
  SynthesisRequest request = synthesis_of({4, 8, 2}, 1, 1, 1);
  request.memory_limit = 4;
  std::stop_source source;
  SynthesisOptions options = quick();
  options.stop = source.get_token();
  int told = 0;
  options.progress = [&](const SynthesisProgress& progress) {
    ++told;
    EXPECT_GE(progress.makespan, progress.lower_bound);
    source.request_stop();
  };
  const auto result = synthesise(request, options);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_GE(told, 1);
  EXPECT_EQ(result->stopped, SynthesisStop::interrupted);
  options.stop = {};
  options.progress = nullptr;
  options.time_limit = Seconds(0);
  EXPECT_EQ(synthesise(request, options)->stopped, SynthesisStop::time_limit);
}

TEST(Synthesis, TheSameRequestGivesTheSameResult) {
  SynthesisRequest request = synthesis_of({4, 8, 2}, 5, 6, 4, 1);
  request.memory_limit = 5;
  SynthesisOptions options = quick();
  options.node_budget = 100'000;
  const auto a = synthesise(request, options);
  const auto b = synthesise(request, options);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->pipeline.order, b->pipeline.order);
  EXPECT_EQ(a->lower_bound, b->lower_bound);
  EXPECT_EQ(a->nodes, b->nodes);
}

// A finer cut allowed: the coarser ones are still tried, with the same budgets.
TEST(Synthesis, MoreChunksAreNeverWorse) {
  Splitmix random(12);
  for (int round = 0; round < (kSanitized ? 2 : 4); ++round) {
    const bool stated = round == 0;
    const auto any = [&] { return 1'000.0 * static_cast<double>(3 + random.below(40)); };
    const double f = stated ? 37'044 : any();
    const double b = stated ? 36'172 : any();
    const double w = stated ? 18'674 : any();
    const double latency = stated ? 601 : any() / 8;
    const int devices = stated ? 8 : 2 + static_cast<int>(random.below(3));
    const int microbatches = stated ? 32 : devices + static_cast<int>(random.below(8));
    const double limit = stated ? 4 : 1 + static_cast<double>(random.below(4));
    const auto cut = [&](int chunks) {
      const auto part = [&](double time) { return Picoseconds(std::round(time / chunks)); };
      PipelineTimes times = equal_times({devices, microbatches, chunks}, part(f), part(b), part(w),
                                        Picoseconds(latency));
      times.memory.assign(times.stage.size(), {1.0 / chunks, 1.0 / chunks});
      return times;
    };
    Picoseconds before(std::numeric_limits<double>::infinity());
    for (int chunks = 1; chunks <= 4; ++chunks) {
      SynthesisRequest request;
      request.shape = {devices, microbatches, chunks};
      request.times = cut(chunks);
      request.cut = cut;
      request.memory_limit = limit;
      SynthesisOptions options;
      options.placement_budget = 1'000'000;
      options.node_budget = 50'000;
      const auto result = synthesise(request, options);
      ASSERT_TRUE(result) << result.error().text();
      EXPECT_LE(result->makespan, before) << round << ": " << chunks << " chunks";
      before = result->makespan;
    }
  }
}

TEST(Synthesis, JoinedStagesDoTheSameWork) {
  const PipelineShape shape{2, 4, 4};
  const PipelineTimes times = equal_times(shape, Picoseconds(1), Picoseconds(2), Picoseconds(3));
  const PipelineTimes two = joined_times(times, 2);
  ASSERT_EQ(two.stage.size(), 4u);
  EXPECT_EQ(two.stage[1].forward, Picoseconds(2));
  EXPECT_EQ(two.stage[1].backward, Picoseconds(10));
  EXPECT_EQ(two.memory_of(3).forward, 2);
}

TEST(Synthesis, RefusesInOneLine) {
  SynthesisRequest request = synthesis_of({4, 8, 2}, 1, 1, 1);
  request.memory_limit = 1.5;
  EXPECT_THAT(synthesise(request).error().text(),
              HasSubstr("the memory limit 1.5 is below the 2 that one microbatch holds"));
  request.memory_limit = 4;
  request.times.stage[3].weight_gradient = Picoseconds(0);
  EXPECT_THAT(synthesise(request).error().text(),
              HasSubstr("the weight gradient of stage 3 takes no time"));
  request.times.stage.pop_back();
  EXPECT_THAT(synthesise(request).error().text(),
              HasSubstr("7 stages have times, not the 8 of 4 devices of 2 chunks"));
}

}  // namespace
}  // namespace orrery
