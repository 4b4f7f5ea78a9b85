#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/graph_from_run.h"
#include "schedule/execution.h"
#include "schedule/schedule.h"
#include "trace/hand_made_step.h"
#include "whatif/edit_language.h"
#include "whatif/traced_run.h"
#include "whatif/whatif.h"

namespace orrery {
namespace {

using testing::HasSubstr;

// A rank that trains `layers` layers on `microbatches` microbatches, as a device that takes work in
// order would have recorded it. Microseconds.
struct PipelineTraining {
  int layers = 8;
  int microbatches = 8;
  double forward = 100;  // of a layer; of its backward pass twice that
  double host = 4;       // an operator with its launch
  double outside = 0;    // before and behind the layers, forward
  double optimizer = 400;
  bool trains = true;

  [[nodiscard]] RecordedTrace trace() const {
    HandMadeStep step;
    double called = 0;
    double device = 0;
    const auto ns = [](double us) { return static_cast<std::int64_t>(us * 1000); };
    const auto launch = [&](const char* op, const char* shapes, const char* kernel, double time) {
      const double start = std::max(device, called + 5);
      step.launch(op, shapes, kernel, ns(called), ns(start), ns(time));
      device = start + time;
      called += host;
    };
    const auto backward = [&](const char* op, double time) {
      step.host_operator(fmt::format("autograd::engine::evaluate_function: {}", op), "",
                         ns(called) - 500, ns(host) - 1000);
      launch(op, "[[64, 64]]", "backward_gemm", time);
    };
    for (int j = 0; j < microbatches; ++j) {
      launch("aten::embedding", "[[100, 64], [8, 16]]", "embedding", outside + 1);
      for (int layer = 0; layer < layers; ++layer) {
        launch("aten::layer_norm", "[[8, 16, 64]]", "norm", forward * 0.1);
        launch("aten::mm", "[[64, 64], [64, 256]]", "gemm_1", forward * 0.5);
        launch("aten::mm", "[[64, 256], [256, 64]]", "gemm_2", forward * 0.4);
      }
      launch("aten::sum", "[[64]]", "sum", outside + 1);
      if (!trains) continue;
      backward("SumBackward0", 2 * outside + 2);
      for (int layer = 0; layer < layers; ++layer) {
        backward("MmBackward0", forward);
        backward("MmBackward1", forward * 0.6);
        backward("NormBackward0", forward * 0.4);
      }
      backward("EmbeddingBackward0", 2 * outside + 2);
    }
    if (trains) launch("aten::_foreach_add_", "", "multi_tensor_apply_kernel", optimizer);
    step.window(1, 0, ns(std::max(called, device + 5) + 5));
    step.synchronize(ns(called), ns(std::max(called + 1, device + 1)));
    return step.trace();
  }
};

Result<WhatIf> tried(const PipelineTraining& training, const std::string& text) {
  return tried(traced(training.trace()), text);
}

double after(const PipelineTraining& training, const std::string& text) {
  return after(traced(training.trace()), text);
}

TEST(PipelineEdit, TakesTheTimeOfOneForwardOneBackward) {
  // (M + P - 1)(F + B) of equal stages, in which F and B hold layers / P layers.
  for (const int stages : {2, 4, 8}) {
    for (const int microbatches : {4, 8, 16}) {
      PipelineTraining training;
      training.microbatches = microbatches;
      const double pass = 3 * training.forward * training.layers / stages;
      const double expected = (microbatches + stages - 1) * pass + training.optimizer / stages;
      const double edited = after(training, fmt::format("pp {} link 1TB/s", stages));
      EXPECT_NEAR(edited, expected, 0.02 * expected) << stages << " stages, " << microbatches;
    }
  }
}

TEST(PipelineEdit, TakesTheTimeOfEverySchedule) {
  // What the schedule's own simulation says, from times of whole stages.
  PipelineTraining training;
  training.optimizer = 0;
  for (const char* name : {"gpipe", "1f1b", "interleaved_1f1b", "breadth_first", "hanayo"}) {
    const int chunks =
        std::string_view(name) == "gpipe" || std::string_view(name) == "1f1b" ? 1 : 2;
    const auto schedule = find_schedule(name);
    ASSERT_TRUE(schedule) << name;
    ScheduleRequest request;
    request.shape = {.devices = 4, .microbatches = 8, .chunks = chunks};
    const double layers = 8.0 / (4 * chunks);
    request.times =
        equal_times(request.shape, Picoseconds(100e6 * layers), Picoseconds(100e6 * layers),
                    Picoseconds(100e6 * layers), Picoseconds(20e6));
    const auto made = pipeline(**schedule, request);
    ASSERT_TRUE(made) << made.error().text();
    const auto executed = execute(*made, request.times);
    ASSERT_TRUE(executed);
    const double expected = executed->measures.makespan.count() * 1e-6;
    const double edited = after(
        training, fmt::format("pp 4 schedule {} chunks {} link 1TB/s latency 20us", name, chunks));
    EXPECT_NEAR(edited, expected, 0.02 * expected) << name;
  }
}

TEST(PipelineEdit, RepeatsMicrobatches) {
  PipelineTraining training;
  training.microbatches = 2;
  PipelineTraining more = training;
  more.microbatches = 12;
  const double expected = after(more, "pp 4 link 1TB/s");
  EXPECT_NEAR(after(training, "pp 4 microbatches 12 link 1TB/s"), expected, 0.01 * expected);
  training.microbatches = 1;
  EXPECT_NEAR(after(training, "pp 4 microbatches 12 link 1TB/s"), expected, 0.01 * expected);
  // One stage with more microbatches is accumulation.
  EXPECT_NEAR(after(training, "pp 1 microbatches 12"), after(more, ""), 0.01 * after(more, ""));
}

TEST(PipelineEdit, KeepsTheHostsTime) {
  // Host bound: 3 operators a layer, forward and backward, at 200 us each.
  PipelineTraining training;
  training.host = 200;
  const double pass = 6 * training.host * training.layers / 4;
  const double edited = after(training, "pp 4 link 1TB/s");
  EXPECT_GT(edited, (training.microbatches) * pass);
  EXPECT_LT(edited, (training.microbatches + 4) * pass);
  EXPECT_LT(edited, 0.5 * after(training, ""));
}

TEST(PipelineEdit, PutsWhatIsOutsideOfLayersOnTheEnds) {
  // The first and last stage take longer: the slowest stage sets the pace.
  PipelineTraining training;
  training.microbatches = 64;
  training.outside = 100;
  const double slowest = 3 * (training.forward * 2 + training.outside);
  const double edited = after(training, "pp 4 link 1TB/s");
  EXPECT_NEAR(edited, (64 + 3) * slowest, 0.03 * 64 * slowest);
}

TEST(PipelineEdit, PaysForWhatIsSent) {
  const PipelineTraining training;
  const double free = after(training, "pp 4 link 1TB/s");
  const double slow = after(training, "pp 4 send 1MB link 10GB/s latency 10us");
  // 110 us each; down and up the pipeline at least 2 (P - 1) of them are exposed.
  EXPECT_GT(slow, free + 2 * 3 * 109);
  double before = free;
  for (const char* rate : {"100GB/s", "10GB/s", "1GB/s"}) {
    const double now = after(training, fmt::format("pp 4 send 1MB link {}", rate));
    EXPECT_GE(now, before - 1);
    before = now;
  }
}

TEST(PipelineEdit, SaysWhatItAssumed) {
  const auto result = tried(PipelineTraining{}, "pp 4 link 50GB/s latency 5us");
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->staged);
  EXPECT_EQ(result->timeline.dropped_edges, 0u);
  EXPECT_EQ(result->steps.size(), 4u);
  ASSERT_EQ(result->edits[0].assumed.size(), 3u);
  EXPECT_THAT(
      result->edits[0].assumed[0],
      HasSubstr("8 layers and 8 microbatches a step are recorded, forward and backward; 2 a "
                "stage on 4 stages"));
  // 8 sequences of 16 tokens of 64 numbers; their type is not recorded: 2 bytes.
  EXPECT_THAT(result->edits[0].assumed[1], HasSubstr("16.0 KiB (the tensor of aten::embedding)"));
}

TEST(PipelineEdit, OfForwardPassesOnlyIsAPipelineToo) {
  PipelineTraining training;
  training.trains = false;
  training.microbatches = 1;
  const double edited = after(training, "pp 4 schedule gpipe microbatches 8 link 1TB/s");
  const double stage = training.forward * 2;
  EXPECT_NEAR(edited, (8 + 3) * stage, 0.04 * 11 * stage);
}

TEST(GradientEdit, HidesReductionsBehindTheLastBackwardPass) {
  const PipelineTraining training;
  const double before = after(training, "");
  // Eight layers of 32,768 weights of 2 bytes, and an embedding: far below one bucket, which is
  // ready when the whole pass is. All of it is exposed: 2 (N - 1) / N n / rate.
  const double n = 8 * 2 * 64 * 256 * 2 + 100 * 64 * 2;
  EXPECT_NEAR(after(training, "dp 4 link 1GB/s") - before, 1.5 * n / 1e9 * 1e6, 3);
  // Eight buckets of 32 MiB: all but the last run beside the layers that follow, each 200 us long.
  const double bucket = 1.5 * 32 * 1024 * 1024;
  EXPECT_NEAR(after(training, "dp 4 gradients 256MiB link 1TB/s") - before, bucket / 1e12 * 1e6, 5);
  // Where the network is slower than the layers, only the first layer's pass hides something.
  EXPECT_NEAR(after(training, "dp 4 gradients 256MiB link 100GB/s") - before,
              8 * bucket / 1e11 * 1e6 - 7 * 200, 10);
  // More ranks, more to reduce; none, nothing.
  EXPECT_LT(after(training, "dp 2 link 1GB/s"), after(training, "dp 64 link 1GB/s"));
  EXPECT_EQ(after(training, "dp 1"), before);
}

TEST(GradientEdit, GoesIntoThePipeline) {
  const PipelineTraining training;
  const double pipeline = after(training, "pp 4 link 1TB/s");
  const double both = after(training, "dp 4 gradients 256MiB link 100GB/s; pp 4 link 1TB/s");
  // Each stage reduces its quarter of the gradients, the first stage when all else is done.
  EXPECT_GT(both, pipeline + 1);
  EXPECT_LT(both, pipeline + 2 * 1.5 * 32 * 1024 * 1024 / 1e11 * 1e6 + 5);
  EXPECT_GT(after(training, "dp 4 gradients 256MiB link 100GB/s; pp 4 microbatches 16 link 1TB/s"),
            after(training, "pp 4 microbatches 16 link 1TB/s") + 1);
}

TEST(PipelineEdit, WithoutChangeIsTheReplay) {
  std::vector<RecordedTrace> traces;
  traces.push_back(PipelineTraining{}.trace());
  const auto graph = graph_from_run(traces);
  const auto edits = parse_edits("pp 1", "edits");
  const auto result = what_if(traces, graph->graph, *edits, Catalog::built_in());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->timeline.end_ns, replayed_run(graph->graph).end_ns);
}

