// What-ifs of a predicted step: its graph, written and read, is edited as a recording's is.
#include <gtest/gtest.h>

#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "estimate/step_timeline.h"
#include "replay/graph_run.h"
#include "whatif/edit_language.h"
#include "whatif/whatif.h"

namespace orrery {
namespace {

const Catalog& catalog() { return Catalog::built_in(); }

PredictedStep predicted(std::string_view plan, double bandwidth = 1,
                        std::string_view cluster = "h100-sxm:16") {
  Scenario s;
  s.model = *load_model("llama-3-8b", catalog());
  s.cluster = *parse_cluster(cluster, catalog());
  for (FabricLevel& level : s.cluster.levels) level.bandwidth = level.bandwidth * bandwidth;
  s.plan = *parse_plan(plan);
  s.training.sequence_length = 4096;
  s.training.global_batch = 16;
  return *predict(std::move(s), catalog());
}

Result<WhatIf> edited(const PredictedStep& step, std::string_view edits) {
  const GraphFile written = step_graph_file(*simulated(step.costs, Folding::expanded));
  const GraphFile read = *parse_graph_file(graph_file_text(written), "step.graph.json");
  const GraphRun run = *graph_run(read, "step.graph.json");
  return what_if(run.seen.ranks, run.graph, *parse_edits(edits, "test"), catalog(), {},
                 &*run.operations);
}

class PredictedWhatIf : public ::testing::TestWithParam<const char*> {};

TEST_P(PredictedWhatIf, WithoutEditsIsTheStep) {
  const PredictedStep step = predicted(GetParam());
  const auto answer = edited(step, "");
  ASSERT_TRUE(answer) << answer.error().text();
  // Times are whole nanoseconds here and picoseconds there.
  EXPECT_NEAR(answer->before / step.folded.time.seconds(), 1, 1e-4);
  EXPECT_EQ(answer->after, answer->before);
}

// No longer than the step, not shorter than half of it; and near the step of a cluster whose
// network has twice the bandwidth. They differ in what counts as latency: an edit takes the
// shortest communication of each kind, the cost model knows it.
TEST_P(PredictedWhatIf, TwiceTheBandwidthIsBetweenHalfAndAllOfTheStep) {
  const PredictedStep step = predicted(GetParam());
  const auto answer = edited(step, "bandwidth by 2");
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_LT(answer->after, answer->before);
  EXPECT_GE(answer->after, 0.5 * answer->before);
  const Seconds estimated = predicted(GetParam(), 2).folded.time.seconds();
  EXPECT_NEAR(answer->after / estimated, 1, 0.05);
}

TEST_P(PredictedWhatIf, OnItsOwnClusterIsTheStep) {
  const auto answer = edited(predicted(GetParam()), "accelerator h100-sxm:16");
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_GT(answer->edits[0].changed, 0U);
  EXPECT_EQ(answer->after, answer->before);
}

// The two differ by 0.2 to 1.7 %, the most under ZeRO 3, which communicates most beside computing:
// what computing loses by that stays as on the first cluster. They differ by 3.0 % where the
// schedule orders passes by their times.
TEST_P(PredictedWhatIf, OnAnotherClusterIsAboutTheStepEstimatedThere) {
  const auto answer = edited(predicted(GetParam()), "accelerator b200-sxm:16");
  ASSERT_TRUE(answer) << answer.error().text();
  const Seconds estimated = predicted(GetParam(), 1, "b200-sxm:16").folded.time.seconds();
  EXPECT_LT(answer->after, answer->before);
  const bool ordered_by_times =
      std::string_view(GetParam()).find("vocab") != std::string_view::npos;
  EXPECT_NEAR(answer->after / estimated, 1, ordered_by_times ? 0.035 : 0.02);
}

INSTANTIATE_TEST_SUITE_P(, PredictedWhatIf,
                         ::testing::Values("tp=8", "tp=4,pp=2", "tp=2,pp=4,chunks=2,zero=2",
                                           "tp=1,zero=3", "pp=4,schedule=vocab_2"));

TEST(PredictedWhatIfEdits, SelectByNameCollectiveAndGroup) {
  const PredictedStep step = predicted("tp=4,pp=2");
  const auto slower = edited(step, "scale kernel attention.core by 2");
  ASSERT_TRUE(slower) << slower.error().text();
  EXPECT_GT(slower->after, slower->before);
  const auto without = edited(step, "remove collective _allgather_base group tensor");
  ASSERT_TRUE(without) << without.error().text();
  EXPECT_LT(without->after, without->before);
  EXPECT_FALSE(edited(step, "remove group \"expert replicas\""));
}

TEST(PredictedWhatIfEdits, PriceProductsAsPredicted) {
  const PredictedStep step = predicted("tp=4,pp=2");
  const auto answer = edited(step, "scale kernel *qkv* by 3; price kernel *qkv*");
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->after, answer->before);
  EXPECT_FALSE(edited(step, "price kernel attention.core"));
}

TEST(PredictedWhatIfEdits, SelectVocabularyReductions) {
  const PredictedStep step = predicted("pp=4,schedule=vocab_2");
  const auto answer = edited(step, "scale kernel \"*vocabulary reduction\" by 100");
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->edits[0].changed, 12U);
  EXPECT_GT(answer->after, answer->before);
}

TEST(PredictedWhatIfEdits, RefuseClustersOnWhichGroupsLieOtherwise) {
  EXPECT_EQ(edited(predicted("tp=8"), "accelerator b200-sxm:8").error().text(),
            "accelerator b200-sxm:8: the groups of the step do not lie on the 1 fabric level of "
            "b200-sxm:8 (estimate on this cluster, which places the groups again)");
}

TEST(PredictedWhatIfEdits, RefuseWhatNeedsARecording) {
  EXPECT_TRUE(check_graph_edits(*parse_edits("bandwidth by 2; latency to 5us", "x")));
  EXPECT_EQ(check_graph_edits(*parse_edits("pp 4", "x")).error().text(),
            "pp 4: needs the launches, shapes and passes of a recording (change the plan or the "
            "cluster and estimate again; the durations of a graph's operations can be edited with "
            "scale, set, remove, bandwidth, latency, accelerator and price)");
}

}  // namespace
}  // namespace orrery
