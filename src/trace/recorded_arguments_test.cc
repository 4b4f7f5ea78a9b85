#include "trace/recorded_arguments.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

std::optional<GemmShape> matmul(const Shape& a, const Shape& b) {
  return product_shape("aten::matmul", {a, b});
}

TEST(ProductShape, OfAMatmulHasItsLeadingDimensionsAsGroups) {
  EXPECT_EQ(matmul({2, 16, 128, 64}, {2, 16, 64, 32}), (GemmShape{128, 32, 64, 2 * 16}));
  EXPECT_EQ(matmul({16, 128, 64}, {16, 64, 32}), (GemmShape{128, 32, 64, 16}));
  // Dimensions that are 1 or absent in one factor are those of the other.
  EXPECT_EQ(matmul({2, 16, 128, 64}, {2, 1, 64, 32}), (GemmShape{128, 32, 64, 2 * 16}));
  EXPECT_EQ(matmul({128, 64}, {5, 64, 32}), (GemmShape{128, 32, 64, 5}));
  EXPECT_EQ(matmul({64}, {5, 64, 32}), (GemmShape{1, 32, 64, 5}));
  EXPECT_EQ(matmul({0, 128, 64}, {1, 64, 32}), (GemmShape{128, 32, 64, 0}));
}

TEST(ProductShape, OfAMatrixOrVectorHasTheLeadingDimensionsAsRows) {
  EXPECT_EQ(matmul({2, 16, 64}, {64, 32}), (GemmShape{2 * 16, 32, 64}));
  EXPECT_EQ(matmul({2, 16, 64}, {64}), (GemmShape{2 * 16, 1, 64}));
  EXPECT_EQ(product_shape("aten::linear", {{2, 16, 64}, {32, 64}}), (GemmShape{2 * 16, 32, 64}));
  EXPECT_EQ(product_shape("aten::linear", {{2, 16, 64}, {64}}), (GemmShape{2 * 16, 1, 64}));
}

TEST(ProductShape, OfFactorsThatDoNotFitTogetherIsNone) {
  EXPECT_FALSE(matmul({3, 128, 64}, {2, 64, 32}));
  EXPECT_FALSE(matmul({2, 128, 64}, {2, 32, 64}));
  EXPECT_FALSE(matmul({}, {2, 64, 32}));
  EXPECT_FALSE(matmul({64}, {}));
  EXPECT_FALSE(product_shape("aten::bmm", {{128, 64}, {2, 64, 32}}));
}

}  // namespace
}  // namespace orrery