TEST(PipelineEdit, RefusesInWords) {
  const auto error = [](const PipelineTraining& training, const std::string& text) {
    const auto result = tried(training, text);
    EXPECT_FALSE(result) << text;
    return result ? "" : result.error().text();
  };
  EXPECT_THAT(error({}, "pp 16 link 1TB/s"),
              HasSubstr("8 layers are recorded, the pipeline would have 16 stages"));
  EXPECT_THAT(error({}, "pp 4"), HasSubstr("say how fast its ranks are joined: link"));
  EXPECT_THAT(error({}, "pp 4 schedule zb_h1 link 1TB/s"), HasSubstr("zb_h1 divides passes"));
  EXPECT_THAT(error({}, "pp 4 link 1TB/s; pp 2 link 1TB/s"),
              HasSubstr("an edit before this one made the run a pipeline"));
  EXPECT_THAT(error({}, "dp 4"), HasSubstr("say how fast its ranks are joined: link"));
  PipelineTraining inference;
  inference.trains = false;
  EXPECT_THAT(error(inference, "dp 4 link 1TB/s"), HasSubstr("no backward pass is recorded"));
  EXPECT_THAT(error({}, "pp 4 schedule nothing"), HasSubstr("nothing"));
  PipelineTraining single;
  single.layers = 1;
  single.microbatches = 1;
  EXPECT_THAT(error(single, "pp 2 link 1TB/s"), HasSubstr("no layers are found"));
}

}  // namespace
}  // namespace orrery
