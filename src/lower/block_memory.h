// The memory of one block under one plan: what it keeps from its forward to its backward, and what
// its backward needs beside that.
//
// The backward walks the operators from the last to the first. At operator i there are alive: what
// operators 0..i keep, the gradients of its output and input, and what its kernel needs; what the
// operators behind i kept is gone. So, relative to all that the block keeps,
//
//   working = max over i of ( out_i + in_i + kernel_i + computed again - sum over j > i of kept_j )
//
// kernel_i: gathered inputs and partial sums of sequence parallelism (arXiv 2205.05198 s.4.2.2),
// the weight's gradient where it is not accumulated inside the product, the fp32 gradient of the
// queries (FlashAttention-2, arXiv 2307.08691 s.3.2), scores of unfused attention, the copies of
// the logits, what all-to-alls of context parallelism send and receive of gradients. All kept
// tensors are those of the operators (model/operator.h) as MemoryFacts amends them. Not modelled:
// temporaries of element-wise kernels that are not fused.
//
// Scattered products of experts (ScatterMoE, arXiv 2403.08245 s.3) keep no copies of their rows, whose
// tokens the router keeps, and group them for as long as the gradient of the first weights needs them.
//
// A workload without a backward keeps nothing: working = input of the block + max over i of
// ( in_i + out_i + kernel_i ), with kernel_i less what only a backward has (gradients of weights,
// the fp32 one of the queries) and the loss at its fullest, an upper bound.
#pragma once

#include "cost/memory/memory_facts.h"
#include "lower/sequence_tiles.h"
#include "model/model.h"
#include "plan/plan.h"

namespace orrery {

struct BlockMemory {
  Bytes saved;                   // one microbatch, until its backward
  Bytes working;                 // beside all that is saved, at the fullest moment
  Bytes recomputed;              // of `working`: what is computed again
  Bytes attention_placeholders;  // 16-bit stand-ins of the distinct weights of attention
  Bytes other_placeholders;      // and of everything else
};

struct BlockMemorySetting {
  const Binding& binding;
  double hidden = 0;
  NumberFormat precision = NumberFormat::bf16;
  Workload workload = Workload::training;
  AttentionKernel attention = AttentionKernel::library;
  bool exchanges_heads = false;  // around attention (lower/head_exchange.h)
  ExpertProducts expert_products = ExpertProducts::grouped;
  double attention_outputs = 1;  // copies of the attention's output that are kept
  const MemoryFacts& facts;
  RecomputeModuleSet modules = {};  // of selective recomputation
  SequenceTiles tiles = {};         // of the loss and of the feed-forward part
};

BlockMemory block_memory(const Block& block, const BlockMemorySetting& setting,
                         Recompute recompute);

}  // namespace orrery
