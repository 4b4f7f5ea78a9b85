// What sends tokens to the ranks of their experts and back: transfer and permutations.
//
//                        transfer                    rows permuted, in passes over the routed rows
//   one rank holds all   none                        1 + 1/k
//   all_to_all           one copy an expert          1 + 1/k, and 2 more where a rank holds several
//                                                    experts: what arrives is sorted once more
//   deduplicated         one copy a rank and a node  1 + D/k
//   two_level            one copy an expert, twice   2 more than all_to_all
//
// k experts of a token lie on D ranks (cost/collective/token_exchange.h). A pass reads or writes
// each routed row once: to send a token away it is read (1/k) and written for each expert (1);
// received rows are read and written in the order of the experts. The way back does the same in
// reverse, and so do gradients. Source: NVIDIA/Megatron-LM megatron/core/transformer/moe/
// token_dispatcher.py (permute, all-to-all, sort by local expert; flex dispatcher), fused kernels
// (moe_permute_fusion).
// `dispatch_format=fp8` sends tokens, and gradients of what the experts return, in 8 bits with a scale
// of 4 bytes for 128 elements; what experts return travels in 16 (arXiv 2412.19437 s.3.3). The cast is
// that of the operands of the products, before the exchange instead of behind it.
// Where a model's routing is limited to some groups of its experts (num_groups, top_groups), a token
// reaches fewer ranks and nodes (cost/collective/token_exchange.h).
// In two levels (SMILE, arXiv 2212.05191 s.3.1) tokens first go to the rank at the same place of
// their expert's node, are sorted, and go on inside the node; back in the reverse order. Each of n
// nodes of m ranks takes n - 1 and m - 1 messages of a rank instead of n m - 1.
// Scattered products (ScatterMoE, arXiv 2403.08245 s.3) read the rows of their tokens where these are
// and write results where the sum of a token reads them: the forward permutes nothing before the
// experts. The backward groups the rows once, for the gradient of the first weights:
//
//                        forward             backward
//   before the experts   none                2 (1 + 1/k)
//   behind them          1 + 1/k             1 + 1/k
//
// and of the rows only the tokens are kept, which the router keeps anyway (lower/block_memory.h).
// Not modelled: padding of each expert's rows. What counts tokens: lower/expert_launches.h.
#pragma once

#include <string_view>
#include <vector>

#include "lower/block_cost.h"
#include "lower/operator_work.h"
#include "model/operator.h"

namespace orrery {

// What travels, and where.
enum class Way { tokens_out, tokens_back, gradients_out, gradients_back };
std::string_view name_of(Way way);

// Of `op`, a dispatch or combine of `block`: one after the other.
std::vector<Communication> token_communications(const Block& block, const Operator& op,
                                                const BlockSetting& setting, Way way);
OperatorWork permutation_work(const Block& block, const Operator& op, const BlockSetting& setting,
                              Direction direction);

}  // namespace orrery
