#include "report/drawing/figures.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

namespace orrery {
namespace {

TEST(Figures, GroupsDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(16384), "16,384");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
}

TEST(Figures, CompactHasThreeDigits) {
  EXPECT_EQ(compact(0), "0");
  EXPECT_EQ(compact(128), "128");
  EXPECT_EQ(compact(999.6), "1.00 k");
  EXPECT_EQ(compact(2097152), "2.10 M");
  EXPECT_EQ(compact(40130), "40.1 k");
}

TEST(Figures, PercentAndMemory) {
  EXPECT_EQ(percent(0.40444), "40.4 %");
  EXPECT_EQ(signed_percent(0.026), "+2.6 %");
  EXPECT_EQ(signed_percent(-0.5), "-50.0 %");
  EXPECT_EQ(gibibytes(ByteCount{80} << 30), "80.0 GiB");
  EXPECT_EQ(gibibytes(ByteCount{15682} << 30), "15.31 TiB");
  EXPECT_EQ(gibibytes(-(ByteCount{1973} << 30)), "-1.93 TiB");
}

TEST(Figures, SharesAddUpToAHundredPercent) {
  const std::vector<Picoseconds> thirds(3, Picoseconds(1));
  EXPECT_THAT(tenths_of_percent(thirds), testing::ElementsAre(334, 333, 333));
  const std::vector<Picoseconds> nothing(3);
  EXPECT_THAT(tenths_of_percent(nothing), testing::ElementsAre(0, 0, 0));
  for (int n = 1; n < 40; ++n) {
    std::vector<Picoseconds> parts;
    for (int i = 0; i < n; ++i) parts.emplace_back(std::floor(1e9 * std::abs(std::sin(i * n + 1))));
    const std::vector<int> tenths = tenths_of_percent(parts);
    EXPECT_EQ(std::accumulate(tenths.begin(), tenths.end(), 0), 1000);
  }
}

}  // namespace
}  // namespace orrery
