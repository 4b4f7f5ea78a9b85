#include "outcome/nearest_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace orrery {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kNames = {"h100-sxm", "h200-sxm", "a100-80gb-sxm", "mi300x"};

TEST(NearestName, ForgivesTypingMistakes) {
  EXPECT_EQ(nearest_name("h10-sxm", kNames), "h100-sxm");    // left out
  EXPECT_EQ(nearest_name("h2000-sxm", kNames), "h200-sxm");  // put in
  EXPECT_EQ(nearest_name("h20o-sxm", kNames), "h200-sxm");   // replaced
  EXPECT_EQ(nearest_name("h020-sxm", kNames), "h200-sxm");   // swapped
  EXPECT_EQ(nearest_name("H100_SXM", kNames), "h100-sxm");   // case and separator
  EXPECT_EQ(nearest_name("a100", kNames), "a100-80gb-sxm");  // a part
}

TEST(NearestName, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("zzzzzzzz", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("", kNames), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(1000, 'h'), kNames), std::nullopt);
  EXPECT_EQ(nearest_name("h100", std::vector<std::string>{}), std::nullopt);
}

TEST(NearestName, TheFirstOfEquallyNearNamesWins) {
  EXPECT_EQ(nearest_name("h300-sxm", kNames), "h100-sxm");
}

TEST(NameHint, SuggestsOrLists) {
  EXPECT_EQ(name_hint("mi30x", kNames), "did you mean 'mi300x'?");
  EXPECT_EQ(name_hint("zzzzzzzz", kNames), "known: h100-sxm, h200-sxm, a100-80gb-sxm, mi300x");
  std::vector<std::string> many;
  for (int i = 0; i < 50; ++i) many.push_back("name-" + std::to_string(i));
  EXPECT_THAT(name_hint("zzzzzzzz", many), HasSubstr("name-11, ..."));
}

}  // namespace
}  // namespace orrery
