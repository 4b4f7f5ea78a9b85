#include "report/validation/validation_report.h"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

namespace orrery {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

RowOutcome row(std::string id, std::string source, double predicted, double measured) {
  RowOutcome out;
  out.row_id = std::move(id);
  out.source_id = std::move(source);
  out.model = "gpt";
  out.plan = "tp=2";
  out.complete = true;
  out.predicted = Seconds(predicted);
  out.measured = Seconds(measured);
  out.predicted_memory = ByteCount{1} << 30;
  out.fits = true;
  out.group = "g";
  out.sequences = 1;
  return out;
}

Validation sample_validation() {
  RowOutcome skipped = row("c-1", "c", 1, 1);
  skipped.predicted.reset();
  skipped.predicted_memory.reset();
  skipped.fits.reset();
  skipped.skipped_because = "schedule zb-2p is not modelled";
  RowOutcome out_of_memory = row("b-2", "b", 1, 1);
  out_of_memory.measured.reset();
  out_of_memory.complete = false;
  out_of_memory.out_of_memory = true;
  out_of_memory.fits = false;
  return summarised({row("a-1", "a", 1.1, 1), row("b-1", "b", 0.5, 1), out_of_memory, skipped});
}

TEST(ValidationReport, ShowsErrorsBySourceAndOverAll) {
  const std::string text =
      validation_text(sample_validation(), RowDetail::skipped_only, {.width = 160});
  EXPECT_THAT(text, HasSubstr("Step time"));
  EXPECT_THAT(text, HasSubstr("+10.0 %"));
  EXPECT_THAT(text, HasSubstr("-50.0 %"));
  EXPECT_THAT(text, HasSubstr("ran out of memory"));
  EXPECT_THAT(text, HasSubstr("schedule zb-2p is not modelled"));
  // Median and mean of 10 % and 50 % are 30 %, the bias is -20 %.
  EXPECT_THAT(text, HasSubstr("2 of 3 complete rows estimated; step time off by 30.0 % in the "
                              "median, 30.0 % on average, bias -20.0 %"));
  EXPECT_THAT(text, Not(HasSubstr("Rows\n")));
}

TEST(ValidationReport, EveryRowSaysItsErrorOrWhyItWasSkipped) {
  const std::string text =
      validation_text(sample_validation(), RowDetail::every_row, {.width = 160});
  EXPECT_THAT(text, HasSubstr("skipped: schedule zb-2p is not modelled"));
  std::istringstream lines(text);
  std::string line;
  bool found = false;
  while (std::getline(lines, line)) {
    if (line.find("a-1") == std::string::npos || found) continue;
    found = true;
    EXPECT_THAT(line, AllOf(HasSubstr("1.10 s"), HasSubstr("1.00 s"), HasSubstr("+10.0 %")));
  }
  EXPECT_TRUE(found);
}

TEST(ValidationReport, RowsNameTheirAssumptionsByNumber) {
  RowOutcome one = row("a-1", "a", 1, 1);
  one.assumed = {"network: 8 x 400 Gb/s", "ZeRO stage 1"};
  RowOutcome two = row("a-2", "a", 1, 1);
  two.assumed = {"ZeRO stage 1"};
  const std::string text = validation_text(summarised({one, two}), RowDetail::every_row, {});
  EXPECT_THAT(text, HasSubstr("assumed 2 1"));
  EXPECT_THAT(text, testing::ContainsRegex("1 +2 +ZeRO stage 1"));
  EXPECT_THAT(text, testing::ContainsRegex("2 +1 +network: 8 x 400 Gb/s"));
}

TEST(ValidationReport, NothingToCompareIsNoError) {
  EXPECT_THAT(validation_text(summarised({}), RowDetail::every_row, {}),
              HasSubstr("0 of 0 complete rows estimated"));
}

TEST(ValidationReport, MarkdownHoldsEveryTable) {
  const std::string text = validation_markdown(sample_validation());
  EXPECT_THAT(text, testing::StartsWith("# Validation\n"));
  for (const char* heading :
       {"## Step time", "## Worst rows", "## Ranking of plans", "## Does it fit?",
        "## Memory per GPU", "## Assumed", "## Skipped rows"}) {
    EXPECT_THAT(text, HasSubstr(heading));
  }
  EXPECT_THAT(text, HasSubstr("| b-1 |"));
  // The worst row is the one that is off by the largest factor, too fast or too slow.
  const std::string worst = text.substr(text.find("## Worst rows"));
  EXPECT_LT(worst.find("| b-1 |"), worst.find("| a-1 |"));
}

// Every text with fields is filled in (validation/*.md.in).
TEST(ValidationReport, MarkdownOfAJudgementHoldsEverySection) {
  Judgement j;
  j.all.name = "all";
  for (ErrorSummary& errors : j.all.schemes) errors.rows = 20;
  j.apart = {"noisy"};
  j.figures = {{.name = "median", .value = 0.05, .target = 0.04}};
  j.regrets = {{.source_id = "a",
                .group = "gpt on 64",
                .plans = 5,
                .regret = 0.03,
                .picked = "a-1",
                .best = "a-2"}};
  j.coverage = {.regime = "all", .rows = 20, .inside = 0.9, .width = 0.4};
  j.coverages = {{.regime = "a few nodes", .rows = 10, .inside = 0.8, .width = 0.4}};
  const std::string text = judgement_markdown(j, "scatter.svg");
  for (const char* part :
       {"Rows of noisy are apart", "a constant rate of each accelerator", "| median |",
        "![Predicted against measured step times](scatter.svg)", "| gpt on 64 |",
        "- held-out folds: a few nodes (80.0 % of 10)", "- sources left out: none"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(validation_markdown(sample_validation(), text), HasSubstr(text));
}

TEST(ValidationReport, MarkdownOfClaimsCountsThoseThatHold) {
  JudgedClaim claim;
  claim.claim.strategy = "ring attention";
  claim.claim.type = ClaimType::loose;
  claim.claim.figure = ClaimFigure::speedup;
  claim.claim.published = 2;
  claim.claim.band = 0.1;
  claim.predicted = 2.1;
  claim.holds = true;
  JudgedClaim missed = claim;
  missed.predicted = 3;
  missed.holds = false;
  JudgedClaim unpredicted;
  unpredicted.claim.not_predicted = "no such figure";
  const std::string text = claims_markdown(std::vector{claim, missed, unpredicted});
  EXPECT_THAT(text, HasSubstr("**1 of 2 strict and loose claims hold.**"));
  EXPECT_THAT(text, HasSubstr("| 2.00x | 10 % | 2.10x | +5.0 % | holds |"));
  EXPECT_THAT(text, HasSubstr("**missed**"));
  EXPECT_THAT(text, HasSubstr("| no such figure |"));
}

}  // namespace
}  // namespace orrery
