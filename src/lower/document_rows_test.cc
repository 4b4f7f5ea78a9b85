// Pairs of tokens within documents against closed forms, and how uneven ranks are.
#include "lower/document_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace orrery {
namespace {

constexpr AttentionCore kWhole{};

double pairs(Packing packing, std::vector<DocumentLength> lengths, std::int64_t row,
             double window = 0) {
  AttentionCore attention;
  attention.window = window;
  return DocumentRows({.lengths = std::move(lengths), .packing = packing}, row)
      .real_pairs(attention);
}

TEST(DocumentRows, PairsOfEqualDocuments) {
  // Four of 256 in a row of 1024: 4 x 256^2 / 1024^2.
  EXPECT_NEAR(pairs(Packing::packed, {{256}}, 1024), 0.25, 1e-12);
  // One of 600 leaves 424 positions, into which no other fits.
  const DocumentRows rows({.lengths = {{600}}, .packing = Packing::packed}, 1024);
  EXPECT_NEAR(rows.efficiency(), 600.0 / 1024, 1e-12);
  EXPECT_NEAR(rows.documents_per_row(), 1, 1e-12);
  EXPECT_NEAR(rows.real_pairs(kWhole), std::pow(600.0 / 1024, 2), 1e-12);
  // A stream of documents as long as a row, cut anywhere: E[u^2 + (T - u)^2] / T^2 = 2/3.
  EXPECT_NEAR(pairs(Packing::concatenated, {{1024}}, 1024), 2.0 / 3, 1e-12);
  // Documents far longer than a row: nearly every row is of one document.
  EXPECT_NEAR(pairs(Packing::concatenated, {{102400}}, 1024), 1 - 1.0 / 300, 1e-6);
  // In a window of 64 a document of 256 has 64^2/2 + 192 x 64 pairs, the row 64^2/2 + 960 x 64.
  EXPECT_NEAR(pairs(Packing::packed, {{256}}, 1024, 64),
              4.0 * (2048 + 192 * 64) / (2048 + 960 * 64), 1e-12);
}

// One document of 6144 and nine of 512: their squares, not the square of their sum.
TEST(DocumentRows, TheSumOfSquares) {
  const double squares = 6144.0 * 6144 + 4 * 512.0 * 512;
  EXPECT_NEAR(pairs(Packing::packed, {{6144, 1}, {512, 4}}, 8192), squares / (8192.0 * 8192), 1e-9);
}

TEST(DocumentRows, PaddingIsComputedButCountsForNothing) {
  const DocumentRows rows({.lengths = {{256, 3}, {1024, 1}}, .packing = Packing::padded}, 1024);
  EXPECT_DOUBLE_EQ(rows.efficiency(), 448.0 / 1024);
  EXPECT_DOUBLE_EQ(rows.documents_per_row(), 1);
  EXPECT_DOUBLE_EQ(rows.real_pairs(kWhole), (3.0 / 16 + 1) / 4);
  EXPECT_DOUBLE_EQ(rows.computed_pairs(kWhole), 1);
  EXPECT_DOUBLE_EQ(rows.unevenness(kWhole, {.replicas = 64}), 1);
}

TEST(DocumentRows, TheLargestOfSumsAgreesWithClosedForms) {
  const std::vector<double> coin = {0, 1};
  EXPECT_NEAR(expected_largest_sum(coin, 1, 1), 0.5, 1e-9);
  EXPECT_NEAR(expected_largest_sum(coin, 1, 4), 1 - 1.0 / 16, 1e-9);
  // Of the sums 0, 1 and 2 the larger of two is 1 with 8/16 and 2 with 7/16, to a cell of the grid.
  EXPECT_NEAR(expected_largest_sum(coin, 2, 2), 22.0 / 16, 2.0 / 256);
  std::vector<double> uniform;
  for (int i = 0; i <= 1000; ++i) uniform.push_back(i / 1000.0);
  for (const int n : {1, 2, 9, 99}) {
    EXPECT_NEAR(expected_largest_sum(uniform, 1, n), n / (n + 1.0), 0.004) << n;
  }
  // 400 tosses are nearly normal: 200 +- 10; the largest of 64 normal draws lies 2.344 above.
  EXPECT_NEAR(expected_largest_sum(coin, 400, 64), 200 + 10 * 2.344, 0.4);
  EXPECT_NEAR(expected_largest_sum(coin, 400, 1), 200, 1e-6);
}

TEST(DocumentRows, RanksOfOneDocumentAreAsEvenAsTheirPieces) {
  const DocumentRows rows({.lengths = {{4096}}, .packing = Packing::packed}, 4096);
  for (const std::int64_t ranks : {2, 4, 8}) {
    for (const bool in_steps : {false, true}) {
      EXPECT_NEAR(rows.unevenness(kWhole, {.pieces = ranks, .in_steps = in_steps}), 1, 1e-9);
    }
    const auto c = static_cast<double>(ranks);
    EXPECT_NEAR(rows.unevenness(kWhole, {.pieces = ranks, .balance = ContextBalance::contiguous}),
                (2 * c - 1) / c, 1e-9);
  }
}

// A row of 3/4 and 1/4: in units of (T/4)^2 the four pieces have 0.5, 1.5, 2.5 and 0.5 pairs, two
// zigzag ranks 1 and 4 of a mean of 2.5.
TEST(DocumentRows, ZigzagIsUnevenUnderADocumentMask) {
  const DocumentRows rows({.lengths = {{3072}, {1024}}, .packing = Packing::packed}, 4096);
  const auto uneven = [&](ContextBalance balance, bool in_steps) {
    return rows.unevenness(kWhole, {.pieces = 2, .balance = balance, .in_steps = in_steps});
  };
  EXPECT_NEAR(uneven(ContextBalance::zigzag, false), 4 / 2.5, 1e-9);
  EXPECT_NEAR(uneven(ContextBalance::striped, false), 1, 1e-9);
  // By steps: keys of one's own 0.5 + 0.5 against 0.5 + 0.5 + 1, of the other 0 against 2.
  EXPECT_NEAR(uneven(ContextBalance::zigzag, true), (2 + 2) / 2.5, 1e-9);
}

TEST(DocumentRows, DocumentsFarLongerThanARowAreSampled) {
  const DocumentRows rows({.lengths = {{kMaxDocument}}}, 1024);
  EXPECT_NEAR(rows.unevenness(kWhole, {.replicas = 8}), 1, 0.01);
}

TEST(DocumentRows, MoreReplicasWaitLongerAndMoreRowsEvenOut) {
  const DocumentRows rows({.lengths = {{128, 60}, {1024, 30}, {8192, 10}}}, 8192);
  EXPECT_NEAR(rows.unevenness(kWhole, {}), 1, 0.01);
  double before = 1;
  for (const std::int64_t replicas : {2, 8, 64, 512}) {
    const double now = rows.unevenness(kWhole, {.replicas = replicas});
    EXPECT_GT(now, before);
    EXPECT_LT(rows.unevenness(kWhole, {.replicas = replicas, .together = 64}), now);
    before = now;
  }
}

}  // namespace
}  // namespace orrery
