// Operation timelines replayed: the published answers of two production jobs, step by step, and
// small jobs with known ones.
#include "replay/operation_replay.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "document/value.h"
#include "trace/byte_stream.h"

namespace orrery {
namespace {

std::string folder() { return ORRERY_SOURCE_DIR "/validation/traces/StragglerAnalysis/"; }

Document published(const std::string& job) {
  auto stream = ByteStream::open(folder() + "result-" + job + ".json.gz");
  EXPECT_TRUE(stream.has_value());
  std::string text(std::size_t{4} << 20, ' ');
  std::size_t size = 0;
  for (std::size_t got = 1; got > 0; size += got) {
    got = stream->read(text.data() + size, text.size() - size).value();
  }
  text.resize(size);
  auto document = parse_json(text, job);
  EXPECT_TRUE(document.has_value()) << document.error().text();
  return std::move(*document);
}

double number(const Value& map, const std::string& key) {
  const Value* value = map.find(key);
  EXPECT_NE(value, nullptr) << key;
  return value == nullptr ? std::nan("") : std::stod(value->scalar_text());
}

double of_part(const std::vector<PartSlowdown>& parts, const std::string& part) {
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [&](const PartSlowdown& p) { return p.part == part; });
  EXPECT_NE(found, parts.end()) << part;
  return found == parts.end() ? std::nan("") : found->slowdown;
}

// What is left out of a step does not change the graph that the other steps share.
TEST(OperationReplay, DoesNotBuildItsGraphFromAStepThatLacksOperations) {
  auto timeline = read_operation_timeline(folder() + "timeline-ST.json.gz");
  ASSERT_TRUE(timeline) << timeline.error().text();
  const auto whole = replay_operations(*timeline);
  timeline->negative_durations = {timeline->operations.front().step};
  timeline->operations.erase(timeline->operations.begin());
  const auto lacking = replay_operations(*timeline);
  ASSERT_TRUE(whole && lacking);
  EXPECT_EQ(lacking->incomplete_steps, whole->incomplete_steps + 1);
  EXPECT_EQ(lacking->negative_durations, 1U);
  EXPECT_NEAR(lacking->slowdown, whole->slowdown, 0.05);
}

class PublishedJobs : public testing::TestWithParam<const char*> {};

TEST_P(PublishedJobs, AreReplayedAndAttributed) {
  const auto timeline = read_operation_timeline(folder() + "timeline-" + GetParam() + ".json.gz");
  ASSERT_TRUE(timeline.has_value()) << timeline.error().text();
  const auto replay = replay_operations(*timeline);
  ASSERT_TRUE(replay.has_value()) << replay.error().text();
  const Document answer = published(GetParam());
  const Value& base = *answer.root.find("step_t_base");
  const Value& no_delay = *answer.root.find("step_t_nodelay");
  const Value& ideal = *answer.root.find("step_t_noblk");
  for (const ReplayedOperationStep& s : replay->steps) {
    const std::string key = std::to_string(s.step);
    EXPECT_NEAR(s.base.value(), number(base, key), 1e-3) << key;
    EXPECT_NEAR(s.no_delay.value(), number(no_delay, key), 1e-4) << key;
    EXPECT_NEAR(s.ideal.value(), number(ideal, key), 1e-4) << key;
  }
  EXPECT_NEAR(replay->slowdown, number(answer.root, "blocking_slowdown"), 1e-5);
  EXPECT_NEAR(replay->launch_slowdown, number(answer.root, "launch_slowdown"), 1e-4);
  const Value& ranks = *answer.root.find("blocking_decompose_by_dp_rank");
  for (const PartSlowdown& p : replay->by_data_parallel_rank) {
    EXPECT_NEAR(p.slowdown, number(ranks, p.part), 1e-4) << p.part;
  }
  const Value& stages = *answer.root.find("blocking_decompose_by_stage");
  for (const PartSlowdown& p : replay->by_stage) {
    EXPECT_NEAR(p.slowdown, number(stages, p.part), 1e-4) << p.part;
  }
  const Value& types = *answer.root.find("blocking_decompose_by_optype");
  for (const PartSlowdown& p : replay->by_type) {
    EXPECT_NEAR(p.slowdown, number(types, p.part), 1e-4) << p.part;
  }
}

INSTANTIATE_TEST_SUITE_P(StragglerAnalysis, PublishedJobs, testing::Values("ST", "AR"));

// AR has one artificially slowed worker; ST a long last stage.
TEST(OperationReplay, NamesTheWorkerThatSlowsTheJob) {
  const auto slowed = read_operation_timeline(folder() + "timeline-AR.json.gz");
  ASSERT_TRUE(slowed.has_value());
  const auto one_worker = replay_operations(*slowed);
  ASSERT_TRUE(one_worker.has_value());
  EXPECT_EQ(one_worker->by_worker.front().part, "rank 0, stage 0");
  EXPECT_GT(one_worker->by_worker.front().slowdown, 1.9);
  EXPECT_LT(one_worker->by_worker[1].slowdown, 1.05);
  const auto uneven = read_operation_timeline(folder() + "timeline-ST.json.gz");
  ASSERT_TRUE(uneven.has_value());
  EXPECT_EQ(replay_operations(*uneven)->by_stage.front().part, "3");
}

// Two ranks, one stage, two steps: rank 1's forward takes 30 ms where rank 0's takes 10.
OperationTimeline small_job() {
  OperationTimeline timeline;
  timeline.data_parallel_ranks = 2;
  timeline.stages = 1;
  for (const int step : {0, 1}) {
    for (const int rank : {0, 1}) {
      const double forward = rank == 0 ? 0.010 : 0.030;
      const auto add = [&](OperationType type, double start, double end) {
        timeline.operations.push_back(
            {type, rank, 0, step, -1, -1, 0, Seconds(start), Seconds(end)});
      };
      add(OperationType::forward_compute, 0, forward);
      add(OperationType::grads_reduce_scatter, forward, 0.035);
    }
  }
  return timeline;
}

TEST(OperationReplay, ASlowRankCostsWhatItIsSlowerThanTheMean) {
  const auto replay = replay_operations(small_job());
  ASSERT_TRUE(replay.has_value()) << replay.error().text();
  ASSERT_EQ(replay->steps.size(), 2U);
  EXPECT_NEAR(replay->steps[0].base.value(), 0.035, 1e-12);
  // 20 ms on average, and 5 ms of transfer: the slow rank arrives at 30 ms, all leave at 35.
  EXPECT_NEAR(replay->steps[0].ideal.value(), 0.025, 1e-12);
  EXPECT_NEAR(replay->slowdown, 1.4, 1e-9);
  EXPECT_NEAR(of_part(replay->by_data_parallel_rank, "1"), 1.4, 1e-9);
  EXPECT_NEAR(of_part(replay->by_data_parallel_rank, "0"), 1.0, 1e-9);
  EXPECT_NEAR(of_part(replay->by_type, "grads-reduce-scatter"), 1.0, 1e-9);
}

TEST(OperationReplay, StepsThatLackAnOperationAreLeftOut) {
  OperationTimeline timeline = small_job();
  timeline.operations.pop_back();
  const auto replay = replay_operations(timeline);
  ASSERT_TRUE(replay.has_value());
  EXPECT_EQ(replay->steps.size(), 1U);
  EXPECT_EQ(replay->incomplete_steps, 1U);
}

// Two stages of two chunks, two micro-batches, all forward passes first: 10 ms a pass, 1 ms a
// transfer. Chunk 1 of stage 0 waits for chunk 0 of stage 1, forward and, reversed, backward.
OperationTimeline interleaved_job() {
  struct Pass {
    OperationType type;
    std::int32_t stage;
    std::int32_t chunk;
    std::int32_t microbatch;
    int start_ms;
    bool receives;
    bool sends;
  };
  constexpr auto kForward = OperationType::forward_compute;
  constexpr auto kBackward = OperationType::backward_compute;
  const std::vector<Pass> passes = {
      {kForward, 0, 0, 0, 0, false, true},   {kForward, 0, 0, 1, 10, false, true},
      {kForward, 0, 1, 0, 22, true, true},   {kForward, 0, 1, 1, 32, true, true},
      {kForward, 1, 0, 0, 11, true, true},   {kForward, 1, 0, 1, 21, true, true},
      {kForward, 1, 1, 0, 33, true, false},  {kForward, 1, 1, 1, 43, true, false},
      {kBackward, 1, 1, 0, 53, false, true}, {kBackward, 1, 1, 1, 63, false, true},
      {kBackward, 0, 1, 0, 64, true, true},  {kBackward, 0, 1, 1, 74, true, true},
      {kBackward, 1, 0, 0, 75, true, true},  {kBackward, 1, 0, 1, 85, true, true},
      {kBackward, 0, 0, 0, 86, true, false}, {kBackward, 0, 0, 1, 96, true, false}};
  const auto ms = [](int n) { return Seconds(n * 1e-3); };
  OperationTimeline job;
  job.data_parallel_ranks = 1;
  job.stages = 2;
  std::map<std::pair<OperationType, std::int32_t>, std::int32_t> count;
  const auto add = [&](OperationType type, const Pass& pass, bool names, int start, int end) {
    job.operations.push_back({type, 0, pass.stage, 1, names ? pass.chunk : -1,
                              names ? pass.microbatch : -1, count[{type, pass.stage}]++, ms(start),
                              ms(end)});
  };
  for (const Pass& pass : passes) {
    const bool forward = pass.type == kForward;
    const int end = pass.start_ms + 10;
    add(pass.type, pass, true, pass.start_ms, end);
    if (pass.receives) {
      add(forward ? OperationType::forward_recv : OperationType::backward_recv, pass, false,
          pass.start_ms - 1, pass.start_ms);
    }
    if (pass.sends) {
      add(forward ? OperationType::forward_send : OperationType::backward_send, pass, false, end,
          end + 1);
    }
  }
  std::stable_sort(job.operations.begin(), job.operations.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.stage, a.type, a.sequence) < std::tuple(b.stage, b.type, b.sequence);
  });
  return job;
}

