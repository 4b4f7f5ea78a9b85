// Time of softmax(Q K^T) V on one rank.
//
// Fused (flash): one thread block per 128 queries of a head runs through the keys that they attend
// to.
//
//   t = t0 + (max(W/S + w/2, w)^4 + memory^4)^(1/4)
//                                           W all work, w the longest block, in processor seconds
//   W = [F + ramp] / (R/S)                  F executed FLOPs, R = peak × fraction × sustained
//
// Of packed documents the kernel computes the share `pairs` of the mask, and one edge more: where a
// document begins inside a block. A masked block of keys is skipped, a block on the diagonal is computed whole. Forward runs two
// products per key (2·(d + e) FLOPs, d query-key and e value dimension), backward five (2·(3d +
// 2e)), of which one recomputes the scores. `ramp_keys` is what a block spends before the first and
// after the last key. W/S + w/2 lies half-way to Graham's bound W/S + w on list scheduling.
//
// Fused kernels are compiled for head dimensions that are multiples of 32 and pad others.
//
// Unfused: batched products over the whole square, two forward and four backward, and passes of
// reads and writes over the stored scores, half again as many backward (read P and dP, write dS).
//
// One kernel for scale, mask and softmax reads and writes the scores once, and reads only the half
// below the diagonal if they are causal (1.5 passes); its backward reads probabilities and their
// gradient and writes one (3 passes, 2 causal): arXiv 2104.04473 s.4.2, Megatron-LM
// megatron/fused_kernels/scaled_upper_triang_masked_softmax.h. Otherwise `score_passes`; and where
// framework operators cast the scores to fp32 first, those of fp32 arrays: forward cast (3 passes
// of two bytes), mask (4 and a byte), softmax (4) and cast (3), backward cast, softmax (6), mask
// (4) and cast.
//
// Rows of a head that do not begin at a multiple of 16 bytes (head dimensions that are not a
// multiple of 8) cannot be loaded by the fast path of a tensor core, so such a product runs at
// `unaligned_fraction` of its rate. The same holds for rows of the scores (keys that are not a
// multiple of 8), which each of the products reads or writes; this slows computation only, not
// stores. Products of fp32 and fp64 are not affected.
//
// Source: FLOP counts of Dao 2023 (arXiv 2307.08691) and Shah et al. 2024 (arXiv 2407.08608);
// Graham 1969. Not modelled: split of keys over processors (decoding), fp8 scores: narrow formats
// run at the rate of 16-bit ones, as training recipes keep attention there.
#include <algorithm>
#include <cmath>

#include "cost/kernel/kernel_model.h"

namespace orrery {
namespace {

constexpr double kQueryBlock = 128;
constexpr double kKeyBlock = 128;
constexpr double kBackwardPasses = 1.5;
constexpr double kWidePassesForward = 14.5;
constexpr double kWidePassesBackward = 16;
constexpr double kHeadBlock = 32;     // of fused kernels
constexpr double kAlignedBytes = 16;  // of a load of a tensor core

// Pairs (query, key) of one head inside the mask.
double visible_pairs(const AttentionShape& s) {
  const double q = s.queries;
  const double reach = s.window > 0 ? std::min(s.window, s.keys) : s.keys;
  if (!s.causal) return q * reach;
  // Query i of the last q positions sees the keys before it: offset + i, at most `reach`.
  const double offset = s.keys - q;
  if (offset >= reach) return q * reach;
  if (offset < 0) {  // the first -offset queries attend to no key
    const double growing = std::min(s.keys, reach);
    return growing * growing / 2 + (s.keys - growing) * reach;
  }
  const double growing = std::min(q, reach - offset);
  return growing * offset + growing * growing / 2 + (q - growing) * reach;
}

// The same, where blocks that the mask cuts are computed in full.
double executed_pairs(const AttentionShape& s) {
  const double edges =
      (s.causal ? 1.0 : 0.0) + (s.window > 0 ? 1.0 : 0.0) + (s.pairs != 1 ? 1.0 : 0.0);
  return std::min(s.queries * s.keys,
                  s.pairs * visible_pairs(s) + edges * s.queries * kKeyBlock / 2);
}

double flops_per_pair(const AttentionShape& s, Direction direction, bool recompute) {
  if (direction == Direction::forward) return 2 * (s.query_key_dim + s.value_dim);
  return 2 * ((recompute ? 3 : 2) * s.query_key_dim + 2 * s.value_dim);
}

NumberFormat computing_format(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp8:
    case NumberFormat::mxfp8:
    case NumberFormat::nvfp4:
      return NumberFormat::bf16;
    default:
      return format;
  }
}

bool on_tensor_cores(NumberFormat format) {
  return format != NumberFormat::fp64 && format != NumberFormat::fp32;
}

bool is_empty(const AttentionShape& s) {
  return !(s.batch > 0 && s.queries > 0 && s.keys > 0 && s.heads > 0 && s.query_key_dim > 0 &&
           s.value_dim > 0);
}

Seconds unfused(const KernelModel& model, const AttentionShape& s, Direction direction,
                NumberFormat format) {
  const double products = s.batch * s.heads;
  const double q = s.queries;
  const double k = s.keys;
  // A product with one head dimension among its sizes.
  const auto product = [&](double rows, double columns, double depth, double head_dim) {
    const double row = head_dim * element_size(format).value();
    const Seconds time = model.gemm({rows, columns, depth, products}, format);
    if (!on_tensor_cores(format)) return time;
    const double slowed = model.parameters().unaligned_fraction;
    if (std::fmod(row, kAlignedBytes) != 0) return time / slowed;
    if (std::fmod(k * element_size(format).value(), kAlignedBytes) == 0) return time;
    const FormatParameters& p = model.parameters().format(format);
    const Flops work(2 * products * rows * columns * depth);
    return std::max(time, p.floor + work / (p.ceiling * slowed));
  };
  const bool forward = direction == Direction::forward;
  double passes = model.parameters().score_passes * (forward ? 1.0 : kBackwardPasses);
  if (s.fused_softmax) {
    passes = s.causal ? (forward ? 1.5 : 2.0) : (forward ? 2.0 : 3.0);
  } else if (s.wide_softmax) {
    passes = forward ? kWidePassesForward : kWidePassesBackward;
  }
  const Seconds scores =
      model.memory_bound(tensor_element_size(format) * (products * q * k * passes));
  if (direction == Direction::forward) {
    return product(q, k, s.query_key_dim, s.query_key_dim) +
           product(q, s.value_dim, k, s.value_dim) + scores;
  }
  return product(q, k, s.value_dim, s.value_dim) +          // dP = dO V^T
         product(k, s.value_dim, q, s.value_dim) +          // dV = P^T dO
         product(q, s.query_key_dim, k, s.query_key_dim) +  // dQ = dS K
         product(k, s.query_key_dim, q, s.query_key_dim) +  // dK = dS^T Q
         scores;
}

}  // namespace

