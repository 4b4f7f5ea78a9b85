#include "report/drawing/plot_svg.h"

#include <gmock/gmock.h>

#include "report/drawing/drawn_parts.h"

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::Not;

Plot plot_of(PlotAxis x, PlotAxis y) {
  return {.name = "<plot>",
          .x = std::move(x),
          .y = std::move(y),
          .curves = {{.points = {{1, 1}, {2, 4}, {3, 1}},
                      .css_class = "over o-accent",
                      .label = "hill",
                      .tip = "\"tip\""},
                     {.points = {{1, 1}, {2, 4}, {3, 1}},
                      .css_class = "over o-accent",
                      .label = "the same hill"}}};
}

TEST(Plot, EscapesWhatItIsGivenAndHasNoNumberThatIsNone) {
  for (const bool logarithmic : {false, true}) {
    const auto axis = [&](double low, double high) {
      return logarithmic ? log_axis("x", low, high) : linear_axis("x", low, high, 5);
    };
    const std::string svg = plot_svg(plot_of(axis(1, 3), axis(1, 4)));
    EXPECT_THAT(svg, HasSubstr("&lt;plot&gt;"));
    EXPECT_THAT(svg, HasSubstr("data-tip=\"&quot;tip&quot;\""));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(Plot, PutsMarksInRowsWhereTheirLabelsMeet) {
  Plot plot = plot_of(linear_axis("x", 0, 10, 5), linear_axis("y", 0, 5, 5));
  plot.marks = {{2, "a long label here"}, {2.1, "another long label"}, {9, "far"}};
  const std::string svg = plot_svg(plot);
  EXPECT_EQ(count_of(svg, "note halo middle"), 3);
  // Two rows: the first and the third stand in the lower one.
  EXPECT_EQ(count_of(svg, "y=\"50\">"), 2);
  EXPECT_EQ(count_of(svg, "y=\"34\">"), 1);
}

TEST(Plot, LeavesOutWhatIsOutsideOfItsFrame) {
  Plot plot = plot_of(linear_axis("x", 0, 4, 5), linear_axis("y", 0, 2, 5));
  plot.curves.resize(1);
  EXPECT_THAT(plot_svg(plot), Not(HasSubstr("L"))) << "its only inner points are no neighbours";
  plot.curves[0].area = true;
  EXPECT_EQ(count_of(plot_svg(plot), "Z"), 1);
}

TEST(PlotAxis, HasTicksThatPeopleRead) {
  std::vector<std::string> labels;
  for (const PlotTick& t : linear_axis("", -0.3, 1.2, 4).ticks) labels.push_back(t.label);
  EXPECT_THAT(labels, testing::ElementsAre("0", "0.5", "1"));
  labels.clear();
  for (const PlotTick& t : log_time_axis("", 5, 5000).ticks) labels.push_back(t.label);
  EXPECT_THAT(labels, testing::ElementsAre("10 s", "1 min", "10 min", "1 h"));
  labels.clear();
  for (const PlotTick& t : log_axis("", 0.4, 6).ticks) labels.push_back(t.label);
  EXPECT_THAT(labels, testing::ElementsAre("0.5", "1", "2", "5"));
}

TEST(Tornado, ShowsBothSidesOfZero) {
  const std::string svg = tornado_svg(
      {.name = "t",
       .axis = "days",
       .rows = {{"failures", -2, 4, "-2 d", "+4 d"}, {"spares", -1, std::nullopt, "-1 d", ""}}});
  EXPECT_EQ(count_of(svg, "class=\"c-good\""), 2);
  EXPECT_EQ(count_of(svg, "class=\"c-bad\""), 1);
  EXPECT_THAT(svg, HasSubstr("failures doubled: +4 d"));
  EXPECT_THAT(tornado_svg({.name = "", .axis = "", .rows = {}}), Not(HasSubstr("nan")));
}

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
