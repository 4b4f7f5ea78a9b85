#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <random>

#include "report/plans/plan_reports.h"
#include "report/plans/sample_estimate.h"

namespace orrery {
namespace {

// Decimal seconds as whole picoseconds, without floating point.
std::int64_t picoseconds(const std::string& seconds) {
  const std::size_t point = seconds.find('.');
  std::string fraction = point == std::string::npos ? "" : seconds.substr(point + 1);
  EXPECT_LE(fraction.size(), 12u);
  fraction.resize(12, '0');
  return std::stoll(seconds.substr(0, point)) * 1'000'000'000'000 + std::stoll(fraction);
}

std::int64_t sum(const Value& v) {
  if (v.is_scalar()) return picoseconds(v.scalar_text());
  std::int64_t out = 0;
  for (const auto& [key, member] : v.members()) out += sum(member);
  return out;
}

TEST(EstimateJson, BreakdownAddsUpToTheStepTimeExactly) {
  std::mt19937_64 random(2);
  for (int draw = 0; draw < 200; ++draw) {
    Estimate e = sample_estimate();
    // Up to seconds in ticks of 1 ps, or to days in ticks of 512 ps.
    const double tick = draw % 2 == 0 ? 1 : 512;
    const std::uint64_t most = draw % 2 == 0 ? 3'000'000'000'000 : 200'000'000'000'000;
    for (std::size_t c = 0; c < kCategories; ++c) {
      e.breakdown.time[c] = Picoseconds(static_cast<double>(random() % (most + 1)) * tick);
    }
    e.step_time = e.breakdown.total().seconds();
    const auto document = parse_json(to_json(estimate_json(e, sample_subject())), "e.json");
    ASSERT_TRUE(document.has_value());
    EXPECT_EQ(sum(*document->root.find("breakdown_s")),
              picoseconds(document->root.find("step_time_s")->scalar_text()));
  }
}

TEST(EstimateJson, NamesTheWorkloadThatIsNotTraining) {
  Estimate e = sample_estimate();
  EXPECT_EQ(estimate_json(e, sample_subject()).find("workload"), nullptr);
  e.training.workload = Workload::forward;
  EXPECT_EQ(estimate_json(e, sample_subject()).find("workload")->scalar_text(), "forward");
}

TEST(EstimateJson, StatesWhatScriptsReadSinceTheFirstDay) {
  const Value v = estimate_json(sample_estimate(), sample_subject());
  const auto text = [&](const char* key) { return v.find(key)->scalar_text(); };
  EXPECT_EQ(text("schema_version"), "1");
  EXPECT_EQ(text("step_time_s"), "8.0");
  EXPECT_EQ(text("mfu"), "0.40444");
  EXPECT_EQ(text("tflops_per_gpu"), "400");
  EXPECT_EQ(text("tokens_per_s"), "2097152");
  EXPECT_EQ(text("peak_memory_bytes"), std::to_string(std::int64_t{58} << 30));
  EXPECT_EQ(text("fits"), "true");
  EXPECT_EQ(text("verdict"), "fits");
  EXPECT_EQ(v.find("breakdown_s")->find("compute")->find("feed_forward")->scalar_text(), "3.4");
  EXPECT_EQ(v.find("breakdown_s")->find("exposed_communication")->find("tp")->scalar_text(),
            "0.64");
  EXPECT_EQ(v.find("plan")->find("cp")->scalar_text(), "1") << "defaults are written too";
  EXPECT_EQ(v.find("plan")->find("overlap")->find("pipeline")->scalar_text(), "true");
  EXPECT_EQ(v.find("stages")->items().size(), 16u);
  EXPECT_EQ(v.find("assumed")->items().size(), 3u);
}

TEST(EstimateJson, AFigureThatCannotBeStatedIsNull) {
  Estimate e = sample_estimate();
  e.mfu = std::numeric_limits<double>::infinity();
  EXPECT_EQ(estimate_json(e, sample_subject()).find("mfu")->kind(), Value::Kind::null);
  const auto level = [&] { return *estimate_json(e, sample_subject()).find("interval_level"); };
  EXPECT_EQ(level().scalar_text(), "0.9");
  e.interval.calibrated = false;
  EXPECT_EQ(level().kind(), Value::Kind::null);
}

TEST(EstimateJson, VerdictsAreWrittenWithHyphens) {
  Estimate e = sample_estimate();
  e.verdict = Verdict::does_not_fit;
  const Value v = estimate_json(e, sample_subject());
  EXPECT_EQ(v.find("verdict")->scalar_text(), "does-not-fit");
  EXPECT_EQ(v.find("fits")->scalar_text(), "false");
}

TEST(EstimateJson, PlanReadsBack) {
  const Estimate e = sample_estimate();
  const auto plan = read<Plan>(Document{"plan", *estimate_json(e, sample_subject()).find("plan")});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(*plan, e.plan);
}

}  // namespace
}  // namespace orrery