Flops KernelModel::attention_flops(const AttentionShape& s, Direction direction,
                                   AttentionKernel kernel) {
  if (is_empty(s)) return Flops(0);
  const bool fused = kernel != AttentionKernel::unfused;
  const double pairs = fused ? executed_pairs(s) : s.queries * s.keys;
  return Flops(s.batch * s.heads * pairs * flops_per_pair(s, direction, fused));
}

Seconds KernelModel::attention(const AttentionShape& s, AttentionKernel kernel, Direction direction,
                               NumberFormat format) const {
  if (is_empty(s)) return Seconds(0);
  const NumberFormat computing = s.narrow_scores ? format : computing_format(format);
  if (kernel == AttentionKernel::unfused) return unfused(*this, s, direction, computing);

  const FormatParameters& p = parameters_.format(computing);
  AttentionShape padded = s;
  padded.query_key_dim = std::ceil(s.query_key_dim / kHeadBlock) * kHeadBlock;
  padded.value_dim = std::ceil(s.value_dim / kHeadBlock) * kHeadBlock;
  const AttentionCurve::Point point =
      parameters_.curve(kernel, direction).at((padded.query_key_dim + padded.value_dim) / 2);
  const double units = parameters_.compute_units;
  const double rate =
      p.peak.value() * point.peak_fraction * parameters_.sustained_fraction;  // FLOP/s, all units
  const double per_pair = flops_per_pair(padded, direction, true);
  const double blocks = std::ceil(s.queries / kQueryBlock);
  const double ramp = blocks * kQueryBlock * point.ramp_keys;
  const double spread = s.batch * s.heads * (executed_pairs(s) + ramp) * per_pair / rate;
  double reach = s.window > 0 ? std::min(s.window + kKeyBlock, s.keys) : s.keys;
  if (s.longest > 0) reach = std::min(reach, s.longest + kKeyBlock);
  const double longest =
      std::min(s.queries, kQueryBlock) * (reach + point.ramp_keys) * per_pair / (rate / units);

  const double e = element_size(computing).value();
  const double query_side = s.batch * s.heads * s.queries * (s.query_key_dim + s.value_dim);
  const double key_side = s.batch * s.kv_heads * s.keys * (s.query_key_dim + s.value_dim);
  // Backward reads the same and the gradient of the output, and writes three gradients.
  const double passes = direction == Direction::forward ? 1 : 2;
  const Seconds memory = Bytes(passes * (query_side + key_side) * e) / parameters_.memory_bandwidth;
  const double computed = std::max(spread + longest / 2, longest);
  return p.floor +
         Seconds(std::sqrt(std::hypot(computed * computed, memory.value() * memory.value())));
}

}  // namespace orrery
