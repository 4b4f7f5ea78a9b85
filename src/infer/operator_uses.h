// The operators of one step of one rank: those that differ in name, shapes or types, with how often
// they ran.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/marked_steps.h"
#include "trace/recorded_trace.h"
#include "whatif/tensor_shapes.h"

namespace orrery {

struct OperatorUse {
  std::string_view name;
  std::string_view shapes_text;
  std::string_view types;
  std::vector<TensorShape> shapes;
  std::int64_t calls = 0;
};

// By first appearance. O(events).
std::vector<OperatorUse> operator_uses(const RecordedTrace& trace, const MarkedStep& step);

// "aten::mm [[8192, 4096], [4096, 1536]], 40 calls"
std::string text_of(const OperatorUse& use);

}  // namespace orrery
