#include "measured/measured_row.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::string_view kHeader =
    "row_id,accelerator,num_gpus,seq_len,tp,pp,micro_batch,global_batch,precision,step_time_s";

Result<MeasuredRows> rows(std::string_view body, std::string_view extra = "") {
  return parse_measured_rows(std::string(kHeader) + std::string(extra) + "\n" + std::string(body),
                             "f.csv");
}
std::string error_of(std::string_view body, std::string_view extra = "") {
  auto r = rows(body, extra);
  if (!r) return r.error().text();
  if (r->problems.empty()) return "no error";
  return r->problems.front().where + ": " + r->problems.front().what;
}

TEST(MeasuredRow, ReadsCellsAsWhatTheirColumnHolds) {
  auto r = rows("a,h100-sxm,16,4096,8,1,2,64,bf16,1.5,64.5,989,,3\n",
                ",memory_per_gpu_gib,peak_tflops,vpp,zero_stage");
  ASSERT_TRUE(r) << r.error().text();
  const MeasuredRow& row = r->rows.at(0);
  EXPECT_EQ(row.row_id, "a");
  EXPECT_EQ(row.num_gpus, 16);
  EXPECT_EQ(row.step_time, Seconds(1.5));
  EXPECT_EQ(row.memory_per_gpu, Bytes(64.5 * 1024 * 1024 * 1024));
  EXPECT_EQ(row.peak_tflops, FlopsPerSecond(989e12));
  EXPECT_EQ(row.vpp, std::nullopt);
  EXPECT_EQ(row.zero_stage, 3);
  EXPECT_EQ(row.place(), "f.csv:2");
}

TEST(MeasuredRow, UnknownColumnsSuggestTheNearest) {
  EXPECT_EQ(error_of("", ",zero_stge"),
            "f.csv:1: unknown column 'zero_stge' is not read (did you mean 'zero_stage'?)");
}

TEST(MeasuredRow, MissingColumnsAreNamedAllAtOnce) {
  auto r = parse_measured_rows("row_id,accelerator,num_gpus,seq_len,tp,pp,global_batch,precision\n",
                               "f.csv");
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().text(),
            "f.csv:1: columns are missing: micro_batch, step_time_s (validation/measured/README.md "
            "lists the columns)");
}

TEST(MeasuredRow, BadCellsAreNamedWithTheirPlace) {
  const std::string good = "a,h100-sxm,16,4096,8,1,2,64,bf16,1.5\n";
  EXPECT_EQ(error_of(good + "b,h100-sxm,sixteen,4096,8,1,2,64,bf16,1.5\n"),
            "f.csv:3: column 'num_gpus' holds 'sixteen' (expected a whole number, or nothing if it "
            "is unknown)");
  EXPECT_EQ(error_of("b,h100-sxm,16.5,4096,8,1,2,64,bf16,1.5\n"),
            "f.csv:2: column 'num_gpus' holds '16.5' (expected a whole number, or nothing if it is "
            "unknown)");
  EXPECT_EQ(error_of("b,h100-sxm,16,0,8,1,2,64,bf16,1.5\n"),
            "f.csv:2: column 'seq_len' holds '0' (expected more than zero)");
  EXPECT_EQ(error_of("b,h100-sxm,16,-1,8,1,2,64,bf16,1.5\n"),
            "f.csv:2: column 'seq_len' holds '-1' (expected more than zero)");
  EXPECT_EQ(error_of("b,h100-sxm,2000000000000000000,1,8,1,2,64,bf16,1.5\n"),
            "f.csv:2: column 'num_gpus' holds '2000000000000000000' (expected at most 1e18)");
  EXPECT_EQ(error_of("b,h100-sxm,16,1,8,1,2,64,bf16,nan\n"),
            "f.csv:2: column 'step_time_s' holds 'nan' (expected at most 1e18)");
  EXPECT_EQ(error_of("b,h100-sxm,16,1,8,1,2,64,bf16,1e-300\n"),
            "f.csv:2: column 'step_time_s' holds '1e-300' (expected at least 1e-18)");
  EXPECT_EQ(error_of("b,h100-sxm,16,1,8,1,2,64,bf16,1,-1\n", ",zero_stage"),
            "f.csv:2: column 'zero_stage' holds '-1' (expected zero or more)");
  EXPECT_EQ(error_of(",h100-sxm,16,1,8,1,2,64,bf16,1\n"), "f.csv:2: row_id is empty");
  EXPECT_EQ(error_of(good + good), "f.csv:3: row_id 'a' stands twice");
}

