#include "analyze/recorded_attention.h"

#include <algorithm>
#include <array>

#include "trace/has.h"

namespace orrery {
namespace {

struct Form {
  std::string_view name;
  Direction direction;
  bool heads_last;     // [batch, sequence, heads, size]
  std::size_t query;   // place of q; k and v follow
  std::size_t causal;  // place of the flag
};

constexpr std::array<Form, 15> kForms = {{
    {"aten::scaled_dot_product_attention", Direction::forward, false, 0, 5},
    {"aten::_scaled_dot_product_flash_attention", Direction::forward, false, 0, 4},
    {"aten::_scaled_dot_product_efficient_attention", Direction::forward, false, 0, 6},
    {"aten::_scaled_dot_product_cudnn_attention", Direction::forward, false, 0, 6},
    {"aten::_scaled_dot_product_flash_attention_backward", Direction::backward, false, 1, 11},
    {"aten::_scaled_dot_product_efficient_attention_backward", Direction::backward, false, 1, 11},
    {"aten::_scaled_dot_product_cudnn_attention_backward", Direction::backward, false, 1, 14},
    {"aten::_flash_attention_forward", Direction::forward, true, 0, 8},
    {"aten::_flash_attention_backward", Direction::backward, true, 1, 11},
    {"flash_attn::_flash_attn_forward", Direction::forward, true, 0, 5},
    {"flash_attn::_flash_attn_backward", Direction::backward, true, 1, 11},
    {"FlashAttnFunc", Direction::forward, true, 0, 5},
    {"aiter::mha_fwd", Direction::forward, true, 0, 5},
    {"aiter::wrapper_fmha_v3_fwd", Direction::forward, true, 0, 5},
    {"aiter::mha_bwd", Direction::backward, true, 1, 8},
}};

double extent_at(const Shape& shape, std::size_t i) {
  return static_cast<double>(std::max<std::int64_t>(0, shape[i]));
}

}  // namespace

std::optional<RecordedAttention> recorded_attention(std::string_view name,
                                                    std::span<const RecordedArgument> arguments) {
  const auto* form = std::ranges::find(kForms, name, &Form::name);
  if (form == kForms.end() || arguments.size() < form->query + 3) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i) {
    const RecordedArgument& tensor = arguments[form->query + i];
    if (!tensor.is_tensor() || tensor.shapes[0].size() != 4) return std::nullopt;
  }
  const Shape& q = arguments[form->query].shapes[0];
  const Shape& k = arguments[form->query + 1].shapes[0];
  const Shape& v = arguments[form->query + 2].shapes[0];
  const std::size_t sequence = form->heads_last ? 1 : 2;
  const std::size_t heads = form->heads_last ? 2 : 1;
  RecordedAttention out;
  out.direction = form->direction;
  out.type = arguments[form->query].type;
  out.shape.batch = extent_at(q, 0);
  out.shape.queries = extent_at(q, sequence);
  out.shape.keys = extent_at(k, sequence);
  out.shape.heads = extent_at(q, heads);
  out.shape.kv_heads = extent_at(k, heads);
  out.shape.query_key_dim = extent_at(q, 3);
  out.shape.value_dim = extent_at(v, 3);
  if (form->causal < arguments.size()) {
    const std::string& value = arguments[form->causal].value;
    out.causal_recorded = value == "True" || value == "False";
    out.shape.causal = value == "True";
  }
  const AttentionShape& s = out.shape;
  if (s.batch < 1 || s.queries < 1 || s.keys < 1 || s.heads < 1 || s.kv_heads < 1 ||
      s.query_key_dim < 1 || s.value_dim < 1) {
    return std::nullopt;
  }
  return out;
}

AttentionKernel recorded_attention_kernel(std::string_view kernel) {
  // fmha_cutlassF: xFormers' kernel in PyTorch, of the age and structure of the first flash.
  if (has(kernel, "fmha_cutlass") || has(kernel, "attention_kernel_backward_batched")) {
    return AttentionKernel::flash_1;
  }
  if (has(kernel, "cudnn")) return AttentionKernel::library;
  if (has(kernel, "FwdSm90") || has(kernel, "BwdSm90") || has(kernel, "hopper")) {
    return AttentionKernel::flash_3;
  }
  return AttentionKernel::flash_2;
}

}  // namespace orrery
