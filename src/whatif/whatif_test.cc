#include "whatif/whatif.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/hand_made_step.h"
#include "trace/recorded_run.h"
#include "whatif/traced_run.h"

namespace orrery {
namespace {

using testing::HasSubstr;

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";

// A rank that trains `layers` layers, each with two products and an all-reduce, written as a device
// that takes work in order would have recorded it. Microseconds.
struct Training {
  int layers = 4;
  double product = 40;
  double communication = 20;
  double host = 8;  // an operator with its launch call
  double arrival = 0;

  [[nodiscard]] RecordedTrace trace() const {
    HandMadeStep step;
    double called = arrival;
    double device = 0;
    const auto ns = [](double us) { return static_cast<std::int64_t>(us * 1000); };
    const auto launch = [&](const char* op, const char* shapes, const char* kernel, double time) {
      constexpr double kLaunch = 5;
      const double start = std::max(device, called + kLaunch);
      step.launch(op, shapes, kernel, ns(called), ns(start), ns(time));
      device = start + time;
      called += host;
    };
    launch("aten::embedding", "[[100, 64]]", "embedding", 10);
    for (int layer = 0; layer < layers; ++layer) {
      launch("aten::mm", "[[64, 64], [64, 256]]", "gemm_1", product);
      launch("aten::mm", "[[64, 256], [256, 64]]", "gemm_2", product);
      launch("c10d::allreduce_", "", kAllReduce, communication);
    }
    launch("aten::sum", "[[64]]", "sum", 10);
    step.window(1, 0, ns(std::max(called, device + 5)));
    step.synchronize(ns(called), ns(std::max(called + 1, device + 1)));
    return step.trace();
  }
};

TracedRun run_of(const Training& training) { return traced(training.trace()); }

TEST(WhatIf, ThatChangesNothingIsTheReplay) {
  const TracedRun run = run_of(Training{});
  const ReplayedRun replayed = replayed_run(run.graph);
  for (const char* text : {"", "scale class matrix_product by 1", "bandwidth by 1", "latency by 1",
                           "fuse kernel sum by 1", "even", "layers 4 to 4"}) {
    const auto result = tried(run, text);
    ASSERT_TRUE(result) << text << ": " << result.error().text();
    EXPECT_EQ(result->timeline.end_ns, replayed.end_ns) << text;
    EXPECT_EQ(result->before, result->after) << text;
  }
}

TEST(WhatIf, ScalesSetsAndRemovesWhatIsSelected) {
  const TracedRun run = run_of(Training{});
  const double before = after(run, "");
  // The device is the limit: eight products of 40, four all-reduces of 20.
  EXPECT_NEAR(after(run, "scale class matrix_product by 0.5"), before - 8 * 20, 1);
  EXPECT_NEAR(after(run, "set kernel gemm_1 to 60us"), before + 4 * 20, 1);
  EXPECT_NEAR(after(run, "remove collective AllReduce"), before - 4 * 20, 1);
  EXPECT_NEAR(after(run, "scale operator aten::mm shape \"[[64, 64]*\" by 0.5; remove kernel sum"),
              before - 4 * 20 - 10, 1);
}

TEST(WhatIf, CaptureLeavesTheDevicesTime) {
  Training host_bound;
  host_bound.host = 100;
  const TracedRun run = run_of(host_bound);
  const double device = 10 + 4 * 100 + 10;
  EXPECT_GT(after(run, ""), 1300);
  EXPECT_NEAR(after(run, "capture"), device, 20);
  // Halving products gains nothing where the host is the limit.
  EXPECT_NEAR(after(run, "scale class matrix_product by 0.5"), after(run, ""), 1);
  EXPECT_LT(after(run, "scale host by 0.5"), 0.6 * after(run, ""));
}

TEST(WhatIf, FusesNeighboursIntoOneLaunch) {
  Training host_bound;
  host_bound.host = 100;
  const TracedRun run = run_of(host_bound);
  // One launch less in each of four layers; what the host does around the call stays.
  const auto result = tried(run, "fuse kernel gemm_* by 0.5");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->edits[0].changed, 8u);
  EXPECT_THAT(result->edits[0].assumed[0], HasSubstr("8 works become 4"));
  const TracedRun device_bound = run_of(Training{});
  EXPECT_NEAR(after(device_bound, "fuse kernel gemm_* by 0.5"), after(device_bound, "") - 4 * 40,
              2);
}

TEST(WhatIf, RepeatsLayersAsARunWithSoManyWouldHave) {
  // Edited to X layers, a recording takes the time of one with X layers: Lumos, section 3.5.
  for (const double host : {8.0, 60.0}) {
    for (const int from : {4, 6}) {
      Training recorded;
      recorded.host = host;
      recorded.layers = from;
      const TracedRun run = run_of(recorded);
      for (const int to : {2, 3, 4, 5, 9}) {
        Training native = recorded;
        native.layers = to;
        const double expected = after(run_of(native), "");
        const double edited =
            after(run, "layers " + std::to_string(from) + " to " + std::to_string(to));
        EXPECT_NEAR(edited, expected, 0.02 * expected)
            << from << " to " << to << " layers, host " << host;
      }
    }
  }
}

TEST(WhatIf, RepeatsAcrossRanksTogether) {
  const auto ranks = [](int layers) {
    std::vector<RecordedTrace> traces;
    for (int rank = 0; rank < 2; ++rank) {
      Training training;
      training.layers = layers;
      traces.push_back(training.trace());
      traces.back().rank = rank;
      traces.back().world_size = 2;
    }
    return traced(std::move(traces));
  };
  const double expected = after(ranks(7), "");
  EXPECT_NEAR(after(ranks(4), "layers 4 to 7"), expected, 0.02 * expected);
  EXPECT_NEAR(after(ranks(9), "layers 9 to 7"), expected, 0.02 * expected);
}

TEST(WhatIf, SaysWhatRepeatsWhereNothingDoesSoOften) {
  const auto result = tried(run_of(Training{}), "layers 5 to 6");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text(),
            "layers 5 to 6: nothing repeats 5 times in a row (what repeats: 4 times 3 kernels)");
}

