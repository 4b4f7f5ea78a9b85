#include "calibrate/calibration.h"

#include <gtest/gtest.h>

#include "calibrate/measured_tables.h"
#include "calibrate/measurement_cells.h"

namespace orrery {
namespace {

// A kind whose tables have a column `speed`; its subject's only parameter is the mean.
MeasurementKind speeds() {
  return {
      "speeds", "speed",
      [](const CommaSeparated& t) {
        return has_columns(t, std::vector<std::string_view>{"speed"});
      },
      [](std::span<const CommaSeparated> tables, const CalibrationRequest&) -> Result<Calibration> {
        Calibration out;
        SeenRows seen;
        double sum = 0;
        for (const CommaSeparated& t : tables) {
          for (const auto& record : t.records) {
            MeasurementCells row(t, record, out.problems);
            const double speed = row.number("speed", 0, 100);
            ++out.rows;
            if (!row.usable() || !seen.add(record.fields[0], row)) continue;
            ++out.used;
            sum += speed;
          }
        }
        CalibrationReport report;
        report.kind = "speeds";
        const double count = static_cast<double>(out.used);
        report.parts.push_back(
            {"mean", {{"speed", "m/s", sum / count, std::nullopt, false}}, {}, {}, {}});
        out.reports.push_back(report);
        return out;
      }};
}

Result<std::vector<Calibration>> calibrated(const std::string& text) {
  CalibrationRequest request;
  request.catalog = &Catalog::built_in();
  const std::vector<MeasurementKind> kinds = {speeds()};
  const std::vector<CommaSeparated> tables = {table_of(text)};
  return calibrate(tables, kinds, request);
}

TEST(Calibration, BadRowsAreNamedAndTheRestIsUsed) {
  const auto done = calibrated("name,speed\na,2\nb,-3\nc,fast\nd,4\na,9\ne,\nf,1e300\n");
  ASSERT_TRUE(done) << done.error().text();
  const Calibration& c = done->front();
  EXPECT_EQ(c.rows, 7U);
  EXPECT_EQ(c.used, 2U);
  EXPECT_EQ(c.reports[0].parts[0].parameters[0].value, 3);
  std::string all;
  for (const RowProblem& p : c.problems) all += p.where + ": " + p.what + "\n";
  EXPECT_EQ(all,
            "rows.csv:3: speed -3 is not above 0 and at most 100\n"
            "rows.csv:4: speed 'fast' is not a number\n"
            "rows.csv:6: measures the same as rows.csv:2\n"
            "rows.csv:7: speed is empty\n"
            "rows.csv:8: speed 1e300 is not above 0 and at most 100\n");
}

TEST(Calibration, NothingUsableIsAnErrorWithTheFirstProblem) {
  const auto done = calibrated("name,speed\nb,-3\n");
  ASSERT_FALSE(done);
  EXPECT_EQ(
      done.error().text(),
      "rows.csv: no row can be used (the first problem is rows.csv:2: speed -3 is not above 0 "
      "and at most 100)");
}

// The errors of parts whose systems are told apart; others do not count, and one part is no sum.
TEST(Calibration, ErrorsOfAllSystemsAreThoseOfAllTheirRows) {
  CalibratedPart one{"one", {}, {}, {}, {}};
  one.errors = {{0.1, -0.1}, {0.2, -0.2}, {0.5, -0.3}};
  CalibratedPart two{"two", {}, {}, {}, {}};
  two.errors = {{0.3}, {0.4}, {-0.1}};
  CalibratedPart alone{"alone", {}, {}, {}, {}};
  alone.errors = {{9}, {9}, {}};
  const auto with = [](const std::vector<CalibratedPart>& parts) {
    const MeasurementKind kind{
        "systems", "speed", [](const CommaSeparated&) { return true; },
        [&](std::span<const CommaSeparated>, const CalibrationRequest&) -> Result<Calibration> {
          Calibration out;
          out.used = 1;
          for (const CalibratedPart& p : parts)
            out.reports.push_back({"systems", p.name, {p}, {}, {}});
          return out;
        }};
    CalibrationRequest request;
    request.catalog = &Catalog::built_in();
    return calibrate(std::vector{table_of("name,speed\na,1\n")}, std::span(&kind, 1), request);
  };
  const auto done = with({one, alone, two});
  ASSERT_TRUE(done) << done.error().text();
  ASSERT_EQ(done->size(), 2U);
  const CalibratedPart& all = done->back().reports.front().parts.front();
  EXPECT_EQ(all.in_sample.rows, 3);
  EXPECT_NEAR(all.in_sample.bias, 0.1, 1e-12);
  EXPECT_NEAR(all.held_out->mean, 0.8 / 3, 1e-12);
  EXPECT_NEAR(all.left_out->median, 0.3, 1e-12);
  EXPECT_NEAR(all.left_out->worst, 0.5, 1e-12);
  EXPECT_EQ(with({one, alone})->size(), 1U);
}

TEST(Calibration, RowsTooFewToFitAnythingAreAnError) {
  const MeasurementKind kind{
      "none", "speed", [](const CommaSeparated&) { return true; },
      [](std::span<const CommaSeparated>, const CalibrationRequest&) -> Result<Calibration> {
        Calibration out;
        out.rows = out.used = 1;
        out.reports.emplace_back();
        return out;
      }};
  CalibrationRequest request;
  request.catalog = &Catalog::built_in();
  const std::vector<CommaSeparated> tables = {table_of("name,speed\na,2\n")};
  const auto done = calibrate(tables, std::vector<MeasurementKind>{kind}, request);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text(),
            "rows.csv: 1 usable row is too few to fit anything (docs/calibrate.md says how many a "
            "fit needs)");
}

TEST(Calibration, UnknownColumnsAreRefusedWithThoseThatAreKnown) {
  const auto done = calibrated("name,weight\na,2\n");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text(),
            "rows.csv: the columns are those of no known kind of measurement (speeds: speed)");
}

TEST(Calibration, ErrorsAreRelativeToTheMeasurement) {
  const std::vector<double> predicted = {1.1, 0.8, 1.0, 2.0, 1.0};
  const std::vector<double> measured(5, 1.0);
  const ErrorSummary e = fit_errors(predicted, measured);
  EXPECT_EQ(e.rows, 5);
  EXPECT_NEAR(e.median, 0.1, 1e-12);
  EXPECT_NEAR(e.mean, 1.3 / 5, 1e-12);
  EXPECT_NEAR(e.bias, 0.9 / 5, 1e-12);
  EXPECT_NEAR(e.p90, 0.2 + 0.6 * 0.8, 1e-12);
}

}  // namespace
}  // namespace orrery
