#include "document/utf8.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(Utf8, AcceptsEveryLengthAndItsBounds) {
  for (const std::string_view text :
       {"", "plain", "caf\xC3\xA9", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
        "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(first_invalid_utf8(text), std::nullopt) << text;
  }
}

TEST(Utf8, NamesTheOffsetOfTheFirstInvalidCharacter) {
  EXPECT_EQ(first_invalid_utf8("ab\x9C"), 2u);            // a continuation without a lead
  EXPECT_EQ(first_invalid_utf8("a\xC0\x80"), 1u);         // overlong NUL
  EXPECT_EQ(first_invalid_utf8("\xE0\x9F\xBF"), 0u);      // overlong
  EXPECT_EQ(first_invalid_utf8("\xED\xA0\x80"), 0u);      // a surrogate
  EXPECT_EQ(first_invalid_utf8("\xF4\x90\x80\x80"), 0u);  // beyond U+10FFFF
  EXPECT_EQ(first_invalid_utf8("\xF8\x88\x80\x80"), 0u);  // no such lead
  EXPECT_EQ(first_invalid_utf8("x\xE2\x82"), 1u);         // cut off
  EXPECT_EQ(first_invalid_utf8("x\xE2\x82z"), 1u);        // interrupted
  EXPECT_EQ(first_invalid_utf8(std::string_view("a\0b", 3)), 1u);
}

}  // namespace
}  // namespace orrery
