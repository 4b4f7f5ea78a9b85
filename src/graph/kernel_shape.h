// What a kernel computes, as plain values: its sizes, without a price (cost/kernel/kernel_model.h).
#pragma once

#include "outcome/enum_names.h"

namespace orrery {

struct GemmShape {
  double m = 0, n = 0, k = 0;
  double groups = 1;            // independent products of this shape in one launch (m rows each)
  bool accumulates = false;     // adds to a result in fp32, as gradients of weights do
  bool inputs_cached = false;   // A lies in the last-level cache
  bool weights_cached = false;  // so does B
  double input_reuse = 1;       // products that read one element of A, which a convolution gathers
  bool operator==(const GemmShape&) const = default;
};

struct AttentionShape {
  double batch = 0;
  double queries = 0;  // query positions on this rank
  double keys = 0;     // key positions they attend to, before masks
  double heads = 0;
  double kv_heads = 0;
  double query_key_dim = 0;
  double value_dim = 0;
  double window = 0;    // 0: none
  bool causal = false;  // halves the work when queries == keys; else keys seen = keys - queries / 2
  double pairs = 1;    // of the pairs (query, key) inside these masks, the share of a document mask
  double longest = 0;  // keys of the longest document; 0: all
  bool fused_softmax = false;  // unfused attention: scale, mask and softmax are one kernel
  bool wide_softmax = false;   // unfused attention: they work on an fp32 copy of the scores
  bool narrow_scores = false;  // products run in the 8-bit format asked for, as in inference
  bool operator==(const AttentionShape&) const = default;
};

enum class AttentionKernel {
  unfused,
  flash_1,
  flash_2,
  flash_3,
  library
};  // library: cuDNN et al.
template <>
inline constexpr char kWordSeparator<AttentionKernel> = '-';  // "flash-2"
enum class Direction { forward, backward };

}  // namespace orrery
