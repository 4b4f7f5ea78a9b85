#include "report/drawing/bar.h"

#include <gmock/gmock.h>

#include <limits>
#include <vector>

namespace orrery {
namespace {

const TextStyle kPlain = {.width = 80, .colour = false};

std::string one(double share, int width) {
  const BarSegment segment = {share, {}};
  return bar({&segment, 1}, width, kPlain);
}

TEST(Bar, EndsAtAnEighthOfACell) {
  EXPECT_EQ(one(0, 4), "    ");
  EXPECT_EQ(one(1, 4), "████");
  EXPECT_EQ(one(0.5, 4), "██  ");
  EXPECT_EQ(one(0.5 + 1.0 / 32, 4), "██▏ ");
  EXPECT_EQ(one(1e-9, 4), "▏   ") << "what is not zero is seen";
}

TEST(Bar, StaysInItsWidthWhateverItIsGiven) {
  for (const double share : {-1.0, 2.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(display_width(one(share, 7)), 7);
  }
}

TEST(Bar, PartsOfAStackAddUp) {
  const std::vector<BarSegment> thirds(3, {1.0 / 3, {}});
  EXPECT_EQ(bar(thirds, 10, kPlain), "███▓▓▓▓▒▒▒");
  const std::vector<BarSegment> most = {{0.5, {}}, {0.25, {}}};
  EXPECT_EQ(bar(most, 8, kPlain), "████▓▓  ");
}

TEST(Sparkline, KeepsPeaks) {
  const std::vector<double> values = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(sparkline(values, 8), "▁▂▃▄▅▆▇█");
  std::vector<double> spike(100, 0.0);
  spike[57] = 1;
  EXPECT_THAT(sparkline(spike, 10), testing::HasSubstr("█"));
  EXPECT_EQ(display_width(sparkline(spike, 10)), 10);
  EXPECT_EQ(sparkline({}, 10), "");
}

}  // namespace
}  // namespace orrery
