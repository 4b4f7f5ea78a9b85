#include "validate/validation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

namespace orrery {
namespace {

using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

RowOutcome ran(std::string id, double predicted, double measured, std::string group = "g") {
  RowOutcome row;
  row.row_id = std::move(id);
  row.source_id = "s";
  row.complete = true;
  row.predicted = Seconds(predicted);
  row.measured = Seconds(measured);
  row.fits = true;
  row.group = std::move(group);
  row.sequences = 1;
  return row;
}

// Errors +10 %, -20 %, +60 %: median 20 %, mean 30 %, bias 50 / 3 %, 90th percentile between the
// two largest at 0.8: 20 + 0.8 x 40 = 52 %.
TEST(Validation, SummarisesRelativeErrors) {
  const Validation v = summarised({ran("a", 1.1, 1), ran("b", 0.8, 1), ran("c", 3.2, 2)});
  const ErrorSummary& e = v.overall.step_time;
  EXPECT_EQ(e.rows, 3);
  EXPECT_NEAR(e.median, 0.2, 1e-12);
  EXPECT_NEAR(e.mean, 0.3, 1e-12);
  EXPECT_NEAR(e.bias, 0.5 / 3, 1e-12);
  EXPECT_NEAR(e.p90, 0.52, 1e-12);
  EXPECT_NEAR(e.worst, 0.6, 1e-12);
  EXPECT_EQ(e.worst_row, "c");
}

TEST(Validation, SkippedRowsCountButEnterNoStatistics) {
  RowOutcome skipped = ran("b", 9, 1);
  skipped.predicted.reset();
  skipped.fits.reset();
  skipped.skipped_because = "schedule zb-2p is not modelled";
  const Validation v = summarised({ran("a", 1, 1), skipped, skipped});
  EXPECT_EQ(v.overall.rows, 3);
  EXPECT_EQ(v.overall.complete, 3);
  EXPECT_EQ(v.overall.complete_estimated, 1);
  EXPECT_EQ(v.overall.skipped, 2);
  EXPECT_EQ(v.overall.step_time.rows, 1);
  EXPECT_EQ(v.overall.verdicts.ran(), 1);
  ASSERT_THAT(v.skipped, SizeIs(1));
  EXPECT_EQ(v.skipped[0].because, "schedule zb-2p is not modelled");
  EXPECT_EQ(v.skipped[0].rows, 2);
  EXPECT_EQ(v.skipped[0].complete, 2);
}

TEST(Validation, SourcesAreSummarisedApart) {
  RowOutcome other = ran("b", 3, 1);
  other.source_id = "r";
  const Validation v = summarised({ran("a", 2, 1), other});
  ASSERT_THAT(v.sources, SizeIs(2));
  EXPECT_EQ(v.sources[0].source_id, "r");
  EXPECT_NEAR(v.sources[0].step_time.bias, 2, 1e-12);
  EXPECT_NEAR(v.sources[1].step_time.bias, 1, 1e-12);
  EXPECT_NEAR(v.overall.step_time.bias, 1.5, 1e-12);
}

TEST(Validation, CountsMemoryVerdicts) {
  const auto row = [](bool fits, bool out_of_memory) {
    RowOutcome out = ran("a", 1, 1);
    out.fits = fits;
    out.out_of_memory = out_of_memory;
    return out;
  };
  const Validation v =
      summarised({row(true, false), row(true, false), row(false, false), row(true, true),
                  row(false, true), row(false, true), row(false, true)});
  EXPECT_EQ(v.overall.verdicts.ran_fits, 2);
  EXPECT_EQ(v.overall.verdicts.ran_does_not_fit, 1);
  EXPECT_EQ(v.overall.verdicts.out_of_memory_fits, 1);
  EXPECT_EQ(v.overall.verdicts.out_of_memory_does_not_fit, 3);
}

// Time per sequence is what is ranked: twice the batch in twice the time is a tie.
TEST(Validation, RanksPlansOfOneGroupByTimePerSequence) {
  std::vector<RowOutcome> rows;
  for (int i = 1; i <= 5; ++i) {
    rows.push_back(ran("a" + std::to_string(i), 10.0 * i, i, "in order"));
    rows.push_back(ran("b" + std::to_string(i), 10.0 * (6 - i) * i, i * i, "reversed"));
    rows.back().sequences = i;
    if (i < 5) rows.push_back(ran("c" + std::to_string(i), i, i, "too few"));
  }
  const RankSummary r = summarised(rows).overall.ranking;
  EXPECT_EQ(r.groups, 2);
  EXPECT_EQ(r.rows, 10);
  EXPECT_NEAR(r.mean, 0, 1e-12);
  EXPECT_NEAR(r.median, 0, 1e-12);
  EXPECT_NEAR(r.worst, -1, 1e-12);
  EXPECT_EQ(r.worst_group, "reversed");
}

TEST(Validation, ComparesMemoryWhereItWasMeasured) {
  RowOutcome row = ran("a", 1, 1);
  row.predicted_memory = 60;
  row.measured_memory = 80;
  const Validation v = summarised({row, ran("b", 1, 1)});
  EXPECT_EQ(v.overall.memory.rows, 1);
  EXPECT_NEAR(v.overall.memory.bias, -0.25, 1e-12);
}

TEST(Validation, CountsTheRowsOfEachAssumption) {
  RowOutcome one = ran("a", 1, 1);
  one.assumed = {"x", "y"};
  RowOutcome two = ran("b", 1, 1);
  two.assumed = {"y"};
  RowOutcome skipped = two;
  skipped.predicted.reset();
  skipped.skipped_because = "why";
  const Validation v = summarised({one, two, skipped});
  ASSERT_THAT(v.assumptions, SizeIs(2));
  EXPECT_EQ(v.assumptions[0].text, "y");
  EXPECT_EQ(v.assumptions[0].rows, 2);
  EXPECT_EQ(v.assumptions[1].rows, 1);
}

TEST(Validation, JsonHasTheKeysOthersRelyOn) {
  RowOutcome skipped = ran("b", 1, 2);
  skipped.predicted.reset();
  skipped.fits.reset();
  skipped.skipped_because = "why";
  RowOutcome row = ran("a", 1, 2);
  row.predicted_memory = 7;
  row.assumed = {"x"};
  const Value json = validation_json(summarised({row, skipped}));
  const Value* rows = json.find("rows");
  ASSERT_NE(rows, nullptr);
  ASSERT_THAT(rows->items(), SizeIs(2));
  const auto text = [&](std::size_t i, const char* key) {
    const Value* v = rows->items()[i].find(key);
    return v == nullptr ? "absent" : v->kind() == Value::Kind::null ? "null" : v->scalar_text();
  };
  EXPECT_EQ(text(0, "row_id"), "a");
  EXPECT_EQ(text(0, "predicted_step_time_s"), "1");
  EXPECT_EQ(text(0, "measured_step_time_s"), "2");
  EXPECT_EQ(text(0, "predicted_memory_bytes"), "7");
  EXPECT_EQ(text(0, "fits"), "true");
  EXPECT_EQ(text(0, "skipped_because"), "null");
  EXPECT_EQ(text(1, "predicted_step_time_s"), "null");
  EXPECT_EQ(text(1, "fits"), "null");
  EXPECT_EQ(text(1, "skipped_because"), "why");
  ASSERT_NE(json.find("summary"), nullptr);
  EXPECT_NE(json.find("summary")->find("step_time"), nullptr);
  EXPECT_NE(json.find("summary")->find("sources"), nullptr);
}

std::vector<MeasuredRow> shipped() {
  std::vector<MeasuredRow> out;
  std::vector<std::string> files;
  const auto folder = std::filesystem::path(ORRERY_SOURCE_DIR) / "validation/measured";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    auto rows = read_measured_rows(file);
    if (!rows) ADD_FAILURE() << rows.error().text();
    for (MeasuredRow& row : rows->rows) out.push_back(std::move(row));
  }
  return out;
}

// 99 of a hundred of the 1,057 complete rows get a step time, and every other row a reason.
TEST(Validation, EstimatesMostOfWhatWeShip) {
  const Validation v = validate(shipped(), Catalog::built_in());
  EXPECT_EQ(v.overall.complete, 1057);
  EXPECT_GE(v.overall.complete_estimated, 0.99 * v.overall.complete);
  for (const RowOutcome& row : v.rows) {
    EXPECT_EQ(row.predicted.has_value(), row.interval.has_value()) << row.row_id;
    if (row.interval) {
      EXPECT_LE(row.interval->low, *row.predicted) << row.row_id;
      EXPECT_GE(row.interval->high, *row.predicted) << row.row_id;
    }
    EXPECT_NE(row.predicted.has_value(), !row.skipped_because.empty()) << row.row_id;
    if (!row.predicted) continue;
    EXPECT_GT(row.predicted->value(), 0) << row.row_id;
    EXPECT_GT(*row.predicted_memory, 0) << row.row_id;
    EXPECT_THAT(row.assumed, Not(IsEmpty())) << row.row_id;
  }
}

TEST(Validation, IsTheSameOnOneThread) {
  std::vector<MeasuredRow> rows = shipped();
  std::erase_if(rows, [](const MeasuredRow& r) { return r.source_id != "simumax-b200"; });
  const std::string many = to_json(validation_json(validate(rows, Catalog::built_in(), 4)));
  EXPECT_EQ(to_json(validation_json(validate(rows, Catalog::built_in(), 1))), many);
}

}  // namespace
}  // namespace orrery
