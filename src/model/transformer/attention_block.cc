// The attention half of a layer: with heads of its own (mha, gqa, mqa), latent (mla) or crossing to
// the encoder.
#include "model/transformer/blocks.h"

namespace orrery {

void BlockWriter::self_attention() {
  const double h = static_cast<double>(a_.hidden);
  const double heads = static_cast<double>(a_.num_heads);
  double query_key = static_cast<double>(a_.head_dim);
  double value = query_key;
  if (a_.latent_attention) {
    query_key = static_cast<double>(a_.latent_attention->qk_nope_head_dim +
                                    a_.latent_attention->qk_rope_head_dim);
    value = static_cast<double>(a_.latent_attention->v_head_dim);
    project_latent();
  } else {
    project_heads();
  }
  attention_core("attention.core", query_key, value, false);
  if (a_.attention_gate) {
    // Reads the output and the gate, writes their product; both are kept for it.
    const Dimension width = fixed(heads * value, LogicalAxis::heads);
    elementwise("attention.gate", OperatorClass::elementwise, whole_rows(), width, 3, 5).saved = {
        {whole_rows(), fixed(2 * heads * value, LogicalAxis::heads), ElementKind::activation}};
  }
  // The output is kept at two bytes: a fused kernel's backward pass reads it too.
  Operator& projection =
      gemm("attention.projection", OperatorClass::attention_projection,
           single_reduction() ? Boundary::none : Boundary::row, fixed(h),
           fixed(heads * value, LogicalAxis::heads), (heads * value + output_bias()) * h);
  projection.saved[0].element = ElementKind::activation;
}

void BlockWriter::project_heads() {
  const double h = static_cast<double>(a_.hidden);
  const double d = static_cast<double>(a_.head_dim);
  const double query = static_cast<double>(a_.num_heads) * d;
  const double key = static_cast<double>(a_.num_kv_heads) * d;
  const double bias = query_key_value_bias();
  const Dimension query_key = fixed(query + key, LogicalAxis::heads);
  const double width = query + 2 * key + (a_.attention_gate ? query : 0);
  Operator& product = gemm("attention.qkv", OperatorClass::attention_projection, Boundary::column,
                           fixed(width, LogicalAxis::heads), fixed(h), (h + bias) * width);
  product.saved.push_back(
      {whole_rows(), fixed(key, LogicalAxis::heads), ElementKind::activation});  // values
  if (a_.qk_norm) {
    const double parameters = a_.qk_norm_scale == QueryKeyScale::head       ? 2 * d
                              : a_.qk_norm_scale == QueryKeyScale::channels ? query + key
                                                                            : 0;
    norm("attention.query_key_norm", whole_rows(), query_key, parameters);
  }
  if (a_.position_encoding == PositionEncoding::rope) {
    elementwise("attention.rotary", OperatorClass::elementwise, whole_rows(), query_key, 2, 2)
        .elementwise = ElementwiseKind::rotary;
  }
  // Queries and keys as the core reads them.
  last().saved.push_back({whole_rows(), query_key, ElementKind::activation});
}

// Down to the ranks on each rank's own piece of the sequence with a replicated matrix, then up to
// the heads by columns, as Megatron Core does; arXiv 2405.04434 s.2.1 eq. 9-14 and 37-41.
void BlockWriter::project_latent() {
  const LatentAttention& l = *a_.latent_attention;
  const double h = static_cast<double>(a_.hidden);
  const double heads = static_cast<double>(a_.num_heads);
  const double q_rank = static_cast<double>(l.q_lora_rank);
  const double kv_rank = static_cast<double>(l.kv_lora_rank);
  const double rope = static_cast<double>(l.qk_rope_head_dim);
  const double query_width = heads * static_cast<double>(l.qk_nope_head_dim + l.qk_rope_head_dim);
  const double key_value_width = heads * static_cast<double>(l.qk_nope_head_dim + l.v_head_dim);
  const Dimension query = fixed(query_width, LogicalAxis::heads);
  const double down = q_rank + kv_rank + rope;
  gemm("attention.latent_down", OperatorClass::attention_projection, Boundary::none, fixed(down),
       fixed(h), (h + query_key_value_bias()) * down);
  norm("attention.latent_norm", stream_rows(), fixed(q_rank + kv_rank), q_rank + kv_rank);
  if (q_rank > 0) {
    gemm("attention.query_up", OperatorClass::attention_projection, Boundary::column, query,
         fixed(q_rank), q_rank * query_width);
  } else {
    gemm("attention.query", OperatorClass::attention_projection, Boundary::column, query, fixed(h),
         h * query_width, Input::shared);  // latent_down keeps it
  }
  Operator& up =
      gemm("attention.key_value_up", OperatorClass::attention_projection, Boundary::column,
           fixed(key_value_width, LogicalAxis::heads), fixed(kv_rank), kv_rank * key_value_width);
  up.saved.push_back({whole_rows(),
                      fixed(heads * static_cast<double>(l.v_head_dim), LogicalAxis::heads),
                      ElementKind::activation});  // values
  // Rotation writes queries and keys, the shared rotary part copied to each head.
  Operator& rotary = elementwise("attention.rotary", OperatorClass::elementwise, whole_rows(),
                                 fixed(2 * query_width, LogicalAxis::heads), 2, 2);
  rotary.elementwise = ElementwiseKind::rotary;
  rotary.saved = {
      {whole_rows(), fixed(2 * query_width, LogicalAxis::heads), ElementKind::activation}};
}

void BlockWriter::cross_attention() {
  const double h = static_cast<double>(a_.hidden);
  const double d = static_cast<double>(a_.head_dim);
  const double query = static_cast<double>(a_.num_heads) * d;
  const double key = static_cast<double>(a_.num_kv_heads) * d;
  const double bias = query_key_value_bias();
  const Dimension source{1, Symbol::source_tokens, LogicalAxis::none};
  Operator& queries =
      gemm("cross_attention.query", OperatorClass::attention_projection, Boundary::column,
           fixed(query, LogicalAxis::heads), fixed(h), (h + bias) * query);
  queries.saved.push_back(
      {whole_rows(), fixed(query, LogicalAxis::heads), ElementKind::activation});
  // The encoder's output is one tensor for all decoder layers; the encoder's final norm keeps it.
  Operator& keys =
      gemm("cross_attention.key_value", OperatorClass::attention_projection, Boundary::column,
           fixed(2 * key, LogicalAxis::heads), fixed(h), (h + bias) * 2 * key, Input::shared);
  keys.m = source;
  keys.saved = {{source, fixed(2 * key, LogicalAxis::heads), ElementKind::activation}};
  if (a_.qk_norm) {
    norm("cross_attention.query_norm", whole_rows(), fixed(query, LogicalAxis::heads), 2 * d);
  }
  attention_core("cross_attention.core", d, d, true);
  Operator& projection =
      gemm("cross_attention.projection", OperatorClass::attention_projection, Boundary::row,
           fixed(h), fixed(query, LogicalAxis::heads), (query + output_bias()) * h);
  projection.saved[0].element = ElementKind::activation;
}

void BlockWriter::attention_core(std::string_view name, double query_key, double value,
                                 bool cross) {
  Dimension keys = whole_rows();
  if (cross) keys.symbol = Symbol::source_tokens;
  AttentionCore& core =
      attention({name, whole_rows(), keys, static_cast<double>(a_.num_heads), query_key}).attention;
  core.kv_heads = static_cast<double>(a_.latent_attention ? a_.num_heads : a_.num_kv_heads);
  core.value_dim = value;
  if (kind_.mixer == Mixer::local_attention && !cross) {
    core.window = static_cast<double>(a_.sliding_window);
    core.chunked = a_.chunked_attention;
  }
  const bool decoder = a_.kind == ModelKind::decoder || a_.kind == ModelKind::encoder_decoder;
  core.causal = decoder && !kind_.encoder && !cross;
  core.cross = cross;
}

}  // namespace orrery
