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

}  // namespace
}  // namespace orrery
