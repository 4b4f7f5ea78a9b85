// An attention operator of a recorded run as the shape our attention model prices.
//
//   aten::scaled_dot_product_attention and the kernels below it   [batch, heads, sequence, size]
//   aten::_flash_attention_*, flash_attn::*, aiter::mha_*         [batch, sequence, heads, size]
//
// Forward and backward; grouped queries by the heads of the keys; causal by its argument, which
// recordings without concrete inputs lack (then all keys count). Source: signatures of PyTorch 2.8
// native_functions.yaml, flash-attn 2.7 flash_attn_interface.py, aiter mha.py. Not read: packed
// sequences of unequal length (varlen), whose lengths are on the device; windows.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/kernel_shape.h"
#include "trace/recorded_arguments.h"

namespace orrery {

struct RecordedAttention {
  AttentionShape shape;
  Direction direction = Direction::forward;
  std::string_view type;  // of the queries, into the arguments
  bool causal_recorded = false;
};

// `name` with its library: "flash_attn::_flash_attn_forward".
std::optional<RecordedAttention> recorded_attention(std::string_view name,
                                                    std::span<const RecordedArgument> arguments);

// Which of our attention kernels the device ran, by its name; flash_2 where nothing tells.
AttentionKernel recorded_attention_kernel(std::string_view kernel);

}  // namespace orrery