TEST(WhatIf, ChangesTheNetwork) {
  const TracedRun run = run_of(Training{});
  const double before = after(run, "");
  // The shortest transfer, 20 us, is taken as latency: bandwidth has nothing to gain.
  EXPECT_NEAR(after(run, "bandwidth by 4"), before, 1);
  EXPECT_NEAR(after(run, "latency to 5us"), before - 4 * 15, 1);
  Training slow;
  slow.communication = 120;
  const TracedRun slow_run = run_of(slow);
  EXPECT_NEAR(after(slow_run, "bandwidth by 2"), after(slow_run, "") - 4 * 50, 1);
  EXPECT_NEAR(after(slow_run, "bandwidth by 0.5"), after(slow_run, "") + 4 * 100, 1);
}

TEST(WhatIf, ARankAloneMeetsNobody) {
  std::vector<RecordedTrace> traces;
  for (int rank = 0; rank < 2; ++rank) {
    Training training;
    training.product = rank == 1 ? 80 : 40;
    traces.push_back(training.trace());
    traces.back().rank = rank;
    traces.back().world_size = 2;
  }
  const TracedRun run = traced(std::move(traces));
  for (const char* text : {"tp 1", "dp 1 kernel nccl*"}) {
    const auto alone = tried(run, text);
    ASSERT_TRUE(alone) << alone.error().text();
    EXPECT_GT(alone->waiting_before, Seconds(0));
    EXPECT_EQ(alone->waiting_after, Seconds(0)) << text;
    EXPECT_EQ(alone->steps[0].parts_after.exposed_communication, Seconds(0)) << text;
    EXPECT_THAT(alone->edits[0].assumed, testing::Contains(HasSubstr("meets nobody"))) << text;
  }
  EXPECT_THAT(tried(run, "tp 1")->edits[0].assumed,
              testing::Contains(HasSubstr("take 2 times as long")));
  EXPECT_THAT(tried(run, "tp 4")->edits[0].assumed,
              testing::Contains(HasSubstr("take 50 % of their time")));
}

TEST(WhatIf, LeavesEarlierWorkOutOfTheFirstStep) {
  RecordedTrace trace = Training{}.trace();
  const double whole = after(run_of(Training{}), "");
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (trace.name_of(e) == "embedding") trace.correlation[e] = kNotRecorded;
  }
  std::vector<RecordedTrace> traces;
  traces.push_back(std::move(trace));
  const auto result = tried(traced(std::move(traces)), "");
  ASSERT_TRUE(result);
  // It runs from 5 to 15 us after the step began.
  EXPECT_NEAR(microseconds(result->earlier), 15, 1);
  EXPECT_NEAR(microseconds(result->before), whole - 15, 1);
  EXPECT_LT(result->replay_error, 0.01);
}

TEST(WhatIf, StatesTheErrorOfWhatItCounts) {
  // 968 works were launched before the recording began; host marks are replayed to 0.02 %.
  auto recorded = read_run({std::string(ORRERY_SOURCE_DIR) + "/validation/traces/TraceLens/mi300/"
                                                             "resnet_act_checkpoint.json.gz"});
  ASSERT_TRUE(recorded);
  const TracedRun run = traced(std::move(recorded->ranks));
  const auto result = tried(run, "");
  ASSERT_TRUE(result);
  EXPECT_GT(result->replay_error, 0.01);
  EXPECT_LT(result->replay_error, 0.03);
  EXPECT_GT(result->earlier, Seconds(0.025));
  for (const WhatIfStep& step : result->steps) EXPECT_NEAR(step.before.value(), 0.019, 0.001);
}

