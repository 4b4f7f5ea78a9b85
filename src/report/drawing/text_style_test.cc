#include "report/drawing/text_style.h"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

namespace orrery {
namespace {

TEST(DisplayWidth, CountsCellsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("µs · é"), 6);
  EXPECT_EQ(display_width("e\u0301"), 1);  // combining accent
  EXPECT_EQ(display_width("模型"), 4);     // wide characters
  EXPECT_EQ(display_width("█▏"), 2);
  EXPECT_EQ(display_width("\xff\xfe"), 2);      // no UTF-8: one cell a byte
  EXPECT_EQ(display_width("\xed\xa0\x80"), 3);  // a surrogate is no character
}

TEST(Printable, LeavesNothingThatMovesTheCursor) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\uFFFD[2Jb");
  EXPECT_EQ(printable("a\tb\nc"), "a b c");
  EXPECT_EQ(printable("\xc2\x9b"), "\uFFFD");      // C1 control sequence introducer
  EXPECT_EQ(printable("\u202Eabc"), "\uFFFDabc");  // right-to-left override
  EXPECT_EQ(printable("\xff"), "\uFFFD");
  EXPECT_EQ(printable("模型 é"), "模型 é");
}

TEST(TerminalText, KeepsLinesAndTheColoursThatWeWrite) {
  const std::string red = "\x1b[38;5;1ma\x1b[0m\nb\x1b[2J\xff";
  EXPECT_EQ(terminal_text(red, {.colour = true}), "\x1b[38;5;1ma\x1b[0m\nb\uFFFD[2J\uFFFD");
  EXPECT_EQ(terminal_text(red, {}), "\uFFFD[38;5;1ma\uFFFD[0m\nb\uFFFD[2J\uFFFD");
}

TEST(Shortened, KeepsWholeCharactersAndShowsTheCut) {
  EXPECT_EQ(shortened("interleaved", 11), "interleaved");
  EXPECT_EQ(shortened("interleaved", 6), "inter…");
  EXPECT_EQ(shortened("模型模型", 4), "模…");
  EXPECT_EQ(shortened("abc", 0), "");
  for (int width = 1; width < 12; ++width) {
    EXPECT_LE(display_width(shortened("模型 interleaved", width)), width);
  }
}

TEST(Fitted, IsExactlyAsWideAsAsked) {
  EXPECT_EQ(fitted("8", 3, Align::right), "  8");
  EXPECT_EQ(fitted("tp", 4, Align::left), "tp  ");
  EXPECT_EQ(display_width(fitted("模型模型", 5, Align::left)), 5);
}

TEST(Wrapped, BreaksAtSpacesWithinTheWidth) {
  EXPECT_EQ(lines_within("tp=2,pp=4 and more", 10),
            (std::vector<std::string>{"tp=2,pp=4", "and more"}));
  EXPECT_EQ(lines_within("tp=2,pp=4,zero=1", 5),
            (std::vector<std::string>{"tp=2,", "pp=4,", "zero=1"}));
  EXPECT_EQ(lines_within("  part", 8), (std::vector<std::string>{"  part"}));
  EXPECT_EQ(lines_within("", 8), (std::vector<std::string>{""}));
  EXPECT_EQ(wrapped("one two three four", 2, {.width = 20}), "  one two three four\n");
  EXPECT_EQ(wrapped("one two three four five", 2, {.width = 20}), "  one two three four\n  five\n");
  EXPECT_EQ(wrapped("", 2, {.width = 20}), "");
  std::istringstream lines(wrapped(std::string(200, 'x') + " y", 2, {.width = 30}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 30);
}

TEST(Painted, WritesEscapeCodesOnlyWhereTheyAreAllowed) {
  const Ink ink = {.colour = 33, .bold = true};
  EXPECT_EQ(painted("8", ink, {.width = 80, .colour = false}), "8");
  EXPECT_EQ(painted("8", ink, {.width = 80, .colour = true}), "\x1b[1;38;5;33m8\x1b[0m");
  EXPECT_EQ(painted("8", {}, {.width = 80, .colour = true}), "8");
}

}  // namespace
}  // namespace orrery
