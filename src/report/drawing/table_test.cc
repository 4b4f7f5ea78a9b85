#include "report/drawing/table.h"

#include <gmock/gmock.h>

#include <limits>
#include <sstream>
#include <vector>

namespace orrery {
namespace {

Table sample() {
  Table table({{.title = "plan", .importance = 3},
               {.title = "step", .align = Align::right, .importance = 4},
               {.title = "remark", .importance = 0},
               {.title = "", .importance = 0, .longest_bar = 20}});
  table.add_row({{.text = "tp8 pp16 模型"},
                 {.text = "8.00 s"},
                 {.text = "the|best"},
                 {.text = "", .ink = {}, .bar = {{0.5, {.colour = 33}}}}});
  table.add_rule();
  table.add_row({{.text = "tp4"}, {.text = "12.50 s"}, {.text = ""}, {}});
  return table;
}

TEST(Table, AlignsNumbersToTheRightAndRulesUnderTheTitles) {
  EXPECT_EQ(sample().text({.width = 60}),
            "  plan              step  remark\n"
            "  ──────────────────────────────────────────────────────\n"
            "  tp8 pp16 模型   8.00 s  the|best  ██████████\n"
            "  ──────────────────────────────────────────────────────\n"
            "  tp4            12.50 s\n");
}

TEST(Table, NeverExceedsTheWidth) {
  for (int width = 20; width <= 120; ++width) {
    std::istringstream lines(sample().text({.width = width}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(Table, DropsTheLeastImportantFirst) {
  const std::string narrow = sample().text({.width = 30});
  EXPECT_THAT(narrow, testing::HasSubstr("12.50 s"));
  EXPECT_THAT(narrow, testing::Not(testing::HasSubstr("remark")));
  EXPECT_THAT(sample().text({.width = 20}), testing::HasSubstr("tp8 pp16…"));
}

TEST(Table, NeverDropsOrCutsWhatTellsRowsApart) {
  Table table(left("name").telling_rows_apart(), right("speed", 5));
  table.row("a-name-that-has-to-be-typed", "12 GB/s");
  EXPECT_THAT(table.text({.width = 40}), testing::HasSubstr("typed  12 GB/s\n"));
  EXPECT_THAT(table.text({.width = 30}), testing::HasSubstr("  a-name-that-has-to-be-typed\n"));
  EXPECT_THAT(table.text({.width = 30}), testing::Not(testing::HasSubstr("GB/s")));
  Table plans(right("tp").telling_rows_apart(), right("schedule").telling_rows_apart(),
              right("step", 9));
  plans.row("8", "interleaved_1f1b", "8.00 s");
  EXPECT_EQ(plans.text({.width = 21}), "  tp 8 ·\n  schedule interleaved_1f1b\n  · step 8.00 s\n");
}

TEST(Table, GoesOnInFurtherLinesWhereNothingMayBeCut) {
  EXPECT_EQ(sample().text({.width = 20, .cuts = false}),
            "  plan          step\n"
            "  ──────────────────\n"
            "  tp8 pp16    8.00 s\n"
            "  模型\n"
            "  ──────────────────\n"
            "  tp4        12.50 s\n");
  Table plans(left("--plan").telling_rows_apart(), right("step", 8));
  plans.row("tp=2,pp=4,schedule=interleaved_1f1b,zero=1", "1.75 s");
  EXPECT_EQ(plans.text({.width = 36, .cuts = false}),
            "  --plan                        step\n"
            "  ──────────────────────────────────\n"
            "  tp=2,pp=4,                  1.75 s\n"
            "  schedule=interleaved_1f1b,\n"
            "  zero=1\n");
  // What cannot be broken stays whole.
  EXPECT_THAT(plans.text({.width = 20, .cuts = false}),
              testing::HasSubstr("schedule=interleaved_1f1b,\n"));
}

// What a dropped column took is given back to those that stay.
TEST(Table, DropsColumnsBeforeTextsGoOnInFurtherLines) {
  Table table(left("kind").telling_rows_apart(), left("of", 5), left("source", 0));
  table.row("restarts", "what follows a failure", "arXiv 2407.21783, section 3.3.4");
  EXPECT_EQ(table.text({.width = 40, .cuts = false}),
            "  kind      of\n"
            "  ────────────────────────────────\n"
            "  restarts  what follows a failure\n");
}

TEST(Table, HasNoEscapeCodesWithoutColour) {
  EXPECT_EQ(sample().text({.width = 60, .colour = false}).find('\x1b'), std::string::npos);
  EXPECT_NE(sample().text({.width = 60, .colour = true}).find('\x1b'), std::string::npos);
}

TEST(Table, IsMarkdownToo) {
  EXPECT_EQ(sample().markdown(),
            "| plan | step | remark |\n"
            "| --- | ---: | --- |\n"
            "| tp8 pp16 模型 | 8.00 s | the\\|best |\n"
            "| tp4 | 12.50 s |  |\n");
}

}  // namespace

namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HeatTable, TheLargestFigureIsTheDarkest) {
  const std::string html =
      heat_table_html({"axis", {"inside", "outside"}, {{"dp", {{"1 GB", 1}, {"0.5 GB", 0.5}}}}});
  EXPECT_THAT(html, HasSubstr(" 85%,transparent)"));
  EXPECT_THAT(html, HasSubstr(" 42%,transparent)"));
}

TEST(HeatTable, NothingThereIsLeftBlank) {
  const std::string html = heat_table_html({"", {"one"}, {{"row", {{"never", -1}}}}});
  EXPECT_THAT(html, HasSubstr("<td></td>"));
  EXPECT_THAT(html, Not(HasSubstr("never")));
}

TEST(HeatTable, TextsCannotBecomeMarkup) {
  const std::string html =
      heat_table_html({"<i>", {"<b>"}, {{"<u>", {{"<s>", 0.1, "\"><script>"}}}}});
  EXPECT_THAT(html, HasSubstr("data-tip=\"&quot;&gt;&lt;script"));
  for (const char* tag : {"<i>", "<b>", "<u>", "<s>", "<script>"}) {
    EXPECT_THAT(html, Not(HasSubstr(tag)));
  }
}

}  // namespace

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