TEST(WhatIf, EvensOutASlowRank) {
  std::vector<RecordedTrace> traces;
  for (int rank = 0; rank < 4; ++rank) {
    Training training;
    training.product = rank == 2 ? 80 : 40;
    traces.push_back(training.trace());
    traces.back().rank = rank;
    traces.back().world_size = 4;
  }
  const TracedRun run = traced(std::move(traces));
  // The mean of 40, 40, 80, 40 is 50: eight products a step.
  EXPECT_NEAR(after(run, "") - after(run, "even"), 8 * 30, 8);
  EXPECT_NEAR(after(run, "even rank 2"), after(run, "even"), 8);
  EXPECT_NEAR(after(run, "even rank 1"), after(run, ""), 8);
}

TEST(WhatIf, RefusesWhatSelectsNothing) {
  const TracedRun run = run_of(Training{});
  auto result = tried(run, "scale kernel nothing by 2");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text(),
            "scale kernel nothing by 2: nothing is selected (orrery trace analyze lists kernels, "
            "operators and communications)");
  result = tried(run, "bandwidth by 2 group 7");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text(), "bandwidth group 7 by 2: no communication is selected");
  result = tried(run, "accelerator h100-sxm");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("does not name its accelerator"));
  result = tried(run, "resize 4097 to 8192");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("no recorded shape has a dimension"));
  result = tried(run, "bucket 25MB");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("does not say how much is sent"));
}

TEST(WhatIf, RefusesWhatCountsFromTheRecordingTwice) {
  const TracedRun run = run_of(Training{});
  for (const char* text :
       {"tp 2; tp 4", "dp 4; bandwidth by 2; dp 8", "accelerator h100-sxm; accelerator b200-sxm",
        "resize 64 to 128; resize 64 to 32", "resize 64 to 128; resize 128 to 256"}) {
    const auto result = tried(run, text);
    ASSERT_FALSE(result) << text;
    EXPECT_THAT(result.error().text(), HasSubstr("both count from what is recorded")) << text;
  }
  for (const char* text :
       {"pp 2 microbatches 4; layers 4 to 8", "microbatches 1 to 2; layers 4 to 8"}) {
    const auto result = tried(run, text);
    ASSERT_FALSE(result) << text;
    EXPECT_THAT(result.error().text(), HasSubstr("write layers before microbatches and pp"))
        << text;
  }
}

TEST(WhatIf, ResizesProductsByTheirFlopsWhereTheAcceleratorIsNotKnown) {
  const TracedRun run = run_of(Training{});
  // 256 to 512 doubles both products of a layer; the sum over 64 elements stays.
  EXPECT_NEAR(after(run, "resize 256 to 512"), after(run, "") + 8 * 40, 1);
  const auto result = tried(run, "resize 256 to 512");
  EXPECT_THAT(result->edits[0].assumed[0], HasSubstr("dimensions 256 to 512"));
  EXPECT_THAT(result->edits[0].assumed[1], HasSubstr("8 matrix products"));
}

TEST(WhatIf, NamesOfDriversAreEntriesOfTheCatalog) {
  Training training;
  RecordedTrace trace = training.trace();
  trace.devices.push_back({"NVIDIA A100-SXM4-80GB", 85'174'583'296, 108});
  std::vector<RecordedTrace> traces;
  traces.push_back(std::move(trace));
  const TracedRun run = traced(std::move(traces));
  const double before = after(run, "");
  EXPECT_NEAR(after(run, "accelerator a100-80gb-sxm"), before, 1e-6);
  EXPECT_LT(after(run, "accelerator h100-sxm"), before);
  EXPECT_GT(after(run, "accelerator v100-32gb-sxm2"), before);
  // Only what is selected moves.
  EXPECT_LT(after(run, "accelerator h100-sxm kernel gemm_1"), before);
  EXPECT_GT(after(run, "accelerator h100-sxm kernel gemm_1"), after(run, "accelerator h100-sxm"));
  // A product of 64 x 64 x 256 takes a few microseconds, not the 40 recorded: eight of them.
  const double priced = after(run, "price class matrix_product");
  EXPECT_LT(priced, before - 8 * 20);
  EXPECT_GT(priced, before - 8 * 40);
  const auto refused = tried(run, "price kernel sum");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("no matrix product with recorded shapes"));
}

}  // namespace
}  // namespace orrery
