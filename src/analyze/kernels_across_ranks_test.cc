#include "analyze/kernels_across_ranks.h"

#include <gmock/gmock.h>

#include "trace/hand_made_trace.h"

namespace orrery {
namespace {

TEST(KernelsAcrossRanks, FindTheFastestAndTheSlowestRank) {
  std::vector<HandMadeTrace> made(3);
  made[0].kernel("gemm", 7, 0, 100, 1);
  made[0].kernel("gemm", 7, 100, 200, 2);
  made[1].kernel("gemm", 7, 0, 150, 1);
  made[2].kernel("gemm", 7, 0, 80, 1);
  made[2].kernel("add", 7, 80, 90, 2);
  std::vector<std::vector<KernelRow>> tables;
  tables.reserve(made.size());
  for (const HandMadeTrace& one : made) {
    tables.push_back(kernel_table(one.trace, launch_links(one.trace), work_kinds(one.trace)));
  }
  std::vector<KernelsOfRank> ranks;
  for (std::size_t r = 0; r < made.size(); ++r) {
    ranks.push_back({.trace = &made[r].trace, .rows = &tables[r]});
  }
  const std::vector<RunKernelRow> rows = kernels_across_ranks(ranks);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "gemm");
  EXPECT_EQ(rows[0].ranks, 3);
  EXPECT_EQ(rows[0].count, 4);
  EXPECT_EQ(rows[0].total_ns, 430);
  EXPECT_DOUBLE_EQ(rows[0].mean_ns(), 107.5);
  EXPECT_EQ(rows[0].fastest, 2U);
  EXPECT_EQ(rows[0].slowest, 1U);
  EXPECT_DOUBLE_EQ(rows[0].spread(), 150.0 / 80);
  EXPECT_EQ(rows[1].ranks, 1);
  EXPECT_DOUBLE_EQ(rows[1].spread(), 1);
}

TEST(KernelsAcrossRanks, OfZeroLengthAreAlike) {
  HandMadeTrace made;
  made.kernel("nothing", 7, 5, 5, 1);
  const auto table = kernel_table(made.trace, launch_links(made.trace), work_kinds(made.trace));
  const auto rows = kernels_across_ranks({{.trace = &made.trace, .rows = &table}});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(rows[0].spread(), 1);
}

}  // namespace
}  // namespace orrery
