#include "check/collective_results.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

constexpr std::string_view kRow =
    "8388608 2097152 float sum -1 217.3 38.60 74.79 0 216.0 38.8 75.2 0\n";

std::string output(std::string_view program) {
  return "# nccl-tests version 2.17.6 nccl-headers=22903 nccl-library=22903\n"
         "# Collective test starting: " +
         std::string(program) +
         "\n"
         "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 1\n#\n"
         "# Using devices\n"
         "#  Rank  0 Group  0 Pid  71 on     node-a device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n"
         "#  Rank  1 Group  0 Pid  72 on     node-b device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n"
         "#\n"
         "#                             out-of-place                       in-place\n"
         "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
         "#  (B)  (elements)            (us) (GB/s) (GB/s)  (us) (GB/s) (GB/s)\n";
}

std::string error_of(const std::string& text) {
  const auto out = parse_collective_results(text, "r.txt", std::nullopt);
  return out ? "accepted" : out.error().text();
}

TEST(CollectiveResults, AreReadByTheirTitles) {
  const auto out = parse_collective_results(
      output("all_reduce_perf") + std::string(kRow) +
          "node-a:71:71 [0] NCCL INFO something\n# Out of bounds values : 0 OK\n"
          "# Avg bus bandwidth    : 75\n# Collective test concluded: all_reduce_perf\n",
      "r.txt", std::nullopt);
  ASSERT_TRUE(out) << out.error().text();
  ASSERT_EQ(out->size(), 1U);
  const CollectiveResults& test = out->front();
  EXPECT_EQ(test.kind, CollectiveKind::all_reduce);
  EXPECT_EQ(test.ranks, 2);
  EXPECT_EQ(test.nodes, 2);
  ASSERT_EQ(test.sizes.size(), 1U);
  EXPECT_EQ(test.sizes[0].line, 12U);
  EXPECT_EQ(test.sizes[0].payload, Bytes(8388608));
  EXPECT_NEAR(test.sizes[0].time.value(), 217.3e-6, 1e-12);
  EXPECT_NEAR(test.sizes[0].in_place->value(), 216e-6, 1e-12);
  EXPECT_EQ(test.sizes[0].wrong, 0);
}

TEST(CollectiveResults, OfSeveralTestsAndBehindTags) {
  std::string tagged =
      "[1,0]<stdout>:# size count type redop root time algbw busbw #wrong\n"
      "[1,0]<stdout>:1024 256 float none -1 20.0 1 1 3\n"
      " 0: # size count type redop root time algbw busbw #wrong\n"
      " 0: 2048 256 float none -1 21.0 1 1 N/A\n 0: 0 0 float none -1 1 1 1 0\n";
  const auto out = parse_collective_results(tagged, "r.txt", CollectiveKind::all_gather);
  ASSERT_TRUE(out) << out.error().text();
  ASSERT_EQ(out->size(), 2U);
  EXPECT_EQ(out->front().kind, CollectiveKind::all_gather);
  EXPECT_EQ(out->front().sizes[0].wrong, 3);
  EXPECT_EQ(out->front().ranks, 0);
  EXPECT_EQ(out->back().sizes.size(), 1U);  // nothing was sent in the other row
}

TEST(CollectiveResults, ThatCannotBeAreRefusedByLine) {
  EXPECT_THAT(error_of(""), testing::HasSubstr("no results of nccl-tests"));
  EXPECT_THAT(error_of(output("all_reduce_perf")), testing::HasSubstr("without any size"));
  EXPECT_THAT(error_of(output("sendrecv_perf")),
              testing::HasSubstr("'sendrecv_perf' is not checked"));
  EXPECT_THAT(error_of("# size count type time\n1024 256 float 20\n"),
              testing::HasSubstr("does not say which collective"));
  EXPECT_THAT(error_of(output("all_reduce_perf") + "1024 256 float\n"),
              testing::HasSubstr("r.txt:12: a row of 3 columns where the titles name 13"));
  EXPECT_THAT(error_of(output("all_reduce_perf") + "1024 256 float sum -1 x 1 1 0 1 1 1 0\n"),
              testing::HasSubstr("'x' is not a time in microseconds"));
  EXPECT_THAT(error_of(output("all_reduce_perf") + "1024 256 float sum -1 nan 1 1 0 1 1 1 0\n"),
              testing::HasSubstr("'nan' is not a time"));
}

}  // namespace
}  // namespace orrery
