// Published memory figures (ZeRO, arXiv 1910.02054 Fig. 1: 7.5e9 parameters on 64 ranks).
#include "cost/memory/memory.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

double state_gb(int zero) {
  MemoryInputs in;
  in.dense_parameters = 7.5e9;
  in.dense_shard = 64;
  in.zero = zero;
  in.gradient_bytes = 2;
  const MemoryReport m = memory(in);
  return static_cast<double>(m.parameters + m.gradients + m.optimizer_states) / 1e9;
}

TEST(Memory, ZeroStagesHoldThePublishedBytes) {
  EXPECT_NEAR(state_gb(0), 120, 0.05);
  EXPECT_NEAR(state_gb(1), 31.4, 0.05);
  EXPECT_NEAR(state_gb(2), 16.6, 0.05);
  EXPECT_NEAR(state_gb(3), 1.9, 0.05);
}

TEST(Memory, CompositionAddsUpAndThePessimistIsNeverBelow) {
  MemoryInputs in;
  in.dense_parameters = 1e9;
  in.expert_parameters = 3e9;
  in.expert_shard = 4;
  in.zero = 1;
  in.activations = Bytes(20e9);
  in.transient = Bytes(3e9);
  const MemoryReport m = memory(in);
  EXPECT_EQ(m.peak, m.parameters + m.gradients + m.optimizer_states + m.activations + m.transient +
                        m.buffers + m.fragmentation);
  EXPECT_GE(m.pessimistic, m.peak);
  EXPECT_EQ(m.parameters, 8'000'000'000);
  EXPECT_EQ(m.optimizer_states, ByteCount{12} * (1'000'000'000 + 750'000'000));
}

TEST(Memory, AbsurdSizesSaturateInsteadOfOverflowing) {
  MemoryInputs in;
  in.dense_parameters = 1e30;
  EXPECT_GE(memory(in).parameters, ByteCount{400'000'000'000'000'000});
}

}  // namespace
}  // namespace orrery
