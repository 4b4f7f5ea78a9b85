// Families whose configuration has the keys of Llama: Llama, Mistral, Mixtral, Qwen 2 and 3, Gemma,
// Phi 3. Values for absent keys are the defaults of the classes in transformers/models/*/
// configuration_*.py.
#include "model/transformer/hugging_face_keys.h"

namespace orrery {

namespace {

bool same_kind(const Value& layer, std::string_view kind) {
  return layer.is_scalar() && layer.scalar_text() == kind;
}

// "layer_types": one name a layer. Modelled if all are full, all are sliding, or every n-th is
// full.
void read_layer_types(ConfigKeys& keys, Architecture& a) {
  const Value& types = *keys.find("layer_types");
  const auto& items = types.items();
  std::int64_t every = 0;
  bool regular = true;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool full = same_kind(items[i], "full_attention");
    if (!full && !same_kind(items[i], "sliding_attention") &&
        !same_kind(items[i], "chunked_attention")) {
      keys.refuse({ErrorCode::unsupported, "layer type '" + items[i].scalar_text() + "'",
                   "layer_types", "full_attention or sliding_attention"});
      return;
    }
    const auto position = static_cast<std::int64_t>(i) + 1;
    if (full && every == 0) every = position;
    const bool expected = every != 0 && position % every == 0;
    regular = regular && full == expected;
  }
  if (!regular) {
    keys.refuse({ErrorCode::unsupported, "layers of full and sliding attention alternate unevenly",
                 "layer_types", "each n-th layer full, the others sliding"});
    return;
  }
  if (every == 1) a.sliding_window = 0;
  a.global_attention_every = a.sliding_window == 0 ? 0 : every;
}

// Layers with experts: each `decoder_sparse_step`-th, apart from those of "mlp_only_layers", which
// are modelled if they are the first ones.
void read_sparse_layers(ConfigKeys& keys, Architecture& a) {
  a.moe->layer_interval = keys.integer({"decoder_sparse_step"}, 1);
  const Value* dense = keys.find("mlp_only_layers");
  if (dense == nullptr) return;
  const auto& items = dense->items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].scalar_text() != std::to_string(i) || a.moe->layer_interval != 1) {
      keys.refuse({ErrorCode::unsupported, "dense layers among layers with experts",
                   "mlp_only_layers", "none, or the first layers 0, 1, ..."});
      return;
    }
  }
  a.moe->first_dense_layers = static_cast<std::int64_t>(items.size());
}

// Qwen 2 and 3: layers from max_window_layers on have the window, if windows are used at all.
void read_qwen_window(ConfigKeys& keys, Architecture& a) {
  if (!keys.flag("use_sliding_window", false)) return;
  const std::int64_t first = keys.integer({"max_window_layers"}, 28);
  if (first >= a.num_layers) return;
  a.sliding_window = keys.integer({"sliding_window"}, 4096);
  if (first > 0) {
    keys.refuse({ErrorCode::unsupported, "leading layers without the sliding window",
                 "max_window_layers", "0, or use_sliding_window false"});
  }
}

}  // namespace

void read_llama_shape(ConfigKeys& keys, Architecture& a, std::int64_t kv_heads_if_absent) {
  a.num_layers = keys.required({"num_hidden_layers"});
  a.hidden = keys.required({"hidden_size"});
  a.ffn_hidden = keys.required({"intermediate_size"});
  a.num_heads = keys.required({"num_attention_heads"});
  a.vocab = keys.required({"vocab_size"});
  const bool null = keys.mentions("num_key_value_heads") && !keys.has("num_key_value_heads");
  a.num_kv_heads = null ? a.num_heads : keys.integer({"num_key_value_heads"}, kv_heads_if_absent);
  a.head_dim = keys.integer({"head_dim"}, 0);
  a.max_position = keys.integer({"max_position_embeddings"}, 0);
  a.tie_embeddings = keys.flag("tie_word_embeddings", false);
  a.ffn = feed_forward_kind(keys, keys.text("hidden_act", "silu"), FeedForwardGate::gated);
}

void read_llama(ConfigKeys& keys, Architecture& a) {
  read_llama_shape(keys, a, 0);
  a.qkv_bias = keys.flag("attention_bias", false);
  a.linear_bias = keys.flag("mlp_bias", false);
}

void read_mistral(ConfigKeys& keys, Architecture& a) {
  read_llama_shape(keys, a, 8);
  a.sliding_window = keys.mentions("sliding_window") ? keys.integer({"sliding_window"}, 0) : 4096;
}

void read_mixtral(ConfigKeys& keys, Architecture& a) {
  read_llama_shape(keys, a, 8);
  a.sliding_window = keys.integer({"sliding_window"}, 0);
  a.moe = MixtureOfExperts{.num_experts = keys.integer({"num_local_experts"}, 8),
                           .top_k = keys.integer({"num_experts_per_tok"}, 2),
                           .expert_ffn = a.ffn_hidden};
}

void read_qwen2(ConfigKeys& keys, Architecture& a) {
  read_llama_shape(keys, a, 32);
  a.qkv_bias = true;
  read_qwen_window(keys, a);
}

