// The operators of one step of one rank: those that differ in name, shapes or types, with how often
// they ran.
//
// An operator belongs to the backward pass if autograd called it: another around it on its thread
// is one of autograd's ("autograd::engine::evaluate_function: MmBackward0"). What a checkpoint
// computes again in its own backward node ("CheckpointFunctionBackward") belongs to neither, until
// autograd runs inside of it; what is computed again otherwise (hooks on saved tensors) cannot be
// told from the backward pass around it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/marked_steps.h"
#include "trace/recorded_arguments.h"
#include "trace/recorded_trace.h"

namespace orrery {

struct OperatorUse {
  std::string_view name;
  std::string_view shapes_text;
  std::string_view types;
  std::vector<Shape> shapes;
  std::int64_t calls = 0;           // in all
  std::int64_t backward_calls = 0;  // of them, in the backward pass
  std::int64_t again_calls = 0;     // of them, of a forward pass computed again

  [[nodiscard]] std::int64_t forward_calls() const { return calls - backward_calls - again_calls; }
};

// By first appearance. O(events).
std::vector<OperatorUse> operator_uses(const RecordedTrace& trace, const MarkedStep& step);

// "aten::mm [[8192, 4096], [4096, 1536]], 40 calls"
std::string text_of(const OperatorUse& use);

}  // namespace orrery
