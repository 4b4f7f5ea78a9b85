#include "report/validation/calibration_report.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

std::vector<Calibration> sample_calibrations() {
  Calibration c;
  c.rows = 1002;
  c.used = 1000;
  c.problems = {{"k.csv:7", "latency_us -3 is not above 0 and at most 1e+09"}};
  CalibrationReport r;
  r.kind = "kernels";
  r.subject = "h100-sxm";
  CalibratedPart p;
  p.name = "gemm bf16";
  p.parameters = {{"peak_fraction", "", 0.832, 0.0021, false},
                  {"floor", "us", 2.6, std::nullopt, true}};
  p.in_sample = {1000, 0.031, 0.045, 0.12, -0.004};
  p.held_out = ErrorSummary{1000, 0.033, 0.047, 0.125, -0.004};
  p.of_which = {{"m >= 1024", {300, 0.02, 0.03, 0.06, 0.001}, std::nullopt}};
  r.parts = {p};
  r.files = {{"kernels/h100-sxm.yaml", "accelerator: h100-sxm\n"}};
  r.notes = {"Attention is kept from the catalog."};
  c.reports = {r};
  return {c};
}

TEST(CalibrationReport, ShowsParametersErrorsAndProblems) {
  const std::string text = calibration_text(sample_calibrations(), {});
  for (const char* part :
       {"h100-sxm", "peak_fraction", "0.832", "0.0021", "2.6 us", "at its bound", "3.3 %",
        "of which m >= 1024", "k.csv:7", "1,000 of 1,002 rows used", "Attention is kept"}) {
    EXPECT_THAT(text, testing::HasSubstr(part));
  }
}

TEST(CalibrationReport, MarkdownHasOneTableOfErrors) {
  const std::string text = calibration_markdown(sample_calibrations());
  EXPECT_THAT(text, testing::HasSubstr("gemm bf16 | 1,000 | 3.1 % | 12.0 % | -0.4 % | 3.3 %"));
}

TEST(CalibrationReport, ShowsSystemsLeftOutWhereThereAreAny) {
  std::vector<Calibration> calibrations = sample_calibrations();
  EXPECT_THAT(calibration_markdown(calibrations), testing::Not(testing::HasSubstr("left out")));
  calibrations[0].reports[0].parts[0].left_out = ErrorSummary{1000, 0.071, 0.09, 0.215, -0.01};
  EXPECT_THAT(calibration_markdown(calibrations), testing::HasSubstr("| 7.1 % | 21.5 % |"));
  EXPECT_THAT(to_json(calibration_json(calibrations)), testing::HasSubstr("\"left_out\""));
}

TEST(CalibrationReport, JsonHoldsEveryFigure) {
  const std::string text = to_json(calibration_json(sample_calibrations()));
  const auto document = parse_json(text, "c.json");
  ASSERT_TRUE(document);
  const Value& fit = *document->root.find("calibrations")->items()[0].find("parts")->items().data();
  EXPECT_EQ(fit.find("held_out")->find("median")->scalar_text(), "0.033");
  EXPECT_EQ(fit.find("parameters")->items()[1].find("standard_error")->kind(), Value::Kind::null);
  EXPECT_EQ(document->root.find("problems")->items()[0].find("where")->scalar_text(), "k.csv:7");
}

}  // namespace
}  // namespace orrery
