#include "calibrate/collective_measurements.h"

#include <gtest/gtest.h>

#include "calibrate/collective_fit.h"
#include "outcome/invariant.h"

namespace orrery {
namespace {

CommaSeparated table(const std::string& rows) {
  auto parsed = parse_comma_separated(
      "accelerator,collective,dtype,num_gpus,bytes,latency_us\n" + rows, "measured.csv");
  if (!parsed) throw InvariantError(parsed.error().text());
  return *std::move(parsed);
}

struct Read {
  std::vector<CollectiveMeasurement> rows;
  std::vector<RowProblem> problems;
};

Read read_rows(const std::string& rows) {
  Read out;
  const std::vector<CommaSeparated> tables = {table(rows)};
  out.rows = collective_measurements(tables, Catalog::built_in(), out.problems);
  return out;
}

TEST(CollectiveMeasurements, AreKnownByTheirColumns) {
  EXPECT_TRUE(holds_collective_measurements(table("")));
  EXPECT_FALSE(holds_collective_measurements(
      *parse_comma_separated("accelerator,collective,dtype,num_gpus,bytes\n", "measured.csv")));
}

TEST(CollectiveMeasurements, RowsOfInt8DoNotReduceInTheSwitch) {
  const Read read = read_rows(
      "h100-sxm,all-reduce,fp16,8,1048576,30\n"
      "h100-sxm,all-reduce,int8,8,1048576,31\n");
  ASSERT_TRUE(read.problems.empty());
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_TRUE(read.rows[0].reduces_in_switch);
  EXPECT_FALSE(read.rows[1].reduces_in_switch);
  EXPECT_EQ(read.rows[0].shape(), read.rows[1].shape());  // one fold holds both
  EXPECT_EQ(read.rows[1].time, Seconds(31e-6));
}

// Every unusable row is named with what is wrong; the others are used.
TEST(CollectiveMeasurements, NameWhatIsWrongRowByRow) {
  const Read read = read_rows(
      "h100-sxm,all-reduce,fp16,8,1048576,30\n"
      "h100-sxm,all-reduce,fp16,8,1048576,31\n"  // again
      "h100-sxm,all-shuffle,fp16,8,1048576,30\n"
      "h100-sxm,all-reduce,fp16,1,1048576,30\n"
      "h100-sxm,all-gather,fp16,8,1048576,-3\n"
      "h100-sxm,all-gather,fp16,8,,3\n"
      "h900,all-gather,fp16,8,1048576,30\n"
      "h100-sxm,all-gather,fp16,8,1073741824,2.5\n");  // milliseconds, as microseconds
  EXPECT_EQ(read.rows.size(), 1u);
  ASSERT_EQ(read.problems.size(), 7u);
  EXPECT_EQ(read.problems[0].where, "measured.csv:3");
  EXPECT_EQ(read.problems[0].what, "measures the same as measured.csv:2");
  EXPECT_EQ(read.problems[1].what,
            "collective is 'all-shuffle': not all-reduce, all-gather, reduce-scatter, all-to-all "
            "or broadcast");
  EXPECT_EQ(read.problems[2].where, "measured.csv:5");
  EXPECT_EQ(read.problems[3].where, "measured.csv:6");
  EXPECT_EQ(read.problems[4].what, "bytes is empty");
  EXPECT_EQ(read.problems[5].what, "the catalog has no accelerator 'h900' with a link");
  EXPECT_EQ(read.problems[6].where, "measured.csv:9");
  EXPECT_NE(read.problems[6].what.find("times the bandwidth of its links"), std::string::npos);
}

TEST(CollectiveMeasurements, TimesInTooSmallAUnitAreNamed) {
  const Read read = read_rows(
      "h100-sxm,all-reduce,fp16,8,1024,12000\n"
      "h100-sxm,all-reduce,fp16,8,1073741824,4200000\n"
      "l40s,all-reduce,int8,8,268435456,361910\n");  // through the host, as measured
  EXPECT_EQ(read.rows.size(), 1u);
  ASSERT_EQ(read.problems.size(), 2u);
  for (const RowProblem& p : read.problems) {
    EXPECT_NE(p.what.find("at peak rates, launch included: wrong unit?"), std::string::npos)
        << p.what;
  }
}

TEST(CollectiveMeasurements, RowsWithoutANodeAreNamed) {
  Read read = read_rows("h100-sxm,all-reduce,fp16,64,1048576,90\n");
  ASSERT_EQ(read.rows.size(), 1u);
  const auto generations =
      collective_generations(std::move(read.rows), Catalog::built_in(), read.problems);
  ASSERT_TRUE(generations.has_value());
  EXPECT_TRUE(generations->empty());
  ASSERT_EQ(read.problems.size(), 1u);
  EXPECT_EQ(read.problems[0].what, "the catalog has no node that joins 64 of h100-sxm");
}

}  // namespace
}  // namespace orrery
