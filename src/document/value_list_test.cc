#include "document/value_list.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> values(std::string_view text) { return value_list(text).value(); }
std::string refusal(std::string_view text) {
  const auto read = value_list(text);
  return read ? "" : read.error().text();
}

TEST(ValueList, KeepsTheOrderOfAList) {
  EXPECT_THAT(values("128"), ElementsAre("128"));
  EXPECT_THAT(values("8k,4k"), ElementsAre("8k", "4k"));
  EXPECT_THAT(values("h100-sxm:64,b200-sxm:64"), ElementsAre("h100-sxm:64", "b200-sxm:64"));
}

TEST(ValueList, WritesRangesOut) {
  EXPECT_THAT(values("128..1024*2"), ElementsAre("128", "256", "512", "1024"));
  EXPECT_THAT(values("128..1023*2"), ElementsAre("128", "256", "512"));
  EXPECT_THAT(values("8..32+8"), ElementsAre("8", "16", "24", "32"));
  EXPECT_THAT(values("0..2+1"), ElementsAre("0", "1", "2"));
  EXPECT_THAT(values("4k..16k*2,1M"), ElementsAre("4k", "8k", "16k", "1M"));
  EXPECT_THAT(values("h100-sxm:64..256*2"),
              ElementsAre("h100-sxm:64", "h100-sxm:128", "h100-sxm:256"));
  EXPECT_THAT(values("0.1..0.5+0.1"), ElementsAre("0.1", "0.2", "0.3", "0.4", "0.5"));
  EXPECT_THAT(values("64..64*2"), ElementsAre("64"));
  EXPECT_THAT(values("1k..3k+1k"), ElementsAre("1k", "2k", "3k"));
  EXPECT_THAT(values("1k..3k+1"), ElementsAre("1k", "2k", "3k"));
}

// A path with two points is no range.
TEST(ValueList, LeavesPathsAlone) {
  EXPECT_THAT(values("../model.yaml"), ElementsAre("../model.yaml"));
  EXPECT_THAT(values("a/../8b.yaml"), ElementsAre("a/../8b.yaml"));
}

TEST(ValueList, RangesOfSettingsAreCombined) {
  EXPECT_THAT(setting_lists("tp=1..4*2,pp=2").value(),
              ElementsAre("tp=1,pp=2", "tp=2,pp=2", "tp=4,pp=2"));
  EXPECT_THAT(setting_lists("tp=1..2*2,pp=4..8*2").value(),
              ElementsAre("tp=1,pp=4", "tp=1,pp=8", "tp=2,pp=4", "tp=2,pp=8"));
}

TEST(ValueList, RefusesInWords) {
  EXPECT_EQ(refusal("1,,2"), "the list '1,,2' has an empty member");
  EXPECT_THAT(refusal("1..8"), HasSubstr("has no step (write 1..8*2 to double, or 1..8+8 to add)"));
  EXPECT_THAT(refusal("4k..1M*2"), HasSubstr("different units"));
  EXPECT_THAT(refusal("8..4*2"), HasSubstr("does not grow"));
  EXPECT_THAT(refusal("1..8*1"), HasSubstr("does not grow"));
  EXPECT_THAT(refusal("0..8*2"), HasSubstr("does not grow"));
  EXPECT_THAT(refusal("1..8*nan"), HasSubstr("does not grow"));
  EXPECT_THAT(refusal("tp..8*2"), HasSubstr("is not a range of numbers"));
  EXPECT_THAT(refusal("1..8*x"), HasSubstr("is not a range of numbers"));
  EXPECT_THAT(refusal("1..1000000+1"), HasSubstr("has more than 10000 values"));
  EXPECT_THAT(refusal("1..9000+1,1..9000+1"), HasSubstr("more than 10000 values"));
  EXPECT_THAT(setting_lists("tp=1..9000+1,pp=1..2*2").error().message,
              HasSubstr("more than 10000 values"));
  EXPECT_THAT(refusal(std::string(5000, '1')), HasSubstr("more than 4096 characters"));
}

}  // namespace
}  // namespace orrery
