#include "validate/impossible_measurement.h"

#include <gtest/gtest.h>

#include "measured/scenario_of_row.h"

namespace orrery {
namespace {

// 8 H100 at 400 TFLOP/s each would take about 1.3 s for 8 x 8,192 tokens of Llama 3 8B.
MeasuredRow run_of(double seconds) {
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
  return row;
}

std::string judged(const MeasuredRow& row) {
  const auto scenario = scenario_of_row(row, Catalog::built_in());
  if (!scenario) return "no scenario: " + scenario.error().because;
  return impossible_measurement(row, scenario->scenario);
}

std::string judged(double seconds, std::optional<double> tokens_per_s_per_gpu = std::nullopt) {
  MeasuredRow row = run_of(seconds);
  row.tokens_per_s_per_gpu = tokens_per_s_per_gpu;
  return judged(row);
}

TEST(ImpossibleMeasurement, IsAStepBeyondThePeakOrAThousandthOfIt) {
  EXPECT_EQ(judged(1.3), "");
  EXPECT_EQ(judged(20), "");
  // 65,536 tokens x 6 x 7.5e9 parameters without the embedding, and attention, over 8 x 989e12.
  EXPECT_EQ(judged(1.3e-3), "run-1: a step of 0.0013 s is 328 times the peak rate: wrong unit?");
  EXPECT_NE(judged(1300).find("% of the peak rate: wrong unit?"), std::string::npos);
}

TEST(ImpossibleMeasurement, IsAFormatThatTheAcceleratorLacks) {
  MeasuredRow row = run_of(1.3);
  row.precision = "mxfp8";
  EXPECT_EQ(judged(row),
            "run-1: precision is 'mxfp8', but h100-sxm has no mxfp8 units; its number formats are "
            "bf16, fp16, fp8, fp32, tf32, fp64");
  row.status = "oom";
  row.step_time.reset();
  EXPECT_NE(judged(row), "");
  row.accelerator = "gb200";
  EXPECT_EQ(judged(row), "");
}

TEST(ImpossibleMeasurement, IsAStepThatItsOwnThroughputContradicts) {
  EXPECT_EQ(judged(1.3, 8192 / 1.3), "");
  EXPECT_EQ(judged(1.3, 1.9 * 8192 / 1.3), "");
  EXPECT_EQ(judged(1.3, 8 * 8192 / 1.3),
            "run-1: tokens_per_s_per_gpu is 5.041e+04, but a step of 1.3 s gives 6302");
}

// 8 sequences in 1.3 s are 6.15 a second; a table may print 6, and 0 for 0.4.
TEST(ImpossibleMeasurement, IsOneThatItsOwnSamplesContradict) {
  MeasuredRow row = run_of(1.3);
  for (const double possible : {6.15, 6.0, 3.2, 12.0}) {
    row.samples_per_s = possible;
    EXPECT_EQ(judged(row), "") << possible;
  }
  row.samples_per_s = 49;
  EXPECT_EQ(judged(row), "run-1: samples_per_s is 49, but a step of 1.3 s gives 6.154");
  row.samples_per_s = 0.77;
  EXPECT_EQ(judged(row), "run-1: samples_per_s is 0.77, but a step of 1.3 s gives 6.154");
  row = run_of(20);
  row.samples_per_s = 0;
  EXPECT_EQ(judged(row), "");
}

// 32.7 % by the count of this project; others count attention in full, or a recomputation.
TEST(ImpossibleMeasurement, IsAUtilizationOfAnotherOrder) {
  MeasuredRow row = run_of(1.3);
  row.mfu_percent = 45;
  row.hfu_percent = 60;
  EXPECT_EQ(judged(row), "");
  row.mfu_percent = 0.45;
  EXPECT_EQ(judged(row), "run-1: mfu_percent is 0.45, but a step of 1.3 s gives 32.8");
  row.mfu_percent.reset();
  row.hfu_percent = 0.6;
  EXPECT_EQ(judged(row), "run-1: hfu_percent is 0.6, but a step of 1.3 s gives 32.8");
  row = run_of(1.3);
  row.tflops_per_gpu = FlopsPerSecond(0.4e12);
  EXPECT_EQ(judged(row), "run-1: tflops_per_gpu is 0.4, but a step of 1.3 s gives 324.3");
}

TEST(ImpossibleMeasurement, IsOneBeyondTheAccelerator) {
  constexpr double kGibibyte = 1024.0 * 1024 * 1024;
  MeasuredRow row = run_of(1.3);
  row.memory_per_gpu = Bytes(85.9 * kGibibyte);  // 80 GiB in GB
  EXPECT_EQ(judged(row), "");
  row.memory_per_gpu = Bytes(800 * kGibibyte);
  EXPECT_EQ(judged(row), "run-1: memory_per_gpu_gib is 800, but h100-sxm has 80 GiB: wrong unit?");
  row.step_time.reset();  // memory is judged without a step time too
  EXPECT_NE(judged(row), "");
  row.status = "oom";  // what was asked for may be more than there is
  EXPECT_EQ(judged(row), "");
  row = run_of(1.3);
  row.tflops_per_gpu = FlopsPerSecond(1500e12);
  EXPECT_EQ(judged(row), "run-1: tflops_per_gpu is 1500, but the peak of h100-sxm in bf16 is 989");
}

}  // namespace
}  // namespace orrery
