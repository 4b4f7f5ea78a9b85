// Families with a plain feed-forward and LayerNorm: GPT-2, GPT-NeoX, OPT, BLOOM, Falcon, Phi.
// Values for absent keys are the defaults of the classes in transformers/models/*/
// configuration_*.py.
#include "model/transformer/hugging_face_keys.h"

namespace orrery {

void read_gpt2(ConfigKeys& keys, Architecture& a) {
  a.num_layers = keys.required({"n_layer", "num_hidden_layers"});
  a.hidden = keys.required({"n_embd", "hidden_size"});
  a.num_heads = keys.required({"n_head", "num_attention_heads"});
  a.vocab = keys.required({"vocab_size"});
  a.ffn_hidden = keys.integer({"n_inner"}, 4 * a.hidden);
  a.max_position = keys.integer({"n_positions", "n_ctx", "max_position_embeddings"}, 1024);
  a.ffn =
      feed_forward_kind(keys, keys.text("activation_function", "gelu_new"), FeedForwardGate::plain);
  a.norm = NormKind::layernorm;
  a.position_encoding = PositionEncoding::learned;
  a.linear_bias = true;
  a.tie_embeddings = keys.flag("tie_word_embeddings", true);
}

void read_gpt_neox(ConfigKeys& keys, Architecture& a) {
  a.num_layers = keys.required({"num_hidden_layers"});
  a.hidden = keys.required({"hidden_size"});
  a.num_heads = keys.required({"num_attention_heads"});
  a.ffn_hidden = keys.required({"intermediate_size"});
  a.vocab = keys.required({"vocab_size"});
  a.max_position = keys.integer({"max_position_embeddings"}, 2048);
  a.ffn = feed_forward_kind(keys, keys.text("hidden_act", "gelu"), FeedForwardGate::plain);
  a.norm = NormKind::layernorm;
  a.parallel_block = keys.flag("use_parallel_residual", true);
  a.linear_bias = true;
  a.tie_embeddings = keys.flag("tie_word_embeddings", false);
}

void read_opt(ConfigKeys& keys, Architecture& a) {
  a.num_layers = keys.required({"num_hidden_layers"});
  a.hidden = keys.required({"hidden_size"});
  a.num_heads = keys.required({"num_attention_heads"});
  a.ffn_hidden = keys.required({"ffn_dim"});
  a.vocab = keys.required({"vocab_size"});
  // The embedding of positions has two rows more than there are positions.
  a.max_position = keys.integer({"max_position_embeddings"}, 2048) + 2;
  a.ffn = feed_forward_kind(keys, keys.text("activation_function", "relu"), FeedForwardGate::plain);
  a.norm = NormKind::layernorm;
  a.position_encoding = PositionEncoding::learned;
  a.linear_bias = keys.flag("enable_bias", true);
  a.tie_embeddings = keys.flag("tie_word_embeddings", true);
  if (keys.integer({"word_embed_proj_dim"}, a.hidden) != a.hidden) {
    keys.refuse({ErrorCode::unsupported, "an embedding narrower than the layers (as in OPT-350M)",
                 "word_embed_proj_dim", "the same as hidden_size"});
  }
}

void read_bloom(ConfigKeys& keys, Architecture& a) {
  a.num_layers = keys.required({"n_layer", "num_hidden_layers"});
  a.hidden = keys.required({"hidden_size", "n_embed"});
  a.num_heads = keys.required({"n_head", "num_attention_heads"});
  a.vocab = keys.required({"vocab_size"});
  a.ffn_hidden = 4 * a.hidden;
  a.max_position = keys.integer({"seq_length"}, 0);
  a.ffn = FeedForwardKind::gelu;
  a.norm = NormKind::layernorm;
  a.position_encoding = PositionEncoding::alibi;
  a.embedding_norm = true;
  a.linear_bias = true;
  a.tie_embeddings = keys.flag("tie_word_embeddings", true);
}

// The first releases were of model types RefinedWebModel (7B) and RefinedWeb (40B: what is now
// called the new decoder architecture).
void read_falcon(ConfigKeys& keys, Architecture& a) {
  a.num_layers = keys.required({"num_hidden_layers", "n_layer"});
  a.hidden = keys.required({"hidden_size", "n_embed"});
  a.num_heads = keys.required({"num_attention_heads", "n_head"});
  a.vocab = keys.required({"vocab_size"});
  a.ffn_hidden = keys.integer({"ffn_hidden_size"}, 4 * a.hidden);
  a.max_position = keys.integer({"max_position_embeddings"}, 2048);
  const bool grouped =
      keys.flag("new_decoder_architecture", keys.text("model_type", "falcon") == "RefinedWeb");
  const bool one_key = keys.flag("multi_query", true);
  a.num_kv_heads = grouped   ? keys.integer({"num_kv_heads", "n_head_kv"}, a.num_heads)
                   : one_key ? 1
                             : a.num_heads;
  a.ffn = feed_forward_kind(keys, keys.text("activation", "gelu"), FeedForwardGate::plain);
  a.norm = NormKind::layernorm;
  a.parallel_block = grouped || keys.flag("parallel_attn", true);
  a.parallel_norms = keys.integer({"num_ln_in_parallel_attn"}, grouped ? 2 : 1);
  if (!a.parallel_block) a.parallel_norms = 2;
  a.position_encoding =
      keys.flag("alibi", false) ? PositionEncoding::alibi : PositionEncoding::rope;
  a.linear_bias = keys.flag("bias", false);
  a.tie_embeddings = keys.flag("tie_word_embeddings", true);
}

// Phi 1, 1.5 and 2.
void read_phi(ConfigKeys& keys, Architecture& a) {
  a.num_layers = keys.required({"num_hidden_layers", "n_layer"});
  a.hidden = keys.required({"hidden_size", "n_embd"});
  a.num_heads = keys.required({"num_attention_heads", "n_head"});
  a.num_kv_heads = keys.integer({"num_key_value_heads", "n_head_kv"}, 0);
  a.vocab = keys.required({"vocab_size"});
  a.ffn_hidden = keys.integer({"intermediate_size", "n_inner"}, 4 * a.hidden);
  a.max_position = keys.integer({"max_position_embeddings", "n_positions"}, 2048);
  a.ffn =
      feed_forward_kind(keys, keys.text("hidden_act", keys.text("activation_function", "gelu_new")),
                        FeedForwardGate::plain);
  a.norm = NormKind::layernorm;
  a.parallel_block = true;
  a.parallel_norms = 1;
  a.linear_bias = true;
  a.qk_norm = keys.flag("qk_layernorm", false);
  a.tie_embeddings = keys.flag("tie_word_embeddings", false);
}

}  // namespace orrery
