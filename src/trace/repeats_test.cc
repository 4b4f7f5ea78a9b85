#include "trace/repeats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::uint32_t> sequence(const char* text) {
  std::vector<std::uint32_t> out;
  for (const char* c = text; *c != 0; ++c) out.push_back(static_cast<std::uint32_t>(*c));
  return out;
}

TEST(Repeats, FindsLayersBetweenOtherWork) {
  const auto s = sequence("xyabcabcabcabcz");
  EXPECT_THAT(repeats(s, 2), ElementsAre(Repeat{2, 3, 4}));
  EXPECT_THAT(repeats_of_count(s, 4, 2), ElementsAre(Repeat{2, 3, 4}));
  EXPECT_THAT(repeats_of_count(s, 3, 2), IsEmpty());
}

TEST(Repeats, FindsForwardAndBackward) {
  const auto s = sequence("xabababyefgefgefgz");
  EXPECT_THAT(repeats_of_count(s, 3, 2), ElementsAre(Repeat{1, 2, 3}, Repeat{8, 3, 3}));
}

TEST(Repeats, FindsMicrobatchesOfLayers) {
  // Two microbatches of three layers and a head.
  const auto s = sequence("abababhabababh");
  EXPECT_THAT(repeats_of_count(s, 2, 2), ElementsAre(Repeat{0, 7, 2}));
  EXPECT_THAT(repeats_of_count(s, 3, 2), ElementsAre(Repeat{0, 2, 3}, Repeat{7, 2, 3}));
}

TEST(Repeats, CountsAStretchOnceWhateverMultipleOfItsPeriod) {
  EXPECT_THAT(repeats(sequence("abababab"), 2), ElementsAre(Repeat{0, 2, 4}));
  EXPECT_THAT(repeats(sequence("aaaaaa"), 2), IsEmpty());
  EXPECT_THAT(repeats(sequence("abcdef"), 1), IsEmpty());
  EXPECT_THAT(repeats({}, 1), IsEmpty());
}

}  // namespace
}  // namespace orrery
