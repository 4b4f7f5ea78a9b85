#include "model/transformer/architecture.h"

#include <algorithm>

namespace orrery {

bool is_gated(FeedForwardKind kind) {
  return kind == FeedForwardKind::swiglu || kind == FeedForwardKind::geglu;
}

Fields<LatentAttention> fields_of(const LatentAttention*) {
  using T = LatentAttention;
  return Fields<T>("latent attention")
      .optional<&T::q_lora_rank>("rank of the queries; 0: full")
      .required<&T::kv_lora_rank>("rank of keys and values")
      .required<&T::qk_nope_head_dim>("query-key width without position")
      .required<&T::qk_rope_head_dim>("query-key width with position")
      .required<&T::v_head_dim>("value width of a head");
}

Fields<MixtureOfExperts> fields_of(const MixtureOfExperts*) {
  using T = MixtureOfExperts;
  return Fields<T>("mixture of experts")
      .required<&T::num_experts>("routed experts of a layer")
      .required<&T::top_k>("experts a token is sent to")
      .required<&T::expert_ffn>("width of one expert")
      .optional<&T::ffn>("kind of the experts, if not that of the dense layers")
      .optional<&T::num_shared_experts>("experts that see every token")
      .optional<&T::shared_ffn>("width of all shared experts together")
      .optional<&T::shared_expert_gate>("a gate on the shared expert")
      .optional<&T::first_dense_layers>("leading layers without experts")
      .optional<&T::layer_interval>("1: each layer has experts, 2: each second")
      .optional<&T::shortcut_source>(
          "what experts of a shortcut read: the output of the layer before, or of its "
          "attention, or its input")
      .optional<&T::num_groups>("groups of experts of limited routing")
      .optional<&T::top_groups>("groups a token may reach");
}

Fields<StateSpace> fields_of(const StateSpace*) {
  using T = StateSpace;
  return Fields<T>("state space")
      .required<&T::inner>("channels")
      .required<&T::state>("numbers that a channel carries along")
      .optional<&T::heads>("of Mamba-2; 0: Mamba, a scan of each channel")
      .optional<&T::groups>("of heads that share input and output matrices")
      .optional<&T::step_rank>("rank of Mamba's step sizes")
      .optional<&T::convolution>("tokens the convolution reaches over")
      .optional<&T::chunk>("tokens of a chunk of Mamba-2")
      .optional<&T::bias>("biases on the projections")
      .optional<&T::convolution_bias>("bias of the convolution")
      .optional<&T::inner_norms>("norms on steps, input and output matrices")
      .optional<&T::gated_norm>("of Mamba-2, before the output's projection");
}

Fields<GatedDelta> fields_of(const GatedDelta*) {
  using T = GatedDelta;
  return Fields<T>("gated delta rule")
      .required<&T::key_heads>("heads of query and key")
      .required<&T::key_dim>("width of a query or key head")
      .required<&T::value_heads>("heads of the values")
      .required<&T::value_dim>("width of a value head")
      .optional<&T::convolution>("tokens the convolution reaches over")
      .optional<&T::chunk>("tokens of a chunk");
}

Fields<ProductKeyMemory> fields_of(const ProductKeyMemory*) {
  using T = ProductKeyMemory;
  return Fields<T>("product-key memory")
      .required<&T::keys>("keys of a half; values are their pairs")
      .optional<&T::heads>("queries of a token")
      .required<&T::key_dim>("width of a query: two keys")
      .required<&T::top_k>("values that a head looks up")
      .required<&T::value_dim>("elements of a value")
      .optional<&T::shared_by>("layers that share the values");
}

Fields<VisionInput> fields_of(const VisionInput*) {
  using T = VisionInput;
  return Fields<T>("vision input")
      .required<&T::patch>("pixels along a patch")
      .optional<&T::image>("pixels along the image")
      .optional<&T::tokens>("patches of an image")
      .optional<&T::tower>("name of the image encoder of a decoder")
      .optional<&T::hidden>("width of the tower")
      .optional<&T::ffn>("feed-forward width of the tower")
      .optional<&T::layers>("layers of the tower")
      .optional<&T::heads>("heads of the tower");
}

Fields<Adapters> fields_of(const Adapters*) {
  return Fields<Adapters>("low-rank adapter")
      .required<&Adapters::rank>("inner width of an adapter")
      .optional<&Adapters::products>("products that are adapted");
}

Fields<TrainingFacts> fields_of(const TrainingFacts*) {
  using T = TrainingFacts;
  return Fields<T>("training facts")
      .optional<&T::sequence_length>("tokens of a sequence")
      .optional<&T::global_batch_tokens>("tokens of a step")
      .optional<&T::tokens>("tokens of the whole training");
}

Fields<Architecture> fields_of(const Architecture*) {
  using T = Architecture;
  return Fields<T>("model")
      .optional<&T::name>("identifier")
      .optional<&T::aliases>("other names of the same entry")
      .optional<&T::family>("models that share a design")
      .optional<&T::kind>("which halves of a transformer it has")
      .required<&T::num_layers>("decoder layers, or layers of an encoder")
      .optional<&T::num_encoder_layers>("of an encoder-decoder")
      .required<&T::hidden>("width of the residual stream")
      .required<&T::ffn_hidden>("width of the feed-forward of a dense layer")
      .optional<&T::ffn>("swiglu and geglu have three matrices, the others two")
      .required<&T::num_heads>("query heads")
      .optional<&T::num_kv_heads>("key-value heads; 0: as query heads")
      .optional<&T::head_dim>("width of a head; 0: hidden / num_heads")
      .optional<&T::attention>("follows from the heads when absent")
      .optional<&T::latent_attention>("ranks and widths of mla")
      .optional<&T::sliding_window>("tokens a query sees; 0: all")
      .optional<&T::global_attention_every>("with a window: every n-th layer sees all; 0: none")
      .optional<&T::chunked_attention>("the window lies still: pieces of the sequence")
      .optional<&T::mixers>("first halves of the layers, repeated over them")
      .optional<&T::feed_forwards>("second halves of the layers, repeated over them")
      .optional<&T::state_space>("state-space layers")
      .optional<&T::gated_delta>("layers of the gated delta rule")
      .optional<&T::vocab>("rows of the embedding; 0: none")
      .optional<&T::tie_embeddings>("logits share the embedding matrix")
      .optional<&T::position_encoding>("learned positions have parameters")
      .optional<&T::max_position>("positions the model knows")
      .optional<&T::norm>("layernorm has scale and shift, rmsnorm scale")
      .optional<&T::parallel_block>("attention beside feed-forward")
      .optional<&T::residual>(
          "what a module reads of those before it: standard, ladder, kraken, shortcut")
      .optional<&T::parallel_norms>("norms of a parallel block: 1 or 2")
      .optional<&T::linear_bias>("biases on all products of a layer")
      .optional<&T::qkv_bias>("biases on query, key and value")
      .optional<&T::output_bias>("a bias on attention's output")
      .optional<&T::feed_forward_bias>("biases on the dense feed-forward")
      .optional<&T::qk_norm>("norms on query and key heads")
      .optional<&T::qk_norm_scale>("what those norms have parameters for")
      .optional<&T::attention_gate>("a gate on attention's output")
      .optional<&T::embedding_norm>("norm after the embedding")
      .optional<&T::moe>("mixture of experts")
      .optional<&T::memory>("product-key memory")
      .optional<&T::vision>("image input")
      .optional<&T::num_multi_token_prediction>(
          "modules that predict further tokens, arXiv 2412.19437 s.2.2")
      .optional<&T::adapters>("low-rank adapters; the model itself is frozen")
      .optional<&T::training>("how the published model was trained")
      .optional<&T::published_parameters>("what the authors state")
      .optional<&T::provenance>("where the facts come from");
}

namespace {

template <class Part>
Part in_pattern(const std::vector<Part>& pattern, std::int64_t layer) {
  return pattern[static_cast<std::size_t>(layer) % pattern.size()];
}

}  // namespace

Mixer mixer_of(const Architecture& a, std::int64_t layer) {
  if (!a.mixers.empty()) return in_pattern(a.mixers, layer);
  const bool all = a.sliding_window == 0 ||
                   (a.global_attention_every > 0 && (layer + 1) % a.global_attention_every == 0);
  return all ? Mixer::attention : Mixer::local_attention;
}

FeedForwardPart feed_forward_of(const Architecture& a, std::int64_t layer) {
  if (!a.feed_forwards.empty()) return in_pattern(a.feed_forwards, layer);
  if (!a.moe || layer < a.moe->first_dense_layers) return FeedForwardPart::dense;
  const std::int64_t place = layer - a.moe->first_dense_layers;
  return (place + 1) % a.moe->layer_interval == 0 ? FeedForwardPart::experts
                                                  : FeedForwardPart::dense;
}

bool has_mixer(const Architecture& a, Mixer mixer) {
  return std::ranges::find(a.mixers, mixer) != a.mixers.end();
}

bool has_attention(const Architecture& a) {
  return a.mixers.empty() || has_mixer(a, Mixer::attention) || has_mixer(a, Mixer::local_attention);
}

bool has_feed_forward(const Architecture& a, FeedForwardPart part) {
  if (a.feed_forwards.empty()) {
    return part == FeedForwardPart::dense || (a.moe && part == FeedForwardPart::experts);
  }
  return std::ranges::find(a.feed_forwards, part) != a.feed_forwards.end();
}

Architecture completed(Architecture a) {
  if (a.num_kv_heads == 0) a.num_kv_heads = a.attention == AttentionKind::mqa ? 1 : a.num_heads;
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
