#include "report/drawing/roofline_svg.h"

#include <gmock/gmock.h>

#include <string>

#include "report/drawing/drawn_parts.h"

namespace orrery {
namespace {

using testing::HasSubstr;

RooflineChart chart_of_two_peaks() {
  return {.name = "roofline of h100-sxm",
          .bandwidth = BytesPerSecond(3.35e12),
          .bandwidth_label = "3.35 TB/s",
          .peaks = {{.label = "400 TFLOP/s", .rate = FlopsPerSecond(400e12)},
                    {.label = "1.00 PFLOP/s", .rate = FlopsPerSecond(1e15)}},
          .points = {{.intensity = 200,
                      .rate = FlopsPerSecond(5e14),
                      .share = 0.25,
                      .css_class = "attention",
                      .tip = "aten::mm"}}};
}

// Every roof is named, also one that is the upper edge of the chart: each peak above its right end,
// the bandwidth beside where its slope begins.
TEST(RooflineSvg, NamesEveryRoof) {
  const std::string svg = roofline_svg(chart_of_two_peaks());
  EXPECT_THAT(svg, HasSubstr(R"(class="note)"));
  for (const char* label : {">3.35 TB/s</text>", ">400 TFLOP/s</text>", ">1.00 PFLOP/s</text>"}) {
    EXPECT_THAT(svg, HasSubstr(label));
  }
}

// Both axes are logarithmic, with a line and a label for each power of ten.
TEST(RooflineSvg, HasALineForEachDecade) {
  const std::string svg = roofline_svg(chart_of_two_peaks());
  for (const char* label : {">100</text>", ">1000</text>", ">10000</text>", ">100 TFLOP/s</text>",
                            ">1.00 PFLOP/s</text>"}) {
    EXPECT_THAT(svg, HasSubstr(label));
  }
  EXPECT_EQ(count_of(svg, R"(class="grid")"), 3 + 2);
  EXPECT_EQ(count_of(svg, R"(class="roof")"), 3);
}

TEST(RooflineSvg, APointsAreaIsItsShare) {
  EXPECT_THAT(roofline_svg(chart_of_two_peaks()), HasSubstr(R"(r="16" data-tip="aten::mm")"));
}

TEST(RooflineSvg, NothingToShowIsEmpty) {
  RooflineChart chart = chart_of_two_peaks();
  chart.points.front().rate = {};
  EXPECT_EQ(roofline_svg(chart), "");
  chart = chart_of_two_peaks();
  chart.peaks.clear();
  EXPECT_EQ(roofline_svg(chart), "");
}

}  // namespace
}  // namespace orrery
