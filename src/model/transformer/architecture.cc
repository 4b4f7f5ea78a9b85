#include "model/transformer/architecture.h"

#include <array>

namespace orrery {

std::span<const EnumName<ModelKind>> names_of(ModelKind) {
  static constexpr std::array<EnumName<ModelKind>, 4> kNames{{
      {ModelKind::decoder, "decoder"},
      {ModelKind::encoder, "encoder"},
      {ModelKind::encoder_decoder, "encoder-decoder"},
      {ModelKind::vision_encoder, "vision-encoder"},
  }};
  return kNames;
}

std::span<const EnumName<FeedForwardKind>> names_of(FeedForwardKind) {
  static constexpr std::array<EnumName<FeedForwardKind>, 5> kNames{{
      {FeedForwardKind::swiglu, "swiglu"},
      {FeedForwardKind::geglu, "geglu"},
      {FeedForwardKind::gelu, "gelu"},
      {FeedForwardKind::relu, "relu"},
      {FeedForwardKind::squared_relu, "squared-relu"},
  }};
  return kNames;
}

std::span<const EnumName<AttentionKind>> names_of(AttentionKind) {
  static constexpr std::array<EnumName<AttentionKind>, 4> kNames{{
      {AttentionKind::mha, "mha"},
      {AttentionKind::gqa, "gqa"},
      {AttentionKind::mqa, "mqa"},
      {AttentionKind::mla, "mla"},
  }};
  return kNames;
}

std::span<const EnumName<PositionEncoding>> names_of(PositionEncoding) {
  static constexpr std::array<EnumName<PositionEncoding>, 6> kNames{{
      {PositionEncoding::rope, "rope"},
      {PositionEncoding::learned, "learned"},
      {PositionEncoding::alibi, "alibi"},
      {PositionEncoding::relative, "relative"},
      {PositionEncoding::relative_bias, "relative-bias"},
      {PositionEncoding::none, "none"},
  }};
  return kNames;
}

std::span<const EnumName<NormKind>> names_of(NormKind) {
  static constexpr std::array<EnumName<NormKind>, 3> kNames{{
      {NormKind::layernorm, "layernorm"},
      {NormKind::rmsnorm, "rmsnorm"},
      {NormKind::rmsnorm_sandwich, "rmsnorm-sandwich"},
  }};
  return kNames;
}

std::span<const EnumName<AdaptedProducts>> names_of(AdaptedProducts) {
  static constexpr std::array<EnumName<AdaptedProducts>, 2> kNames{{
      {AdaptedProducts::attention, "attention"},
      {AdaptedProducts::all, "all"},
  }};
  return kNames;
}

bool is_gated(FeedForwardKind kind) {
  return kind == FeedForwardKind::swiglu || kind == FeedForwardKind::geglu;
}

const Fields<LatentAttention>& fields_of(const LatentAttention*) {
  using T = LatentAttention;
  static const Fields<T> table =
      Fields<T>("latent attention")
          .optional("q_lora_rank", &T::q_lora_rank, "rank of the queries; 0: full")
          .required("kv_lora_rank", &T::kv_lora_rank, "rank of keys and values")
          .required("qk_nope_head_dim", &T::qk_nope_head_dim, "query-key width without position")
          .required("qk_rope_head_dim", &T::qk_rope_head_dim, "query-key width with position")
          .required("v_head_dim", &T::v_head_dim, "value width of a head");
  return table;
}

const Fields<MixtureOfExperts>& fields_of(const MixtureOfExperts*) {
  using T = MixtureOfExperts;
  static const Fields<T> table =
      Fields<T>("mixture of experts")
          .required("num_experts", &T::num_experts, "routed experts of a layer")
          .required("top_k", &T::top_k, "experts a token is sent to")
          .required("expert_ffn", &T::expert_ffn, "width of one expert")
          .optional("ffn", &T::ffn, "kind of the experts, if not that of the dense layers")
          .optional("num_shared_experts", &T::num_shared_experts, "experts that see every token")
          .optional("shared_ffn", &T::shared_ffn, "width of all shared experts together")
          .optional("shared_expert_gate", &T::shared_expert_gate, "a gate on the shared expert")
          .optional("first_dense_layers", &T::first_dense_layers, "leading layers without experts")
          .optional("layer_interval", &T::layer_interval,
                    "1: each layer has experts, 2: each second")
          .optional("num_groups", &T::num_groups, "groups of experts of limited routing")
          .optional("top_groups", &T::top_groups, "groups a token may reach");
  return table;
}

const Fields<VisionInput>& fields_of(const VisionInput*) {
  using T = VisionInput;
  static const Fields<T> table =
      Fields<T>("vision input")
          .required("patch", &T::patch, "pixels along a patch")
          .optional("image", &T::image, "pixels along the image")
          .optional("tokens", &T::tokens, "patches of an image")
          .optional("tower", &T::tower, "name of the image encoder of a decoder")
          .optional("hidden", &T::hidden, "width of the tower")
          .optional("ffn", &T::ffn, "feed-forward width of the tower")
          .optional("layers", &T::layers, "layers of the tower")
          .optional("heads", &T::heads, "heads of the tower");
  return table;
}

const Fields<Adapters>& fields_of(const Adapters*) {
  static const Fields<Adapters> table =
      Fields<Adapters>("low-rank adapter")
          .required("rank", &Adapters::rank, "inner width of an adapter")
          .optional("products", &Adapters::products, "products that are adapted");
  return table;
}

const Fields<TrainingFacts>& fields_of(const TrainingFacts*) {
  using T = TrainingFacts;
  static const Fields<T> table =
      Fields<T>("training facts")
          .optional("sequence_length", &T::sequence_length, "tokens of a sequence")
          .optional("global_batch_tokens", &T::global_batch_tokens, "tokens of a step")
          .optional("tokens", &T::tokens, "tokens of the whole training");
  return table;
}

const Fields<Architecture>& fields_of(const Architecture*) {
  using T = Architecture;
  static const Fields<T> table =
      Fields<T>("model")
          .optional("name", &T::name, "identifier")
          .optional("aliases", &T::aliases, "other names of the same entry")
          .optional("family", &T::family, "models that share a design")
          .optional("kind", &T::kind, "which halves of a transformer it has")
          .required("num_layers", &T::num_layers, "decoder layers, or layers of an encoder")
          .optional("num_encoder_layers", &T::num_encoder_layers, "of an encoder-decoder")
          .required("hidden", &T::hidden, "width of the residual stream")
          .required("ffn_hidden", &T::ffn_hidden, "width of the feed-forward of a dense layer")
          .optional("ffn", &T::ffn, "swiglu and geglu have three matrices, the others two")
          .required("num_heads", &T::num_heads, "query heads")
          .optional("num_kv_heads", &T::num_kv_heads, "key-value heads; 0: as query heads")
          .optional("head_dim", &T::head_dim, "width of a head; 0: hidden / num_heads")
          .optional("attention", &T::attention, "follows from the heads when absent")
          .optional("latent_attention", &T::latent_attention, "ranks and widths of mla")
          .optional("sliding_window", &T::sliding_window, "tokens a query sees; 0: all")
          .optional("global_attention_every", &T::global_attention_every,
                    "with a window: each so-many-th layer sees all; 0: none")
          .optional("vocab", &T::vocab, "rows of the embedding; 0: none")
          .optional("tie_embeddings", &T::tie_embeddings, "logits share the embedding matrix")
          .optional("position_encoding", &T::position_encoding, "learned positions have parameters")
          .optional("max_position", &T::max_position, "positions the model knows")
          .optional("norm", &T::norm, "layernorm has scale and shift, rmsnorm scale")
          .optional("parallel_block", &T::parallel_block, "attention beside feed-forward")
          .optional("parallel_norms", &T::parallel_norms, "norms of a parallel block: 1 or 2")
          .optional("linear_bias", &T::linear_bias, "biases on all products of a layer")
          .optional("qkv_bias", &T::qkv_bias, "biases on query, key and value")
          .optional("qk_norm", &T::qk_norm, "norms on query and key heads")
          .optional("embedding_norm", &T::embedding_norm, "norm after the embedding")
          .optional("moe", &T::moe, "mixture of experts")
          .optional("vision", &T::vision, "image input")
          .optional("num_multi_token_prediction", &T::num_multi_token_prediction,
                    "modules that predict further tokens, arXiv 2412.19437 s.2.2")
          .optional("adapters", &T::adapters, "low-rank adapters; the model itself is frozen")
          .optional("training", &T::training, "how the published model was trained")
          .optional("published_parameters", &T::published_parameters, "what the authors state")
          .optional("provenance", &T::provenance, "where the facts come from");
  return table;
}

Architecture completed(Architecture a) {
  if (a.num_kv_heads == 0) {
    a.num_kv_heads = a.attention == AttentionKind::mqa ? 1 : a.num_heads;
  }
  if (a.head_dim == 0 && a.latent_attention) a.head_dim = a.latent_attention->v_head_dim;
  if (a.head_dim == 0 && a.num_heads > 0) a.head_dim = a.hidden / a.num_heads;
  if (!a.attention) {
    a.attention = a.latent_attention              ? AttentionKind::mla
                  : a.num_kv_heads == a.num_heads ? AttentionKind::mha
                  : a.num_kv_heads == 1           ? AttentionKind::mqa
                                                  : AttentionKind::gqa;
  }
  return a;
}

}  // namespace orrery
