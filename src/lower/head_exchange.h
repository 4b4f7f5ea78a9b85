// Context parallelism by all-to-all: before attention a rank holds s/c tokens of all its heads,
// inside it all s tokens of a c-th of them. DeepSpeed-Ulysses, arXiv 2309.14509 s.3.1;
// Megatron-Core's --cp-comm-type a2a.
//
// Each tensor T is exchanged on its own, in a layer and direction
//
//   payload(T) = 2 b (s/c) heads(T) width(T) / tp     (bytes a rank holds, before as after)
//
// forward queries, keys and values before the kernel and its output behind it; backward the
// gradient of the output before it and those of queries, keys and values behind it. Heads are those
// of one tensor-parallel rank, which divide first. The kernel sees the whole sequence, so causal
// work is even without pieces.
//
// If u of the c ranks exchange heads and c/u pass keys and values round a ring or gather them (USP,
// arXiv 2405.07719; 2D attention, arXiv 2406.18485), the same tensors travel among u ranks, and the
// kernel sees s u/c tokens of a u-th of the heads, whose keys and values come from c/u ranks.
//
// Beside the all-to-all a tensor is copied twice, by a kernel each that reads and writes it: into
// what each rank is sent, and from what came into the order of tokens or heads. Copies of one
// tensor run beside the all-to-all of another. Source: Transformer Engine, context_parallel.py,
// flash_attn_a2a_communicate (layout sbhd) and AttnFuncWithCPAndQKVOA2A. At commit 015d225 its
// backward exchanged the output again; that 2.11 keeps it in both divisions shows in the memory
// measured with it (docs/memory.md).
#pragma once

#include <vector>

#include "lower/block_cost.h"
#include "lower/pass_builder.h"

namespace orrery {

// Whether attention of this plan is exchanged so.
bool exchanges_heads(const Plan& plan);
// The groups that exchange heads, and that pass each other keys and values.
StepGroup head_group(const Plan& plan);
StepGroup ring_group(const Plan& plan);

struct ExchangedTensor {
  std::string_view name;  // of its all-to-all
  double elements = 0;    // on one rank
};

// What is exchanged before the kernel and behind it.
struct HeadExchange {
  std::vector<ExchangedTensor> before, behind;
};
HeadExchange head_exchange(const Operator& op, const BlockSetting& setting, Direction direction);

// The all-to-alls of these tensors in `group`, of elements of this size, with their copies; what
// follows waits for them.
void exchange(PassBuilder& out, const std::vector<ExchangedTensor>& tensors, StepGroup group,
              Bytes element, Category copies);

}  // namespace orrery