TEST(OperationReplay, ChunksOfAnInterleavedScheduleFollowEachOtherRoundTheStages) {
  const auto replay = replay_operations(interleaved_job());
  ASSERT_TRUE(replay.has_value()) << replay.error().text();
  ASSERT_EQ(replay->steps.size(), 1U);
  EXPECT_NEAR(replay->steps[0].base.value(), 0.106, 1e-9);
  // A receive waits for the pass before it, where some of these began earlier: 1 ms forward, 1 ms
  // backward.
  EXPECT_NEAR(replay->steps[0].no_delay.value(), 0.108, 1e-9);
  EXPECT_NEAR(replay->steps[0].ideal.value(), 0.108, 1e-9);
}

TEST(OperationReplay, RefusesInterleavedSchedulesThatDoNotFitAndUnpairedTransfers) {
  OperationTimeline timeline = interleaved_job();
  std::erase_if(timeline.operations, [](const TimedOperation& o) {
    return o.type == OperationType::forward_recv && o.stage == 0 && o.sequence == 0;
  });
  EXPECT_EQ(replay_operations(timeline).error().text(),
            "4 sends and 1 receives of stage 0, whose 4 passes of 2 model chunks send 4 and "
            "receive 2 times (one send and one receive a pass, but at the ends of the model)");
  OperationTimeline unpaired = small_job();
  unpaired.stages = 2;
  unpaired.operations.push_back(
      {OperationType::forward_compute, 0, 1, 0, -1, -1, 0, Seconds(0.01), Seconds(0.02)});
  unpaired.operations.push_back(
      {OperationType::forward_recv, 0, 1, 0, -1, -1, 0, Seconds(0.005), Seconds(0.01)});
  EXPECT_EQ(replay_operations(unpaired).error().text(),
            "0 sends of stage 0 and 1 receives of stage 1 (as many receives as sends)");
}

}  // namespace
}  // namespace orrery
