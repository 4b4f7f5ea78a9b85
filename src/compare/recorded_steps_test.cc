// Profiles of real recordings against the published figures of validation/traces/metrics.json.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>

#include "compare/difference.h"
#include "document/value.h"
#include "trace/published_traces.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

double number(const Value& value, const char* key) {
  const std::string& text = value.find(key)->scalar_text();
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

RecordedRun run_of(const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) paths.push_back(kTraces + file);
  auto run = read_run(paths);
  EXPECT_TRUE(run) << run.error().text();
  return run ? std::move(*run) : RecordedRun{};
}

std::int64_t booked_ns(const StepProfile& profile) {
  std::int64_t sum = profile.end_ns;
  for (const ProfileLine& line : profile.lines) sum += line.times.contribution_ns();
  return sum;
}

TEST(RecordedSteps, HaveThePublishedPartsAndAddUp) {
  const auto metrics = read_document(kTraces + "metrics.json");
  ASSERT_TRUE(metrics) << metrics.error().text();
  int steps = 0;
  for (const char* file : {"HolisticTraceAnalysis/nccl_parser_config/nccl_data.json.gz",
                           "HolisticTraceAnalysis/trace_filter/sampled_rank-0.json.gz",
                           "TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
                           "TraceLens/mi300/resnet_act_checkpoint.json.gz",
                           "megatron-lm-fork/tp2/kineto_rank1.json.gz",
                           "torchrec/sst_long_a2a_optimizer/kineto_rank0.json.gz",
                           "torchrec/sst_long_a2a_optimizer_4/kineto_rank2.json.gz",
                           "astra-sim/megatron-tp8/kineto_rank3.json.gz"}) {
    const RecordedRun run = run_of({file});
    ASSERT_EQ(run.ranks.size(), 1u);
    for (const Value& step : metrics->root.find(file)->find("per_step")->items()) {
      const std::string number_text = step.find("step")->scalar_text().substr(1);
      ProfileOptions options;
      options.step = std::stoll(number_text);
      const auto profile = step_profile(run.ranks, options);
      ASSERT_TRUE(profile) << file << ": " << profile.error().text();
      const StepParts p = parts(*profile);
      const std::string where = fmt::format("{} #{}", file, number_text);
      // Published to the microsecond.
      EXPECT_NEAR(profile->per_step_s(profile->step_ns) * 1e3, number(step, "wall_ms"), 0.0006)
          << where;
      EXPECT_NEAR(p.exposed_communication.value() * 1e3, number(step, "exposed_comm_ms"), 0.0006)
          << where;
      EXPECT_NEAR((p.computing + p.exposed_communication).value() * 1e3,
                  number(step, "kernel_busy_ms"), 0.0011)
          << where;
      EXPECT_EQ(booked_ns(*profile), profile->step_ns) << where;
      ++steps;
    }
  }
  EXPECT_EQ(steps, 17);
}

TEST(RecordedSteps, OfOtherRunsDifferByTheSumOfTheirRows) {
  const auto files = [](const std::string& folder) {
    std::vector<std::string> out;
    for (int rank = 0; rank < 4; ++rank) {
      out.push_back(fmt::format("torchrec/{}/kineto_rank{}.json.gz", folder, rank));
    }
    return out;
  };
  const RecordedRun before = run_of(files("sst_long_a2a_optimizer_2"));
  const RecordedRun after = run_of(files("sst_long_a2a_optimizer"));
  const Difference d = difference(*step_profile(before.ranks), *step_profile(after.ranks));
  Seconds sum = d.end_second() - d.end_first();
  Seconds waiting;
  for (const DifferenceRow& row : d.rows) {
    sum += row.difference();
    Seconds causes;
    for (const Seconds cause : row.causes) causes += cause;
    EXPECT_NEAR(causes.value(), row.difference().value(), 1e-12);
    waiting += row[DifferenceCause::waiting];
  }
  EXPECT_NEAR(sum.value(), (d.step_second() - d.step_first()).value(), 1e-9);
  // The run's own description: about 1 s of a step is waiting for rank 2 (on three of four ranks).
  EXPECT_GT(waiting.value(), 0.7);
  EXPECT_LT(waiting.value(), 0.8);
}

TEST(RecordedSteps, OfTwoAcceleratorsAlignByOperatorAndShape) {
  const RecordedRun h100 = run_of({"TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"});
  const RecordedRun mi300 = run_of({"TraceLens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"});
  const Difference d = difference(*step_profile(h100.ranks), *step_profile(mi300.ranks));
  // Nearly all that was launched in the recordings is the same operator with the same shapes.
  double same = 0;
  double whole = 0;
  for (const DifferenceRow& row : d.rows) {
    whole += row.contribution_first.value();
    if (row.alignment == Alignment::same) same += row.contribution_first.value();
  }
  EXPECT_GT(same / whole, 0.7);
}

}  // namespace
}  // namespace orrery
