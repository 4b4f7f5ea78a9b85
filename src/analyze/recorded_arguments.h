// The arguments of a recorded operator: shapes, types and values as PyTorch's profiler wrote them.
//
//   "Input Dims"       [[64, 128], [], [[3, 4], [5]]]     the third is a list of tensors
//   "Input type"       ["float", "Scalar", "TensorList"]
//   "Concrete Inputs"  ["", "1", ""]
//
// Arguments that cannot be read are left out; this is not an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

// Bytes of an element of a type as PyTorch names it ("float", "c10::Half", "long int"); 0: no type
// of elements.
std::int64_t element_bytes(std::string_view type);

// "[2, 3]" or "2" as whole numbers; empty if it is neither.
std::vector<std::int64_t> whole_numbers(std::string_view value);

}  // namespace orrery
