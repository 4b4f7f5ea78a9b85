// Shapes of an operator's inputs as PyTorch's profiler writes them, and the product they make.
//
// "[[8192, 512], [512, 4096], []]": one list a tensor, an empty one for what is no tensor; a list
// of tensors is one list deeper. Anything else reads as nothing. O(text), bounded by
// kMostDimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace orrery {

using TensorShape = std::vector<std::int64_t>;

inline constexpr std::size_t kMostDimensions = 4096;

// Tensors in order, without their nesting.
std::vector<TensorShape> tensor_shapes(std::string_view text);

// Elements of all tensors together.
double elements_of(const std::vector<TensorShape>& shapes);

// C[m,n] = A[m,k] B[k,n], `batch` times.
struct ProductShape {
  double batch = 1;
  double m = 0;
  double n = 0;
  double k = 0;
};

// Of aten::mm, addmm, bmm, baddbmm, matmul and linear; empty for other operators, or shapes that do
// not fit together.
std::optional<ProductShape> product_shape(std::string_view op,
                                          const std::vector<TensorShape>& shapes);

}  // namespace orrery
