#include <gmock/gmock.h>

#include <sstream>

#include "report/plans/plan_reports.h"
#include "report/plans/sample_estimate.h"

namespace orrery {
namespace {

using testing::HasSubstr;

TEST(EstimateText, OpensWithTheHeadline) {
  EXPECT_EQ(headline_text(sample_estimate(), sample_subject(), {.width = 100}),
            "  llama-3.1-405b on h100-sxm:16384\n"
            "  406 B parameters · 2.68 TFLOP a token\n"
            "  16,384 GPUs · 16 microbatches a step · sequence 8,192 · global batch 2,048 · bf16 · "
            "adamw\n"
            "  tp 8 · pp 16 × 4 chunks · dp 128 · micro-batch 1 · interleaved_1f1b · zero 1 · "
            "recompute none\n"
            "\n"
            "  step time  8.00 s                  HFU        41.0 %\n"
            "  MFU        40.4 %                  memory     58.0 GiB of 80.0 GiB\n"
            "  achieved   400 TFLOP/s per GPU     verdict    ✓ fits\n"
            "  throughput 2.10 M tokens/s         90 % in    7.20 s to 8.80 s\n"
            "  interval from errors of 6 % of the whole step. 2 sources measured dense steps on "
            "hopper; the\n"
            "  nearest measured step is 70 B parameters on 512 h100-sxm\n");
}

TEST(EstimateText, BreakdownAddsUp) {
  const std::string text = breakdown_text(sample_estimate(), {.width = 60});
  EXPECT_THAT(text, HasSubstr("computing                 5.60 s   70.1 %"));
  EXPECT_THAT(text, HasSubstr("  feed-forward            3.40 s   42.5 %"));
  EXPECT_THAT(text, HasSubstr("exposed communication     1.00 s   12.4 %"));
  EXPECT_THAT(text, HasSubstr("pipeline bubble           1.25 s   15.6 %"));
  EXPECT_THAT(text, HasSubstr("step                      8.00 s  100.0 %"));
  EXPECT_THAT(text, HasSubstr("stage 1 of 16, the last to end"));
}

TEST(EstimateText, MemoryNamesTheStageAndTheMoment) {
  const std::string text = memory_text(sample_estimate(), {}, {.width = 100});
  EXPECT_THAT(text, HasSubstr("stage 0, the fullest: backward of microbatch 0"));
  EXPECT_THAT(text, HasSubstr("activations in flight  32.0 GiB       40.0 %"));
  EXPECT_THAT(text, HasSubstr("peak                   58.0 GiB       72.5 %"));
  EXPECT_THAT(text, HasSubstr("at worst               60.0 GiB       75.0 %"));
}

TEST(EstimateText, EqualStagesShareARow) {
  Estimate e = sample_estimate();
  for (StageReport& stage : e.stages) stage = e.stages[1];
  ASSERT_EQ(equal_stages(e).size(), 1u);
  EXPECT_EQ(range_words(equal_stages(e)[0]), "0-15");
  EXPECT_EQ(equal_stages(sample_estimate()).size(), 16u);
  EXPECT_EQ(layers_words(sample_estimate().stages[0]), "2+2+2+1");
  EXPECT_EQ(layers_words(sample_estimate().stages[1]), "4 x 2");
}

TEST(EstimateText, NeverExceedsTheWidth) {
  for (const int width : {20, 31, 47, 60, 80, 100, 140, 220}) {
    std::istringstream lines(estimate_text(sample_estimate(), sample_subject(), {.width = width}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(EstimateText, HasEscapeCodesOnlyWithColour) {
  const Estimate e = sample_estimate();
  EXPECT_EQ(estimate_text(e, sample_subject(), {.width = 100}).find('\x1b'), std::string::npos);
  EXPECT_NE(estimate_text(e, sample_subject(), {.width = 100, .colour = true}).find('\x1b'),
            std::string::npos);
}

TEST(EstimateText, SaysThatAPlanDoesNotFit) {
  Estimate e = sample_estimate();
  e.verdict = Verdict::does_not_fit;
  EXPECT_THAT(headline_text(e, sample_subject(), {.width = 100}), HasSubstr("✗ does not fit"));
  e.verdict = Verdict::tight;
  EXPECT_THAT(headline_text(e, sample_subject(), {.width = 100}), HasSubstr("! tight"));
}

TEST(EstimateText, TakesAnEmptyEstimate) {
  EXPECT_THAT(estimate_text({}, {"m", "c"}, {.width = 80}), HasSubstr("m on c"));
}

TEST(EstimateText, NamesFromOutsideCannotMoveTheCursor) {
  const std::string text =
      estimate_text(sample_estimate(), {"evil\x1b[2J\nname", "c"}, {.width = 100});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("evil\uFFFD[2J name on c"));
}

TEST(DerivationsText, ShowsFormulaInputsAndSource) {
  const Derivation d = {"mfu", "model FLOPs / (step time x GPUs x peak)", "1 / 2", "50.0 %",
                        "arXiv 2204.02311"};
  EXPECT_EQ(derivations_text({&d, 1}, {.width = 80}),
            "\n  Derivations\n"
            "\n  mfu = 50.0 %\n"
            "    model FLOPs / (step time x GPUs x peak)\n"
            "    = 1 / 2\n"
            "    source: arXiv 2204.02311\n");
}

}  // namespace
}  // namespace orrery
