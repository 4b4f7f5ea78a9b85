// What an element-wise operator makes the device and the host do under a software profile: how many
// times arrays of its size are read or written, and how many kernels that takes.
//
// Counted from the operators of the frameworks, one array of 2 bytes an element being one pass (an
// fp32 temporary counts two). The kernel's own floor is paid once a kernel.
//
//                          fused            eager
//                          forward backward forward backward
//   RMSNorm                2       3        18      46   see below
//   LayerNorm              2       5        2       5    one kernel either way; two backward
//   GroupNorm              3       4        7       8    the image with its channels first, and last
//                                                        again
//   bias of a convolution  0       1        2       1    added behind it; its gradient
//   gate and product       3       5        5       13   silu, product; the halves joined backward
//   activation with bias   2       3        4       4    bias; its gradient
//   rotary embedding       2       2        10      9    negate, join, two products, sum
//   bias, dropout, sum     3.5     5.5      5.5     5.5  3 and 3 without dropout; masks are 1 byte
//   modulation, a factor   0       2       2       4    joined with the norm or sum beside it; its
//                                                      gradient is summed over the sequence
//   softmax and loss       2       2        19      11   fp32 copy, maximum, difference, exponent,
//                                                        sum, quotient; difference, product, cast
//
// Eager RMSNorm: forward float (3), square (4), mean (2), scale (4), cast (3), weight (2); backward
// the weight's product (2), its gradient multiplied (3) and summed (1), cast (3), the scale's
// product (4), its gradient multiplied (6) and summed (2), the mean's spread (2), the square's
// power (4), its factor (4) and product (6), the sum of both ways (6), cast (3), and kernels on one
// value a token.
//
// Sources: eager RMSNorm, SwiGLU and rotary as in the LLaMA reference code (meta-llama/llama
// model.py) and Megatron-LM before Transformer Engine; LayerNorm as in apex and PyTorch, whose
// backward reads its inputs again for the weights; GroupNorm as in pytorch/pytorch
// aten/src/ATen/native/group_norm.cpp (native_group_norm and its backward copy images on a GPU to
// channels first) and ConvUtils.h (cudnn_conv_suggest_memory_format: inputs are copied to channels
// last where the weights are; where neither is, cuDNN transposes inputs and outputs of its
// tensor-core kernels itself, as many passes) and Convolution.cpp (ConvBackend::Cudnn adds the
// bias); the loss as in Megatron-LM core/tensor_parallel/cross_entropy.py. Fused: Transformer
// Engine, apex, Megatron's bias_gelu, bias_swiglu and bias_dropout_add fusions.
#pragma once

#include "model/operator.h"
#include "plan/software.h"

namespace orrery {

struct OperatorWork {
  double passes = 0;  // 2-byte reads and writes of one element
  int kernels = 1;
};

OperatorWork operator_work(const Operator& op, Phase phase, const SoftwareProfile& software,
                           bool dropout);

// The loss of a framework's own operators on logits that lie whole on a rank. Forward: fp32 copy
// (3), log-softmax, which reads a row of a large vocabulary three times (8), and the largest logit,
// for the accuracy (2). Backward: the gradient of the picked entries (2), of log-softmax (8), cast
// (3). Source: torch.nn.functional.cross_entropy; Aleph-Alpha/scaling 01b9d21
// src/scaling/transformer/model/losses/cross_entropy.py.
inline constexpr OperatorWork kWholeLoss{13, 3};  // either direction
// Gathered as a list of pieces: copied out of the collective's buffer and joined (the same
// repository, core/nn/linear/utils.py, _all_concat).
inline constexpr OperatorWork kGatheredLogits{4, 2};

// The same for unfused attention's dropout on its probabilities: none without.
OperatorWork score_dropout(bool dropout);

// Kernels of unfused attention: two products forward, four backward, and between them softmax with
// scale and mask in one kernel, or as framework operators (three; five with the casts to and from
// an fp32 copy of the scores).
int unfused_attention_kernels(Phase phase, const SoftwareProfile& software);

// Whether an eager softmax casts the scores to fp32 and its result back.
inline bool works_on_fp32_scores(const SoftwareProfile& software) {
  return software.memory.score_bytes >= 6;
}

// Copies between the layout of products and that of the attention kernel, of the arrays it reads
// and writes; none unless the profile says so.
OperatorWork attention_copies(const SoftwareProfile& software);

}  // namespace orrery
