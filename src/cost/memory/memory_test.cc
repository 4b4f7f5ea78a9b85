// Published memory figures (ZeRO, arXiv 1910.02054 Fig. 1: 7.5e9 parameters on 64 ranks), the laws
// of the composition, and what each fact of a framework adds.
#include "cost/memory/memory.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

double state_gb(int zero, MemoryFacts facts = {}) {
  MemoryInputs in;
  in.facts = facts;
  in.trained.dense = 7.5e9;
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

// arXiv 2108.05818 s.6: 2 + 4 + 4 + 4 bytes instead of 16. Where fp32 weights are the only ones, no
// 16-bit ones have a place to give.
TEST(Memory, GradientsInThePlaceOfWeightsNeedNoBytes) {
  MemoryInputs in;
  in.trained.dense = 1e9;
  in.gradient_bytes = 2;
  in.gradients_in_place = true;
  const MemoryReport m = memory(in);
  EXPECT_EQ(m.parameters + m.gradients + m.optimizer_states, 14'000'000'000);
  EXPECT_EQ(m.transient, 0);  // nor a copy when the optimizer steps
  in.zero = 3;
  in.facts.parameters_are_master = true;
  EXPECT_EQ(memory(in).gradients, 4'000'000'000);
}

// FSDP keeps fp32 parameters, gradients and two moments, all sharded: 16 bytes as well.
TEST(Memory, ShardedParametersAreTheirOwnMaster) {
  EXPECT_NEAR(state_gb(3, {.parameters_are_master = true}), 7.5 * 16 / 64, 0.01);
}

MemoryInputs some() {
  MemoryInputs in;
  in.trained.dense = 1e9;
  in.trained.expert = 3e9;
  in.expert_shard = 4;
  in.zero = 1;
  in.activations = Bytes(20e9);
  in.transient = Bytes(3e9);
  in.buffers = Bytes(1e9);
  in.communicators = 2;
  return in;
}

TEST(Memory, CompositionAddsUpAndThePessimistIsNeverBelow) {
  const MemoryReport m = memory(some());
  EXPECT_EQ(m.peak, m.parameters + m.gradients + m.optimizer_states + m.activations + m.transient +
                        m.buffers + m.fragmentation);
  EXPECT_GE(m.pessimistic, m.peak);
  EXPECT_EQ(m.parameters, 8'000'000'000);
  EXPECT_EQ(m.optimizer_states, ByteCount{12} * (1'000'000'000 + 750'000'000));
  // Context and two communicators lie outside the allocator, the framework's own buffers do not.
  EXPECT_EQ(m.buffers - m.outside, 1'000'000'000);
  EXPECT_NEAR(static_cast<double>(m.outside), kContext.value() + 2 * kCommunicator.value(), 1);
  EXPECT_LT(m.allocated(), m.reserved());
  EXPECT_EQ(m.reserved() + m.outside, m.pessimistic);
}

TEST(Memory, FragmentationAndCacheFollowWhatComesAndGoes) {
  MemoryInputs in = some();
  const MemoryReport one = memory(in);
  in.activations = Bytes(43e9);
  const MemoryReport two = memory(in);
  const double more = 43e9 - 20e9;
  EXPECT_NEAR(static_cast<double>(two.fragmentation - one.fragmentation), kRounding * more, 2);
  EXPECT_NEAR(static_cast<double>(two.pessimistic - one.pessimistic), (1 + kCached) * more, 2);
  in.facts.expandable_segments = true;
  EXPECT_LT(memory(in).pessimistic, two.pessimistic);
  EXPECT_EQ(memory(in).peak, two.peak);
}

// 16-bit gradients are copied to fp32 for the step: 4 bytes of each owned parameter, which is the
// fullest moment if activations need less.
TEST(Memory, TheOptimizerStepIsAMomentOfItsOwn) {
  MemoryInputs in = some();
  in.gradient_bytes = 2;
  const MemoryReport busy = memory(in);
  EXPECT_EQ(busy.moment_kind, MemoryMoment::backward);
  in.activations = Bytes(1e9);
  in.transient = Bytes(1e9);
  const MemoryReport step = memory(in);
  EXPECT_EQ(step.moment_kind, MemoryMoment::optimizer);
  EXPECT_EQ(step.activations, 0);
  EXPECT_EQ(step.transient, ByteCount{4} * (1'000'000'000 + 750'000'000));
  in.gradient_bytes = 4;  // nothing to copy
  EXPECT_EQ(memory(in).moment_kind, MemoryMoment::backward);
}

TEST(Memory, ABf16OptimizerHoldsBothGradients) {
  MemoryInputs in = some();
  in.facts.gradient_copy_bytes = 2;
  EXPECT_EQ(memory(in).gradients, ByteCount{6} * 4'000'000'000);
  in.gradient_bytes = 2;  // fp16: accumulated in fp16, no second copy
  EXPECT_EQ(memory(in).gradients, ByteCount{2} * 4'000'000'000);
}

TEST(MemoryFacts, NonsenseIsNamed) {
  MemoryFacts facts;
  EXPECT_EQ(memory_facts_problem(facts), "");
  facts.score_bytes = -1;
  EXPECT_EQ(memory_facts_problem(facts), "memory.score_bytes is out of range");
}

TEST(MemoryFacts, WhatALossKeepsIsPartOfItsPeak) {
  for (const auto& [loss, name] : names_of(Loss{})) {
    EXPECT_LE(bytes_of(loss).kept, bytes_of(loss).peak) << name;
    EXPECT_LE(bytes_of(loss).peak, bytes_of(loss).sharded_peak) << name;
  }
}

TEST(Memory, StashedWeightVersionsAreParametersOnly) {
  MemoryInputs in = some();
  const MemoryReport one = memory(in);
  in.weight_versions = 3;
  const MemoryReport three = memory(in);
  EXPECT_EQ(three.parameters, 3 * one.parameters);
  EXPECT_EQ(three.peak - one.peak, 2 * one.parameters);
}

TEST(Memory, AbsurdSizesSaturateInsteadOfOverflowing) {
  MemoryInputs in;
  in.trained.dense = 1e30;
  in.activations = Bytes(1e30);
  in.separate = Bytes(1e30);
  const MemoryReport m = memory(in);
  EXPECT_GE(m.parameters, ByteCount{400'000'000'000'000'000});
  EXPECT_GE(m.pessimistic, m.peak);
  EXPECT_GT(m.peak, 0);
}

}  // namespace
}  // namespace orrery
