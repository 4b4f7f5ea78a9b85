#include "report/drawing/scatter_svg.h"

#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "report/drawing/drawn_parts.h"

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::Not;

// Accelerator i has `most` - i points.
std::vector<JudgedPoint> points_of(int accelerators, int most) {
  std::vector<JudgedPoint> out;
  for (int i = 0; i < accelerators; ++i) {
    for (int k = 0; k < most - i; ++k) {
      JudgedPoint p;
      p.accelerator = "accelerator-" + std::string(1, static_cast<char>('a' + i));
      p.measured = Seconds(1 + k);
      p.predicted = Seconds(1.1 * (1 + k));
      out.push_back(p);
    }
  }
  return out;
}

TEST(ScatterSvg, DrawsEveryPointAndNamesItsAccelerator) {
  const auto points = points_of(3, 5);
  const std::string svg = scatter_svg(points, "a title");
  EXPECT_EQ(count_of(svg, R"(r="3.5")"), static_cast<int>(points.size()));
  for (const char* name : {"accelerator-a (5)", "accelerator-b (4)", "accelerator-c (3)"}) {
    EXPECT_THAT(svg, HasSubstr(name));
  }
  EXPECT_THAT(svg, Not(HasSubstr("others")));
  EXPECT_EQ(svg, scatter_svg(points, "a title"));
}

// No two lines of the legend share a colour, however many accelerators there are.
TEST(ScatterSvg, RareAcceleratorsAreOneLine) {
  const auto points = points_of(13, 20);
  const std::string svg = scatter_svg(points, "a title");
  EXPECT_EQ(count_of(svg, R"(r="3.5")"), static_cast<int>(points.size()));
  std::set<std::string> colours;
  constexpr std::string_view kDot = R"(r="5" fill=")";
  for (std::size_t at = svg.find(kDot); at != std::string::npos; at = svg.find(kDot, at + 1)) {
    colours.insert(svg.substr(at + kDot.size(), 7));
  }
  EXPECT_EQ(colours.size(), 10U);
  EXPECT_EQ(count_of(svg, kDot), 10);
  EXPECT_THAT(svg, HasSubstr("others (38)"));  // 11 + 10 + 9 + 8
  EXPECT_THAT(svg, Not(HasSubstr("accelerator-j (")));
}

}  // namespace
}  // namespace orrery