// Old files state in `variant` what has columns of its own.
TEST(MeasuredRow, VariantFillsEmptyColumns) {
  const std::string head =
      "row_id,accelerator,num_gpus,seq_len,tp,pp,micro_batch,global_batch,precision,step_time_s,"
      "compile,variant\n";
  const auto read = parse_measured_rows(
      head +
          "a,h100-sxm,16,4096,8,1,2,64,bf16,1.5,off,compile=on mtp=off dense_layers=3 router=x\n",
      "f.csv");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->rows.size(), 1u);
  const MeasuredRow& row = read->rows.front();
  EXPECT_EQ(row.compile, "off");  // a column of its own wins
  EXPECT_EQ(row.mtp, "off");
  EXPECT_EQ(row.dense_layers, 3);
  EXPECT_EQ(row.unread, "router");
  const auto wrong = parse_measured_rows(
      head + "a,h100-sxm,16,4096,8,1,2,64,bf16,1.5,,dense_layers=few\n", "f.csv");
  ASSERT_TRUE(wrong);
  ASSERT_EQ(wrong->problems.size(), 1u);
  EXPECT_EQ(wrong->problems.front().what,
            "column 'dense_layers' holds 'few' (expected a whole number, or nothing if it is "
            "unknown)");
}

TEST(MeasuredRow, WrongUnitsAreNamed) {
  EXPECT_EQ(
      error_of("b,h100-sxm,16,1,8,1,2,64,bf16,1500 ms\n"),
      "f.csv:2: column 'step_time_s' holds '1500 ms' (expected a number of seconds without its "
      "unit, or nothing if it is unknown)");
  EXPECT_EQ(
      error_of("b,h100-sxm,16,1,8,1,2,64,bf16,1,80GB\n", ",memory_per_gpu_gib"),
      "f.csv:2: column 'memory_per_gpu_gib' holds '80GB' (expected a number of GiB without its "
      "unit, or nothing if it is unknown)");
  const auto r = parse_measured_rows(
      "row_id,accelerator,num_gpus,seq_len,tp,pp,micro_batch,global_batch,precision,step_time_ms\n",
      "f.csv");
  EXPECT_EQ(r.error().text(),
            "f.csv:1: columns are missing: step_time_s; unknown columns: step_time_ms "
            "(validation/measured/README.md lists the columns)");
}

TEST(MeasuredRow, ImpossibleValuesAreNamed) {
  EXPECT_EQ(error_of("a,h100-sxm,16,1,8,1,2,64,bf16,1,120\n", ",mfu_percent"),
            "f.csv:2: mfu_percent is above 100 %: no run does more than its peak");
  EXPECT_EQ(error_of("a,h100-sxm,16,1,8,1,2,64,bf16,1,1.5\n", ",step_time_min_s"),
            "f.csv:2: step_time_min_s is above step_time_s");
  EXPECT_EQ(error_of("a,h100-sxm,16,1,8,1,2,64,bf16,-1\n"),
            "f.csv:2: column 'step_time_s' holds '-1' (expected more than zero)");
}

TEST(MeasuredRow, ARowThatRepeatsAnotherIsNamed) {
  EXPECT_EQ(error_of("a,h100-sxm,16,1,8,1,2,64,bf16,1\nb,h100-sxm,16,1,8,1,2,64,bf16,1\n"),
            "f.csv:3: is row 'a' again");
}

