#include "report/drawing/svg_chart.h"

#include <gmock/gmock.h>

#include "report/drawing/drawn_parts.h"
#include "report/drawing/plot_svg.h"

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TimeChart, DrawsStepsAndNoNumberThatIsNone) {
  const std::string svg = time_chart_svg(
      {.name = "busy",
       .unit = "%",
       .series = {{.css_class = "bubble", .label = "<b>", .values = {0, 50, 50, 100}},
                  {.css_class = "host", .label = "limit", .values = {100}}},
       .seconds = 0.004,
       .highest = 100});
  EXPECT_THAT(svg, HasSubstr("class=\"c-bubble\""));
  EXPECT_THAT(svg, HasSubstr("class=\"over o-host\""));
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  // Two of the four values are alike: the outline has steps for the others.
  EXPECT_EQ(count_of(svg, "V"), 2 + 1);
}

TEST(TimeChart, OfNothingIsAnEmptyAxis) {
  for (const double seconds : {0.0, 1.0}) {
    const std::string svg =
        time_chart_svg({.name = "", .unit = "", .series = {}, .seconds = seconds});
    EXPECT_THAT(svg, HasSubstr("</svg>"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(BandChart, HasOnePathAColourForEveryBand) {
  const std::string svg = band_chart_svg(
      {.name = "ranks",
       .css_classes = {"a", "b"},
       .bands = {{.label = "rank 0", .tip = "\"quoted\"", .shares = {{0.5, 1, 0}, {0.5, 0, 0}}},
                 {.label = "rank 1", .tip = "", .shares = {}}},
       .seconds = 3});
  EXPECT_EQ(count_of(svg, "class=\"c-a\""), 1);
  EXPECT_EQ(count_of(svg, "class=\"c-b\""), 1);
  EXPECT_EQ(count_of(svg, "class=\"band\""), 2);
  EXPECT_THAT(svg, HasSubstr("&quot;quoted&quot;"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(Roofline, ShowsPointsUnderTheRoof) {
  const std::string svg = roofline_svg(
      {.name = "h100",
       .bandwidth = BytesPerSecond(3.35e12),
       .bandwidth_label = "3.35 TB/s",
       .peaks = {{"989 TFLOP/s", FlopsPerSecond(989e12)}, {"67.0 TFLOP/s", FlopsPerSecond(67e12)}},
       .points = {{.intensity = 100,
                   .rate = FlopsPerSecond(50e12),
                   .share = 0.5,
                   .css_class = "host",
                   .tip = "gemm"},
                  {.intensity = 0.001,
                   .rate = FlopsPerSecond(1),
                   .share = 0,
                   .css_class = "host",
                   .tip = "tiny"}}});
  EXPECT_EQ(count_of(svg, "<circle"), 2);
  EXPECT_EQ(count_of(svg, "class=\"roof\""), 3);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf\"")));
}

TEST(Roofline, OfNothingIsNothing) {
  EXPECT_EQ(roofline_svg({.name = "",
                          .bandwidth = BytesPerSecond(1e12),
                          .bandwidth_label = "",
                          .peaks = {{"", FlopsPerSecond(1e12)}},
                          .points = {}}),
            "");
}

}  // namespace
}  // namespace orrery
