// What the host launches for a layer of experts besides what moves its tokens.
//
//                            kernels            passes over (tokens x experts)
//                            forward backward   forward backward
//   routing, eager           18      10         22      16      see below
//   routing, fused           6       4          8       8       see below
//   counting, all_to_all     15                                 and a gather of the counts and an
//                                                               exchange of probabilities
//   counting, deduplicated   6
//   counting, one rank       5
//   a product of n experts   n, or 1 where one kernel takes all
//   a cast of n operands     n, or 1 where one kernel takes all; of fp8
//     delayed scaling        1
//     current scaling        4 n                                greatest magnitude (2), scale, cast
//
// Eager routing: top-k (2), softmax and cast (2), a map of the chosen experts with their
// probabilities and one without (7); of the balancing loss softmax, three sums, products and the
// running sum that is logged (7). Backward: of both softmaxes, of what they were scattered and
// picked with, and the sum of both ways. Fused routing: top-k with softmax, score and balancing loss
// are a kernel each, and as many copies and sums are assumed around them. Counting: sums of the map over tokens and ranks (7), copies
// to the host (5) and rows of the permutation (3), which the backward keeps.
//
// Source: NVIDIA/Megatron-LM 1e057005 megatron/core/transformer/moe/moe_utils.py:491 to 578
// (topk_softmax_with_capacity) and :30 to 77 (switch_load_balancing_loss_func), router.py;
// token_dispatcher.py of core_v0.12.0, :400 to 475 (preprocess) and :671 to 710 (copies to the
// host); core_v0.15.0 moe_utils.py (fused_topk_with_score_function and two more);
// NVIDIA/TransformerEngine v2.9 common/gemm/cublaslt_gemm.cu:941 (a product for each expert, on four
// streams), pytorch/csrc/extensions/cast.cpp:116 to 148 ("Currently only have fused kernel for FP8
// delayed scaling"; otherwise each operand is cast by itself), pytorch/csrc/quantizer.cpp:515 to 535
// and common/recipe/current_scaling.cu:75, :97 and :258 (kernels of current scaling). ScatterMoE,
// arXiv 2403.08245 s.3: one kernel takes all experts.
// Not modelled: what products in several streams hide of each other's ends; dropped tokens; that
// current scaling finds the greatest magnitude of operands outside experts as well.
#pragma once

#include "lower/block_cost.h"
#include "lower/operator_work.h"
#include "plan/plan.h"
#include "plan/software.h"
#include "units/number_format.h"

namespace orrery {

// Of the router behind its product, or before the gradient of it.
OperatorWork routing_work(Phase phase, const SoftwareProfile& software);

// Kernels that count the tokens of every expert before they are sent to other ranks; `ranks`: over
// which experts are divided, whole or by their width.
int counting_kernels(ExpertDispatch dispatch, int ranks);
// Small collectives around the exchange of tokens.
int counting_collectives(ExpertDispatch dispatch, int ranks);

bool has_experts(const Block& block);
bool has_tables(const Block& block);

// Whether tokens go to other ranks: to their experts, or to the parts of these.
bool sends_tokens(const Binding& binding);

// Whether the host waits in every forward of the block for the counts of its experts: to send
// tokens, or to launch the products of its experts one by one. Experts that are padded to their
// capacity have no counts to read (token_dispatcher.py of core_v0.12.0, :420 to 460, experts.py:714 and :885).
// Or for the look-ups of each table, whose vectors and updates it launches behind them (pytorch/torchrec
// v0.2.0 torchrec/sparse/jagged_tensor.py, _maybe_compute_length_per_key: tolist()).
bool reads_counts(const Block& block, const BlockSetting& setting);

// Launches of one product, and of the cast of one operand, of so many experts.
int product_launches(const BlockSetting& setting, double experts);
struct CastWork {
  int reads = 1;  // of the operand
  int launches = 1;
};
CastWork cast_work(const BlockSetting& setting, NumberFormat format, double experts);

}  // namespace orrery
