#include <gmock/gmock.h>

#include <string>

#include "report/numerics/numerics_report.h"

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::Not;

int count_of(const std::string& text, const std::string& part) {
  int out = 0;
  for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++out;
  return out;
}

MeasuredDeviation row(std::string variant, std::string at, double rms) {
  MeasuredDeviation out{.variant = std::move(variant), .at = std::move(at), .deviation = {}};
  out.deviation.relative_rms = rms;
  out.deviation.largest = 2 * rms;
  return out;
}

TEST(NumericsPage, DrawsACurveForEachWayToComputeOverWhatIsSwept) {
  DeviationStudy study{
      .experiment = "attention", .settings = {{"length", "<1Ki>"}}, .swept = "tile"};
  study.rows = {row("baseline", "32", 1e-3), row("flash2", "32", 4e-3), row("baseline", "64", 1e-3),
                row("flash2", "64", 2e-3)};
  const std::string page = deviation_html(study);
  EXPECT_EQ(count_of(page, "<path class=\"over thick"), 2 * 2);
  EXPECT_THAT(page, HasSubstr("largest difference over tile"));
  EXPECT_THAT(page, HasSubstr("&lt;1Ki&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(NumericsPage, HasATableAloneWhereNothingIsSweptOrNothingDeviates) {
  DeviationStudy study{.experiment = "gemm"};
  study.rows = {row("operands", "", 1e-3)};
  EXPECT_EQ(count_of(deviation_html(study), "<path class=\"over"), 0);
  study.swept = "format";
  study.rows = {row("operands", "fp32", 0), row("operands", "fp64", 0)};
  EXPECT_EQ(count_of(deviation_html(study), "<path class=\"over"), 0);
  EXPECT_THAT(deviation_html(study), HasSubstr("<table"));
}

TEST(NumericsPage, DrawsEachSeedOfATraining) {
  TrainingStudy study;
  study.question.steps = 8;
  for (const std::uint64_t seed : {1U, 2U}) {
    for (const int step : {2, 4, 8}) {
      const WeightDistance here{1e-3 * step, 1e-4 * step, 1e-5 * step};
      study.pairs.push_back({seed, step, here, here, here});
    }
  }
  EXPECT_EQ(count_of(training_html(study), "<path class=\"over thick"), 2 * 2 * 3);
}

}  // namespace
}  // namespace orrery
