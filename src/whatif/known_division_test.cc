#include "whatif/known_division.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/edit_language.h"

namespace orrery {
namespace {

using testing::HasSubstr;

Edit edit_of(std::string_view text) {
  const auto edits = parse_edits(text, "edits");
  EXPECT_TRUE(edits) << edits.error().text();
  return edits ? edits->at(0) : Edit{};
}

// Eight ranks, 48 heads of 128, a feed-forward of 4 hidden.
KnownDivision division() {
  KnownDivision known;
  known.tensor_ranks = 8;
  known.data_ranks = 1;
  known.hidden = 6144;
  known.feed_forward = 24'576;
  known.heads = 48;
  known.head_size = 128;
  known.vocabulary = 51'200;
  known.sequence = 1024;
  known.micro_batch = 5;
  return known;
}

std::string refused(std::string_view text, const KnownDivision& known) {
  const auto resized = ResizedDimensions::of(edit_of(text), known);
  EXPECT_FALSE(resized) << text;
  return resized ? "" : resized.error().text();
}

TEST(KnownDivision, TensorRanksDivideHeadsFeedForwardAndHidden) {
  for (const char* text : {"tp 1", "tp 2", "tp 6", "tp 8", "tp 16", "tp 48"}) {
    EXPECT_TRUE(check_tensor_ranks(division(), edit_of(text))) << text;
  }
  const auto refusal = check_tensor_ranks(division(), edit_of("tp 7"));
  ASSERT_FALSE(refusal);
  EXPECT_THAT(refusal.error().text(), HasSubstr("tp 7: 48 heads cannot be divided by 7"));
  EXPECT_THAT(refusal.error().text(), HasSubstr("1, 2, 3, 4, 6, 8, 12, 16, 24, 48)"));
  KnownDivision whole = division();
  whole.tensor_ranks = 1;
  EXPECT_FALSE(check_tensor_ranks(whole, edit_of("tp 2")));
  EXPECT_TRUE(check_tensor_ranks(whole, edit_of("tp 1")));
  // Nothing known, nothing refused.
  EXPECT_TRUE(check_tensor_ranks({}, edit_of("tp 7")));
}

TEST(ResizedDimensions, OfHiddenAreItsSharesAndWhatIsInProportion) {
  const auto resized = ResizedDimensions::of(edit_of("resize 6144 to 12288"), division());
  ASSERT_TRUE(resized) << resized.error().text();
  EXPECT_EQ(resized->role(), "hidden size");
  EXPECT_EQ((*resized)(6144), 12'288);
  EXPECT_EQ((*resized)(768), 1536);   // a rank's heads
  EXPECT_EQ((*resized)(2304), 4608);  // q, k and v
  EXPECT_EQ((*resized)(3072), 6144);  // its feed-forward
  EXPECT_EQ((*resized)(1024), 1024);  // tokens stay
  EXPECT_EQ((*resized)(51'200), 51'200);
  EXPECT_EQ(resized->elements(5LL * 1024 * 6144), 5LL * 1024 * 12'288);
}

TEST(ResizedDimensions, OfTheFeedForwardLeaveActivationsOfLayers) {
  const auto resized = ResizedDimensions::of(edit_of("resize 24576 to 12288"), division());
  ASSERT_TRUE(resized) << resized.error().text();
  EXPECT_EQ((*resized)(24'576), 12'288);
  EXPECT_EQ((*resized)(24'576 / 8), 12'288 / 8);
  EXPECT_EQ((*resized)(6144), 6144);
  EXPECT_EQ(resized->elements(5LL * 1024 * 6144), 5LL * 1024 * 6144);
}

TEST(ResizedDimensions, OfTheMicroBatchAreNotEverythingItDivides) {
  KnownDivision known = division();
  known.micro_batch = 4;  // divides hidden, the sequence, and all else
  const auto resized = ResizedDimensions::of(edit_of("resize 4 to 8"), known);
  ASSERT_TRUE(resized) << resized.error().text();
  EXPECT_EQ((*resized)(4), 8);
  EXPECT_EQ((*resized)(4096), 8192);
  EXPECT_EQ((*resized)(24), 48);  // with the heads of a rank
  EXPECT_EQ((*resized)(6144), 6144);
  EXPECT_EQ((*resized)(1024), 1024);
  EXPECT_EQ((*resized)(768), 768);
  EXPECT_EQ(resized->elements(4LL * 1024 * 6144), 8LL * 1024 * 6144);
  EXPECT_EQ(resized->elements(614'400), 614'400);  // gradients
}

TEST(ResizedDimensions, RefuseWhatRanksOrHeadsCannotDivide) {
  EXPECT_THAT(refused("resize 6144 to 6145", division()),
              HasSubstr("8 ranks divide the hidden size: 6145 is not a multiple (6152 is)"));
  EXPECT_THAT(refused("resize 6144 to 6152", division()),
              HasSubstr("48 heads divide the hidden size: 6152 is not a multiple (6192 is)"));
  KnownDivision known = division();
  known.sequence = 3072;  // a rank's feed-forward as well
  EXPECT_THAT(refused("resize 3072 to 1536", known), HasSubstr("shapes do not tell them apart"));
  known.sequence = 6144;
  EXPECT_THAT(refused("resize 6144 to 12288", known),
              HasSubstr("the hidden size and the sequence"));
}

TEST(ResizedDimensions, OfAnotherQuantityAreThatAlone) {
  const auto resized = ResizedDimensions::of(edit_of("resize 128 to 64"), division());
  ASSERT_TRUE(resized) << resized.error().text();
  EXPECT_EQ((*resized)(128), 64);
  EXPECT_EQ((*resized)(6144), 6144);  // 48 times 128
}

TEST(ResizedDimensions, AreMultiplesWhereNothingIsKnown) {
  const auto resized = ResizedDimensions::of(edit_of("resize 4 to 6"), {});
  ASSERT_TRUE(resized);
  EXPECT_EQ((*resized)(4), 6);
  EXPECT_EQ((*resized)(4096), 6144);
  EXPECT_EQ((*resized)(5), 5);
  EXPECT_EQ((*resized)(0), 0);
  EXPECT_TRUE(resized->role().empty());
}

}  // namespace
}  // namespace orrery
