// The arguments of a recorded operator: shapes, types and values as PyTorch's profiler wrote them.
//
//   "Input Dims"       [[64, 128], [], [[3, 4], [5]]]     the third is a list of tensors
//   "Input type"       ["float", "Scalar", "TensorList"]
//   "Concrete Inputs"  ["", "1", ""]
//
// Arguments that cannot be read are left out; this is not an error. Tensors of any nesting in order,
// an empty list for what is no tensor: tensor_shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/kernel_shape.h"
#include "trace/recorded_trace.h"

namespace orrery {

using Shape = std::vector<std::int64_t>;

struct RecordedArgument {
  std::vector<Shape> shapes;  // of a tensor one, of a list of tensors all, of anything else none
  std::string type;           // "float", "c10::BFloat16", "Scalar"
  std::string value;          // of what is no tensor: "1", "[2, 2]", "True"

  [[nodiscard]] bool is_tensor() const { return shapes.size() == 1; }
};

std::vector<RecordedArgument> recorded_arguments(const RecordedTrace& trace,
                                                 const OperatorDetails& details);

// Elements of a tensor, or of a list of tensors together; at most 2^62.
double elements_of(const Shape& shape);
double elements_of(const RecordedArgument& argument);

std::vector<Shape> tensor_shapes(std::string_view text);
// Of all tensors together; an empty shape counts as none.
double elements_of(const std::vector<Shape>& shapes);

// Bytes of an element of a type as PyTorch, its profiler or NCCL's arguments name it ("float",
// "c10::Half", "long int", "BFloat16"); 0: no type of elements.
std::int64_t element_bytes(std::string_view type);

// Bytes of the tensors that a recorded operator takes in; a tensor without dimensions counts none.
double input_bytes(const RecordedTrace& trace, const OperatorDetails& details);

// C[m,n] = A[m,k] B[k,n] of aten::mm, addmm, bmm, baddbmm, matmul and linear; nothing for other
// operators, or shapes that do not fit together.
std::optional<GemmShape> product_shape(std::string_view op, const std::vector<Shape>& shapes);

// "[2, 3]" or "2" as whole numbers; empty if it is neither.
std::vector<std::int64_t> whole_numbers(std::string_view value);

}  // namespace orrery
