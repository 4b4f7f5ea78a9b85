#include "golden/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::golden {
namespace {

using testing::HasSubstr;

using Lines = std::vector<std::string>;

bool matches(const Lines& expected, const Lines& printed) {
  return !first_difference(expected, printed).has_value();
}

TEST(GoldenComparison, LinesAreComparedExactly) {
  EXPECT_TRUE(matches({"a", "b"}, {"a", "b"}));
  EXPECT_FALSE(matches({"a", "b"}, {"a"}));
  EXPECT_FALSE(matches({"a"}, {"a", "b"}));
  EXPECT_FALSE(matches({"a "}, {"a"}));
  EXPECT_TRUE(matches({"\\..."}, {"..."}));
  EXPECT_FALSE(matches({"\\..."}, {"x"}));
}

TEST(GoldenComparison, AGapStandsForAnyLines) {
  EXPECT_TRUE(matches({"..."}, {}));
  EXPECT_TRUE(matches({"...", "z"}, {"a", "b", "z"}));
  EXPECT_TRUE(matches({"a", "...", "c", "...", "e"}, {"a", "b", "c", "d", "c", "e"}));
  EXPECT_FALSE(matches({"a", "...", "c"}, {"a", "b"}));
  EXPECT_FALSE(matches({"...", "b"}, {"a", "b", "c"}));
}

TEST(GoldenComparison, NamesTheLineWhereTheTextsPart) {
  const auto difference = first_difference({"a", "b", "c"}, {"a", "x", "c"});
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->expected_line, 1u);
  EXPECT_EQ(difference->printed_line, 1u);
  EXPECT_THAT(show_difference({"a", "b", "c"}, {"a", "x", "c"}, *difference), HasSubstr("  > x\n"));
}

TEST(GoldenComparison, OnlyMeasuredTimesAreLeftOut) {
  EXPECT_EQ(without_clock("evaluated 12 plans, elapsed 3.1 s"),
            "evaluated 12 plans, elapsed <clock>");
  EXPECT_EQ(without_clock("  \"elapsed_s\": 0.25,"), "  \"elapsed_s\": <clock>");
  EXPECT_EQ(without_clock("112,000 plans/s, took 12 ms"), "<clock>, took <clock>");
  EXPECT_EQ(without_clock("step time 5.91 s"), "step time 5.91 s");
  EXPECT_EQ(without_clock("tokens/s 2,841,000"), "tokens/s 2,841,000");
}

}  // namespace
}  // namespace orrery::golden
