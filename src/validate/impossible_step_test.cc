#include "validate/impossible_step.h"

#include <gtest/gtest.h>

#include "validate/scenario_of_row.h"

namespace orrery {
namespace {

// 8 H100 at 400 TFLOP/s each would take about 1.3 s for 8 x 8,192 tokens of Llama 3 8B.
std::string judged(double seconds, std::optional<double> tokens_per_s_per_gpu = std::nullopt) {
  MeasuredRow row;
  row.row_id = "run-1";
  row.catalog_model = row.model = "llama-3-8b";
  row.accelerator = "h100-sxm";
  row.num_gpus = 8;
  row.precision = "bf16";
  row.seq_len = 8192;
  row.tp = row.pp = row.micro_batch = 1;
  row.global_batch = 8;
  row.recompute = "none";
  row.step_time = Seconds(seconds);
  row.tokens_per_s_per_gpu = tokens_per_s_per_gpu;
  const auto scenario = scenario_of_row(row, Catalog::built_in());
  if (!scenario) return "no scenario: " + scenario.error().because;
  return impossible_step(row, scenario->scenario);
}

TEST(ImpossibleStep, IsOneBeyondThePeakOrAThousandthOfIt) {
  EXPECT_EQ(judged(1.3), "");
  EXPECT_EQ(judged(20), "");
  // 65,536 tokens x 6 x 7.5e9 parameters without the embedding, and attention, over 8 x 989e12.
  EXPECT_EQ(judged(1.3e-3), "run-1: a step of 0.0013 s is 328 times the peak rate: wrong unit?");
  EXPECT_NE(judged(1300).find("% of the peak rate: wrong unit?"), std::string::npos);
}

TEST(ImpossibleStep, IsOneThatItsOwnThroughputContradicts) {
  EXPECT_EQ(judged(1.3, 8192 / 1.3), "");
  EXPECT_EQ(judged(1.3, 1.9 * 8192 / 1.3), "");
  EXPECT_EQ(judged(1.3, 8 * 8192 / 1.3),
            "run-1: tokens_per_s_per_gpu is 5.041e+04, but a step of 1.3 s gives 6302");
}

}  // namespace
}  // namespace orrery
