#include "infer/operator_uses.h"

#include <gtest/gtest.h>

#include "trace/hand_made_step.h"

namespace orrery {
namespace {

TEST(OperatorUses, TellsTheBackwardPassByAutograd) {
  // Forward; backward; and a checkpoint, which computes the forward pass again before autograd runs
  // inside of it.
  HandMadeStep step;
  step.window(1, 0, 1000);
  const auto product = [&](std::int64_t start) {
    step.host_operator("aten::mm", "[[4, 8], [8, 2]]", start, 5);
  };
  product(10);
  step.host_operator("autograd::engine::evaluate_function: MmBackward0", "", 100, 50);
  step.host_operator("MmBackward0", "", 105, 40);
  product(110);
  product(120);
  step.host_operator("autograd::engine::evaluate_function: CheckpointFunctionBackward", "", 200,
                     200);
  step.host_operator("CheckpointFunctionBackward", "", 205, 190);
  product(210);
  step.host_operator("autograd::engine::evaluate_function: MmBackward0", "", 300, 50);
  product(310);
  product(500);
  const RecordedTrace trace = step.trace();
  for (const OperatorUse& use : operator_uses(trace, marked_steps(trace).at(0))) {
    if (use.name != "aten::mm") continue;
    EXPECT_EQ(use.calls, 6);
    EXPECT_EQ(use.backward_calls, 3);
    EXPECT_EQ(use.again_calls, 1);
    EXPECT_EQ(use.forward_calls(), 2);
    return;
  }
  FAIL() << "no product";
}

}  // namespace
}  // namespace orrery
