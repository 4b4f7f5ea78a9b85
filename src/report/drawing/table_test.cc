#include "report/drawing/table.h"

#include <gmock/gmock.h>

#include <sstream>

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

TEST(Table, CutsNothingWhereNothingMayBe) {
  const std::string text = sample().text({.width = 20, .cuts = false});
  EXPECT_THAT(text, testing::HasSubstr("tp8 pp16 模型   8.00 s  the|best  ████\n"));
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
}  // namespace orrery