// The figure tells: 2.8435 s twice is one run, 2.84 s twice may be two, and so may two that ran out
// of memory.
TEST(MeasuredRow, ARowUnderAnotherNameIsNamedIfItsFiguresTell) {
  const auto twice = [](const std::string& run) {
    return "a," + run + ",first\nb," + run + ",a copy\n";
  };
  EXPECT_EQ(error_of(twice("h100-sxm,16,1,8,1,2,64,bf16,2.8435"), ",notes"),
            "f.csv:3: is row 'a' again");
  EXPECT_EQ(error_of(twice("h100-sxm,16,1,8,1,2,64,bf16,2.84"), ",notes"), "no error");
  EXPECT_EQ(error_of(twice("h100-sxm,16,1,8,1,2,64,bf16,,oom"), ",status,notes"), "no error");
  EXPECT_EQ(
      error_of("a,h100-sxm,16,1,8,1,2,64,bf16,2.8435\nb,h100-sxm,16,1,8,1,2,64,bf16,2.8436\n"),
      "no error");
  EXPECT_EQ(
      error_of("a,h100-sxm,16,1,8,1,2,64,bf16,2.8435\nb,h100-sxm,16,1,8,1,4,64,bf16,2.8435\n"),
      "no error");
  // Another way to write the same number.
  EXPECT_EQ(
      error_of("a,h100-sxm,16,1,8,1,2,64,bf16,2.8435\nb,h100-sxm,16,1,8,1,2,64,bf16,2.84350\n"),
      "f.csv:3: is row 'a' again");
}

TEST(MeasuredRow, ARowOfTwoFilesIsUsedOnce) {
  const auto first = rows("a,h100-sxm,16,1,8,1,2,64,bf16,1\nb,h100-sxm,16,1,8,1,2,64,bf16,2\n");
  auto second = parse_measured_rows(std::string(kHeader) + "\nb,h100-sxm,16,1,8,1,2,64,bf16,2\n" +
                                        "c,h100-sxm,16,1,8,1,2,64,bf16,3\n",
                                    "g.csv");
  ASSERT_TRUE(first && second);
  std::vector<MeasuredRow> all = first->rows;
  all.insert(all.end(), second->rows.begin(), second->rows.end());
  const std::vector<RowProblem> problems = leave_out_repeats(all);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_EQ(problems[0].where, "g.csv:2");
  EXPECT_EQ(problems[0].what, "row_id 'b' stands in f.csv too");
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[2].row_id, "c");
}

// Memory and verdicts can be compared without a step time.
TEST(MeasuredRow, AStepTimeIsNoDescriptionOfTheRun) {
  for (const std::string measured : {"memory_per_gpu_gib", "status"}) {
    const auto r = parse_measured_rows(
        "row_id,accelerator,num_gpus,seq_len,tp,pp,micro_batch,global_batch,precision," + measured +
            "\na,h100-sxm,16,1,8,1,2,64,bf16," + (measured == "status" ? "oom" : "70.5") + "\n",
        "f.csv");
    ASSERT_TRUE(r) << r.error().text();
    ASSERT_THAT(r->rows, SizeIs(1));
    EXPECT_FALSE(r->rows[0].step_time);
  }
}

TEST(MeasuredRow, TheOtherRowsOfAFileAreUsed) {
  const auto r = rows(
      "a,h100-sxm,16,1,8,1,2,64,bf16,1\nb,h100-sxm,x,1,8,1,2,64,bf16,1\nc,h100-sxm,16,1,8,1,2,64,"
      "bf16,2\n");
  ASSERT_TRUE(r);
  EXPECT_THAT(r->rows, SizeIs(2));
  EXPECT_THAT(r->problems, SizeIs(1));
}

TEST(MeasuredRow, ReadsEveryFileWeShip) {
  std::size_t total = 0;
  std::size_t complete = 0;
  std::size_t out_of_memory = 0;
  const auto folder = std::filesystem::path(ORRERY_SOURCE_DIR) / "validation/measured";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    auto r = read_measured_rows(entry.path().string());
    ASSERT_TRUE(r) << r.error().text();
    EXPECT_THAT(r->problems, SizeIs(0)) << r->problems.front().where << r->problems.front().what;
    total += r->rows.size();
    for (const MeasuredRow& row : r->rows) {
      EXPECT_EQ(row.source_id, entry.path().stem().string());
      complete += row.missing.empty() && row.step_time.has_value();
      out_of_memory += row.status == "oom";
    }
  }
  // The counts of validation/measured/README.md.
  EXPECT_EQ(total, 1757u);
  EXPECT_EQ(complete, 1062u);
  EXPECT_EQ(out_of_memory, 355u);
  EXPECT_THAT(measured_columns(), SizeIs(91));
}

TEST(MeasuredRow, AbsentFileIsAnError) {
  auto r = read_measured_rows("no-such-file.csv");
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().text(), HasSubstr("no-such-file.csv: cannot be read"));
}

}  // namespace
}  // namespace orrery
