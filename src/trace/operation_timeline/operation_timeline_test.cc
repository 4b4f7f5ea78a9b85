// Operation timelines: the published ones, and every refusal by its text.
#include "trace/operation_timeline/operation_timeline.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace orrery {
namespace {

constexpr const char* kThread =
    R"({"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"PP rank 1, TP rank 0, compute"}})";
constexpr const char* kForward =
    R"({"ph":"X","name":"forward-compute","pid":0,"tid":0,"ts":10,"dur":5,"args":{"step":7,"model_chunk":0,"mb_id":2,"seq_id":3}})";

std::string timeline_error(const std::string& json) {
  const auto timeline = parse_operation_timeline(json, "t.json");
  return timeline ? "" : timeline.error().text();
}

TEST(OperationTimeline, HoldsTypePlaceAndTime) {
  const auto timeline =
      parse_operation_timeline(std::string("[") + kForward + "," + kThread + "]", "t.json");
  ASSERT_TRUE(timeline.has_value()) << timeline.error().text();
  ASSERT_EQ(timeline->operations.size(), 1U);
  const TimedOperation& o = timeline->operations[0];
  EXPECT_EQ(o.type, OperationType::forward_compute);
  EXPECT_EQ(o.stage, 1);
  EXPECT_EQ(o.step, 7);
  EXPECT_EQ(o.microbatch, 2);
  EXPECT_EQ(o.sequence, 3);
  EXPECT_DOUBLE_EQ(o.start.value(), 10e-6);
  EXPECT_DOUBLE_EQ(o.end.value(), 15e-6);
  EXPECT_EQ(timeline->stages, 2);
}

// README of validation/traces/StragglerAnalysis: DP 2 x PP 4, 6784 operations, 32 steps.
TEST(OperationTimeline, ReadsThePublishedJob) {
  const auto timeline = read_operation_timeline(
      std::string(ORRERY_SOURCE_DIR) + "/validation/traces/StragglerAnalysis/timeline-ST.json.gz");
  ASSERT_TRUE(timeline.has_value()) << timeline.error().text();
  EXPECT_EQ(timeline->operations.size(), 6784U);
  EXPECT_EQ(timeline->stages, 4);
  EXPECT_EQ(timeline->data_parallel_ranks, 2);
  EXPECT_EQ(std::count_if(timeline->operations.begin(), timeline->operations.end(),
                          [](const auto& o) { return o.type == OperationType::backward_recv; }),
            768);
}

TEST(OperationTimeline, TakesNullForWhatIsNotKnown) {
  const auto timeline = parse_operation_timeline(
      std::string("[") + kThread +
          R"(,{"ph":"X","name":"gc","pid":0,"tid":0,"ts":1,"dur":2,)"
          R"("args":{"step":4,"model_chunk":null,"mb_id":null,"seq_id":0}}])",
      "t.json");
  ASSERT_TRUE(timeline) << timeline.error().text();
  EXPECT_EQ(timeline->operations[0].chunk, -1);
  EXPECT_EQ(timeline->operations[0].microbatch, -1);
}

TEST(OperationTimeline, CountsNegativeDurations) {
  std::string backwards = kForward;
  backwards.replace(backwards.find("\"dur\":5"), 7, "\"dur\":-5");
  backwards.replace(backwards.find("\"seq_id\":3"), 10, "\"seq_id\":4");
  const std::string json = std::string("[") + kThread + "," + kForward + "," + backwards + "]";
  const auto timeline = parse_operation_timeline(json, "t.json");
  ASSERT_TRUE(timeline) << timeline.error().text();
  EXPECT_EQ(timeline->negative_durations, std::vector<std::int32_t>{7});
  ASSERT_EQ(timeline->operations.size(), 2U);
  EXPECT_EQ(timeline->operations[1].start, timeline->operations[1].end);
  const auto part = parse_operation_timeline(json, "t.json", Incomplete::use_what_is_whole);
  ASSERT_TRUE(part) << part.error().text();
  EXPECT_EQ(part->negative_durations, std::vector<std::int32_t>{7});
  EXPECT_EQ(part->operations.size(), 1U);
}

TEST(OperationTimeline, RefusesWhatItIsNot) {
  EXPECT_EQ(timeline_error("{}"),
            "t.json: no JSON array of events (an operation timeline is a JSON array)");
  EXPECT_EQ(timeline_error("[1]"),
            "t.json: entry 0 is not an event (objects with ph, pid, tid, args)");
  EXPECT_EQ(timeline_error("[]"), "t.json: no operations (events of phase X)");
  EXPECT_EQ(timeline_error(R"([{"ph":"X","name":"gemm"}])"),
            "t.json: entry 0: unknown operation 'gemm' (forward-compute, backward-send, "
            "params-all-gather, optimizer, ...)");
  EXPECT_EQ(timeline_error(R"([{"ph":"X","name":"gc","pid":0}])"),
            "t.json: entry 0: an operation without its place (pid, and args with step, "
            "model_chunk, mb_id and seq_id)");
  EXPECT_EQ(timeline_error(
                R"([{"ph":"X","name":"gc","pid":0,"tid":0,"ts":1,"args":{"step":0,"seq_id":0}}])"),
            "t.json: entry 0: no start and duration (ts and dur in microseconds)");
  EXPECT_EQ(
      timeline_error(std::string("[") + kForward + "]"),
      "t.json: thread 0 of process 0 has no name (a thread_name event for every thread; where "
      "the file is cut, they may be in what is lost)");
  EXPECT_EQ(timeline_error(std::string("[") + kThread + "," + kForward + "," + kForward + "]"),
            "t.json: forward-compute 3 of step 7, stage 1, data-parallel rank 0 is there twice "
            "(each operation once)");
  EXPECT_EQ(
      timeline_error(R"([{"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"main"}}])"),
      "t.json: thread 'main' names no stage (\"PP rank 0, TP rank 0, compute\")");
  EXPECT_NE(timeline_error(std::string("[") + kThread + "," + kForward), "");
}

TEST(OperationTimeline, UsesWhatIsWholeOfACutFile) {
  const std::string whole = std::string("[") + kThread + "," + kForward;
  for (const std::string& cut : {whole, whole + ",", whole + R"(, {"ph": "X)"}) {
    EXPECT_THAT(timeline_error(cut),
                ::testing::HasSubstr("t.json: byte " + std::to_string(cut.size()) +
                                     ": the file ends in the middle"));
    const auto part = parse_operation_timeline(cut, "t.json", Incomplete::use_what_is_whole);
    ASSERT_TRUE(part) << part.error().text();
    EXPECT_EQ(part->operations.size(), 1U);
  }
}

}  // namespace
}  // namespace orrery