void read_qwen2_moe(ConfigKeys& keys, Architecture& a) {
  read_llama_shape(keys, a, 16);
  a.qkv_bias = true;
  read_qwen_window(keys, a);
  a.moe = MixtureOfExperts{.num_experts = keys.integer({"num_experts"}, 60),
                           .top_k = keys.integer({"num_experts_per_tok"}, 4),
                           .expert_ffn = keys.integer({"moe_intermediate_size"}, 1408),
                           .num_shared_experts = 1,
                           .shared_ffn = keys.integer({"shared_expert_intermediate_size"}, 5632),
                           .shared_expert_gate = true};
  read_sparse_layers(keys, a);
}

void read_qwen3(ConfigKeys& keys, Architecture& a) {
  read_llama_shape(keys, a, 32);
  if (a.head_dim == 0) a.head_dim = 128;
  a.qkv_bias = keys.flag("attention_bias", false);
  a.qk_norm = true;
  read_qwen_window(keys, a);
}

void read_qwen3_moe(ConfigKeys& keys, Architecture& a) {
  read_llama_shape(keys, a, 4);
  a.qkv_bias = keys.flag("attention_bias", false);
  a.qk_norm = true;
  read_qwen_window(keys, a);
  a.moe = MixtureOfExperts{.num_experts = keys.integer({"num_experts"}, 128),
                           .top_k = keys.integer({"num_experts_per_tok"}, 8),
                           .expert_ffn = keys.integer({"moe_intermediate_size"}, 768)};
  read_sparse_layers(keys, a);
}

void read_gemma2(ConfigKeys& keys, Architecture& a) {
  read_llama_shape(keys, a, 4);
  a.ffn = feed_forward_kind(
      keys, keys.text("hidden_activation", keys.text("hidden_act", "gelu_pytorch_tanh")),
      FeedForwardGate::gated);
  if (a.head_dim == 0) a.head_dim = 256;
  a.tie_embeddings = keys.flag("tie_word_embeddings", true);
  a.norm = NormKind::rmsnorm_sandwich;
  a.sliding_window = keys.mentions("sliding_window") ? keys.integer({"sliding_window"}, 0) : 4096;
  a.global_attention_every = a.sliding_window == 0 ? 0 : 2;
  if (keys.has("layer_types")) read_layer_types(keys, a);
}

// The text half of the released multimodal configurations states only what differs from the class
// Gemma3TextConfig, so here the shape has defaults too.
void read_gemma3(ConfigKeys& keys, Architecture& a) {
  a.num_layers = keys.integer({"num_hidden_layers"}, 26);
  a.hidden = keys.integer({"hidden_size"}, 2304);
  a.ffn_hidden = keys.integer({"intermediate_size"}, 9216);
  a.num_heads = keys.integer({"num_attention_heads"}, 8);
  a.num_kv_heads = keys.integer({"num_key_value_heads"}, 4);
  a.head_dim = keys.integer({"head_dim"}, 256);
  a.vocab = keys.integer({"vocab_size"}, 262208);
  a.max_position = keys.integer({"max_position_embeddings"}, 131072);
  a.ffn = feed_forward_kind(keys, keys.text("hidden_activation", "gelu_pytorch_tanh"),
                            FeedForwardGate::gated);
  a.tie_embeddings = keys.flag("tie_word_embeddings", true);
  a.norm = NormKind::rmsnorm_sandwich;
  a.qk_norm = true;
  a.sliding_window = keys.mentions("sliding_window") ? keys.integer({"sliding_window"}, 0) : 4096;
  a.global_attention_every =
      a.sliding_window == 0
          ? 0
          : keys.integer({"sliding_window_pattern", "_sliding_window_pattern"}, 6);
  if (keys.has("layer_types")) read_layer_types(keys, a);
}

void read_phi3(ConfigKeys& keys, Architecture& a) {
  read_llama_shape(keys, a, 0);
  a.sliding_window = keys.integer({"sliding_window"}, 0);
  // A window as wide as the context masks nothing.
  if (a.max_position > 0 && a.sliding_window >= a.max_position) a.sliding_window = 0;
}

void read_llama_like(ConfigKeys& keys, Architecture& a) {
  keys.required({"num_key_value_heads"});
  if (!keys.has("rms_norm_eps")) keys.required({"rms_norm_eps"});
  if (!keys.has("hidden_act")) keys.required({"hidden_act"});
  read_llama_shape(keys, a, 0);
  a.qkv_bias = keys.flag("attention_bias", false);
  a.linear_bias = keys.flag("mlp_bias", false);
  const std::int64_t experts =
      keys.integer({"num_local_experts", "num_experts", "n_routed_experts"}, 0);
  if (experts > 0) {
    const std::int64_t width = keys.integer({"moe_intermediate_size"}, a.ffn_hidden);
    const std::int64_t shared = keys.integer({"n_shared_experts"}, 0);
    a.moe = MixtureOfExperts{.num_experts = experts,
                             .top_k = keys.required({"num_experts_per_tok"}),
                             .expert_ffn = width,
                             .num_shared_experts = shared,
                             .shared_ffn = shared * width,
                             .first_dense_layers = keys.integer({"first_k_dense_replace"}, 0)};
  }
  a.sliding_window =
      keys.flag("use_sliding_window", true) ? keys.integer({"sliding_window"}, 0) : 0;
  if (keys.has("layer_types")) read_layer_types(keys, a);
}

}  // namespace orrery
