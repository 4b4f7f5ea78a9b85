#include "document/is_json.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery {
namespace {

TEST(IsJson, KnowsValuesOfEveryKind) {
  for (const char* text : {R"({"a": [1, -2.5e-3, true, false, null, "b\n\u00e9"]})", "[]", "{}",
                           "7", R"("text")", " [1]\n"}) {
    EXPECT_TRUE(is_json(text)) << text;
  }
}

TEST(IsJson, TakesLongIntegersAndHalfACharacter) {
  EXPECT_TRUE(is_json("[123456789012345678901234567890, 1e300]"));
  EXPECT_FALSE(is_json("[1e999]"));
  EXPECT_TRUE(is_json(R"("\udc00")"));
}

TEST(IsJson, RefusesWhatOnlyLooksLikeIt) {
  for (const char* text :
       {"", "nan", "[01]", "[1,]", "{a: 1}", R"({"a" 1})", R"({"a": 1)", R"(["a"]])", R"("a""b")",
        R"({"a": "b"\})", "\"\xd8\"", "\"a\nb\"", R"("\x")", "1 2"}) {
    EXPECT_FALSE(is_json(text)) << text;
  }
}

TEST(IsJson, NestsDeeperThanAnyStack) {
  const std::size_t depth = 1'000'000;
  EXPECT_TRUE(is_json(std::string(depth, '[') + std::string(depth, ']')));
  EXPECT_FALSE(is_json(std::string(depth, '[') + std::string(depth - 1, ']')));
}

}  // namespace
}  // namespace orrery
