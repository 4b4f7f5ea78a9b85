#include "calibrate/collective_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "calibrate/collective_calibration.h"
#include "calibrate/measured_tables.h"
#include "document/value.h"

namespace orrery {
namespace {

// What a node of H100 would measure were its collectives to follow `truth` exactly.
CollectiveGeneration generation_of(const CollectiveParameters& truth) {
  std::vector<CollectiveMeasurement> rows;
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                    CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
    for (const int ranks : {2, 4, 8}) {
      for (double bytes = 1024; bytes < 1e9; bytes *= 4) {
        for (const bool in_switch : {true, false}) {
          rows.push_back({.machine = {},
                          .accelerator = "h100-sxm",
                          .node = {},
                          .kind = kind,
                          .reduces_in_switch = in_switch,
                          .ranks = ranks,
                          .payload = Bytes(bytes),
                          .time = Seconds(1e-3),
                          .where = "row"});
        }
      }
    }
  }
  std::vector<RowProblem> problems;
  auto generations =
      value_of(collective_generations(std::move(rows), Catalog::built_in(), problems));
  CollectiveGeneration out = std::move(generations.front());
  for (std::size_t i = 0; i < out.rows.size(); ++i)
    out.rows[i].time = predicted_time(out, i, truth);
  return out;
}

// A generation that nobody measured has the published constants, and between those of its relatives
// whatever is fitted.
TEST(CollectiveFit, AnUnmeasuredGenerationIsLikeItsRelatives) {
  const auto of = [](const char* name) {
    return value_of(load_collective_parameters(Catalog::built_in(), name));
  };
  const CollectiveParameters facts = of("default");
  const Hertz clock(1.41e9);
  EXPECT_EQ(typical_parameters(facts, LinkKind::nvlink, clock, {}), facts);
  std::vector<CollectiveGeneration> relatives = {{"hopper", Hertz(0), of("hopper"), {}, {}},
                                                 {"blackwell", Hertz(0), of("blackwell"), {}, {}}};
  const std::vector<CollectiveParameters> others = {relatives[0].start, relatives[1].start};
  const CollectiveParameters between =
      typical_parameters(facts, LinkKind::nvlink, clock, relatives);
  const auto base = [](const CollectiveParameters& p) { return p.ring.base.low_latency.value(); };
  EXPECT_NEAR(base(between) * base(between), base(others[0]) * base(others[1]), 1e-18);
  EXPECT_GT(between.local_copy, std::min(others[0].local_copy, others[1].local_copy));
  EXPECT_LT(between.local_copy, std::max(others[0].local_copy, others[1].local_copy));
  EXPECT_EQ(between.tree_simple_per_channel, facts.tree_simple_per_channel);
  EXPECT_EQ(between.low_latency_total.one_node, BytesPerSecond(87.7e9));  // of Ampere
  // At half their clock a rank copies its own part at half the rate.
  for (CollectiveGeneration& relative : relatives) relative.clock = 2 * clock;
  const CollectiveParameters slower = typical_parameters(facts, LinkKind::nvlink, clock, relatives);
  EXPECT_NEAR(slower.local_copy / between.local_copy, 0.5, 0.005);
  EXPECT_EQ(slower.ring, between.ring);
}

TEST(CollectiveFit, FindsTheParametersThatMadeTheMeasurements) {
  CollectiveParameters truth = value_of(load_collective_parameters(Catalog::built_in(), "hopper"));
  truth.ring.base.low_latency = Seconds(7e-6);
  truth.ring.base.simple = Seconds(25e-6);
  truth.ring_share = 0.8;
  truth.in_switch.efficiency = 0.75;
  truth.pairwise.latency.base.simple = Seconds(16e-6);
  truth.pairwise.efficiency = 0.7;
  const CollectiveGeneration generation = generation_of(truth);
  std::vector<std::size_t> rows(generation.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const FittedCollectives fitted = value_of(fit_collectives(generation, rows));
  EXPECT_NEAR(fitted.parameters.ring_share, 0.8, 0.02);
  EXPECT_NEAR(fitted.parameters.in_switch.efficiency, 0.75, 0.02);
  EXPECT_NEAR(fitted.parameters.pairwise.efficiency, 0.7, 0.03);
  EXPECT_NEAR(fitted.parameters.ring.base.low_latency.value(), 7e-6, 0.5e-6);
  std::vector<double> predicted;
  std::vector<double> measured;
  for (const std::size_t i : rows) {
    predicted.push_back(predicted_time(generation, i, fitted.parameters).value());
    measured.push_back(generation.rows[i].time.value());
  }
  EXPECT_LT(fit_errors(predicted, measured).median, 0.02);
}

TEST(CollectiveFit, TheSameRowsGiveTheSameBits) {
  const CollectiveGeneration generation =
      generation_of(value_of(load_collective_parameters(Catalog::built_in(), "hopper")));
  std::vector<std::size_t> rows(generation.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  EXPECT_EQ(value_of(fit_collectives(generation, rows)).parameters,
            value_of(fit_collectives(generation, rows)).parameters);
}

TEST(CollectiveCalibration, WritesAFileThatReadsBackWithTheErrorsOfItsFolds) {
  const CollectiveGeneration generation =
      generation_of(value_of(load_collective_parameters(Catalog::built_in(), "hopper")));
  std::string text = "accelerator,collective,dtype,num_gpus,bytes,latency_us\n";
  for (std::size_t i = 0; i < generation.rows.size(); ++i) {
    const CollectiveMeasurement& m = generation.rows[i];
    std::string kind(to_text(m.kind));
    std::replace(kind.begin(), kind.end(), '_', '-');
    // Every other row a tenth too slow, so that there is an error to report.
    const double slower = i / 2 % 2 == 0 ? 1.1 : 1;
    text += "h100-sxm," + kind + (m.reduces_in_switch ? ",fp16," : ",int8,") +
            std::to_string(m.ranks) + ',' + std::to_string(static_cast<long>(m.payload.value())) +
            ',' + std::to_string(m.time.value() * 1e6 * slower) + '\n';
  }
  const std::vector<CommaSeparated> tables = {
      value_of(parse_comma_separated(text, "somewhere/measured.csv"))};
  const CalibrationRequest request{&Catalog::built_in(), "", true, "2026-01-02", 2};
  const Calibration done = value_of(collective_measurement_kind().calibrate(tables, request));
  EXPECT_EQ(done.rows, generation.rows.size());
  EXPECT_EQ(done.used, done.rows);
  ASSERT_EQ(done.reports.size(), 1u);
  const CalibrationReport& report = done.reports.front();
  EXPECT_EQ(report.subject, "hopper");
  const CalibratedPart& part = report.parts.front();
  ASSERT_TRUE(part.held_out.has_value());
  EXPECT_LT(part.in_sample.median, 0.06);
  EXPECT_LT(part.held_out->median, 0.08);
  std::size_t by_payload = 0;
  for (const PartOfRows& p : part.of_which) {
    if (p.name.find("iB") != std::string::npos)
      by_payload += static_cast<std::size_t>(p.in_sample.rows);
  }
  EXPECT_EQ(by_payload, done.rows);  // the regimes share the rows out
  ASSERT_EQ(report.files.size(), 1u);
  EXPECT_EQ(report.files.front().path, "collectives/hopper.yaml");
  const CollectiveParameters back = value_of(
      read_collective_parameters(value_of(parse_yaml(report.files.front().text, "hopper.yaml"))));
  const CollectiveFit& record = back.fits.back();
  EXPECT_EQ(record.data, "measured.csv");
  EXPECT_EQ(record.date, "2026-01-02");
  EXPECT_EQ(record.rows, static_cast<int>(done.rows));
  EXPECT_NEAR(record.cross_validated_median, part.held_out->median, 0.005);
}

}  // namespace
}  // namespace orrery
