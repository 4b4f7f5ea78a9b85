// What makes an architecture impossible or absurd.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "model/model_problems.h"
#include "model/transformer/architecture.h"

namespace orrery {

namespace {

// Far above anything built: the largest published models have 128 layers, 25,600 wide, and 2,048
// experts. Products of the limits stay far below 2^53, so counts are exact.
constexpr std::int64_t kMaxLayers = 10'000;
constexpr std::int64_t kMaxWidth = 1'000'000;
constexpr std::int64_t kMaxHeads = 100'000;
constexpr std::int64_t kMaxExperts = 100'000;
constexpr std::int64_t kMaxTokens = 1'000'000'000;

void check_attention(const Architecture& a, ModelProblems& p) {
  p.range("num_heads", a.num_heads, 1, kMaxHeads);
  p.range("num_kv_heads", a.num_kv_heads, 1, kMaxHeads);
  p.range("head_dim", a.head_dim, 1, kMaxWidth);
  p.range("sliding_window", a.sliding_window, 0, kMaxTokens);
  p.range("global_attention_every", a.global_attention_every, 0, kMaxLayers);
  if (a.num_heads > 0 && a.num_kv_heads > 0) {
    const std::string counts =
        fmt::format("num_kv_heads {} and num_heads {}", a.num_kv_heads, a.num_heads);
    p.require(a.num_heads % a.num_kv_heads == 0,
              counts + ": key-value heads must divide query heads");
    p.require(a.attention != AttentionKind::mha || a.num_kv_heads == a.num_heads,
              counts + ": attention mha has as many of both; use gqa");
    p.require(a.attention != AttentionKind::mqa || a.num_kv_heads == 1,
              counts + ": attention mqa has one key-value head; use gqa");
  }
  p.require(a.global_attention_every == 0 || a.sliding_window > 0,
            "global_attention_every is set without sliding_window: every layer is global");
  p.require((a.attention == AttentionKind::mla) == a.latent_attention.has_value(),
            "attention mla and latent_attention go together: give both or neither");
  if (a.latent_attention) {
    const LatentAttention& l = *a.latent_attention;
    p.range("latent_attention.q_lora_rank", l.q_lora_rank, 0, kMaxWidth);
    p.range("latent_attention.kv_lora_rank", l.kv_lora_rank, 1, kMaxWidth);
    p.range("latent_attention.qk_nope_head_dim", l.qk_nope_head_dim, 1, kMaxWidth);
    p.range("latent_attention.qk_rope_head_dim", l.qk_rope_head_dim, 0, kMaxWidth);
    p.range("latent_attention.v_head_dim", l.v_head_dim, 1, kMaxWidth);
  }
}

void check_state_space(const StateSpace& s, ModelProblems& p) {
  p.range("state_space.inner", s.inner, 1, kMaxWidth);
  p.range("state_space.state", s.state, 1, kMaxWidth);
  p.range("state_space.heads", s.heads, 0, kMaxHeads);
  p.range("state_space.groups", s.groups, 1, kMaxHeads);
  p.range("state_space.step_rank", s.step_rank, s.heads == 0 ? 1 : 0, kMaxWidth);
  p.range("state_space.convolution", s.convolution, 1, kMaxWidth);
  p.range("state_space.chunk", s.chunk, 1, kMaxTokens);
  p.require(s.heads <= 0 || s.groups <= 0 || (s.inner % s.heads == 0 && s.heads % s.groups == 0),
            fmt::format("state_space.heads {} must divide inner {} and be a multiple of groups {}",
                        s.heads, s.inner, s.groups));
}

void check_gated_delta(const GatedDelta& g, ModelProblems& p) {
  p.range("gated_delta.key_heads", g.key_heads, 1, kMaxHeads);
  p.range("gated_delta.key_dim", g.key_dim, 1, kMaxWidth);
  p.range("gated_delta.value_heads", g.value_heads, 1, kMaxHeads);
  p.range("gated_delta.value_dim", g.value_dim, 1, kMaxWidth);
  p.range("gated_delta.convolution", g.convolution, 1, kMaxWidth);
  p.range("gated_delta.chunk", g.chunk, 1, kMaxTokens);
  p.require(g.key_heads <= 0 || g.value_heads % g.key_heads == 0,
            fmt::format("gated_delta.value_heads {} must be a multiple of key_heads {}",
                        g.value_heads, g.key_heads));
}

// The halves of the layers, and what they need.
void check_layers(const Architecture& a, ModelProblems& p) {
  const bool pattern = !a.mixers.empty() || !a.feed_forwards.empty();
  p.require(!pattern || a.kind != ModelKind::encoder_decoder,
            "mixers and feed_forwards in an encoder-decoder are not modelled");
  p.require(!pattern || !a.parallel_block,
            "parallel_block with mixers or feed_forwards is not modelled");
  p.require(a.mixers.size() <= kMaxLayers && a.feed_forwards.size() <= kMaxLayers,
            fmt::format("mixers and feed_forwards are at most {}", kMaxLayers));
  p.require(has_mixer(a, Mixer::state_space) == a.state_space.has_value(),
            "state_space and a state-space among the mixers go together: give both or neither");
  p.require(has_mixer(a, Mixer::gated_delta) == a.gated_delta.has_value(),
            "gated_delta and a gated-delta among the mixers go together: give both or neither");
  p.require(!has_mixer(a, Mixer::local_attention) || a.sliding_window > 0,
            "local-attention among the mixers needs sliding_window: the tokens a query sees");
  p.require(!has_feed_forward(a, FeedForwardPart::experts) || a.moe.has_value(),
            "experts among the feed_forwards need moe: what they are");
  p.require(has_feed_forward(a, FeedForwardPart::memory) == a.memory.has_value(),
            "memory and a memory among the feed_forwards go together: give both or neither");
  p.require(!a.chunked_attention || a.sliding_window > 0,
            "chunked_attention needs sliding_window: the tokens of a piece");
  const std::size_t layers = std::max<std::size_t>({a.mixers.size(), a.feed_forwards.size(), 1});
  bool empty = false;
  for (std::size_t i = 0; i < std::min<std::size_t>(layers, kMaxLayers); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    empty = empty ||
            (!a.mixers.empty() && !a.feed_forwards.empty() && mixer_of(a, layer) == Mixer::none &&
             feed_forward_of(a, layer) == FeedForwardPart::none);
  }
  p.require(!empty, "a layer whose mixer and feed-forward are none does nothing");
  if (a.state_space) check_state_space(*a.state_space, p);
  if (a.gated_delta) check_gated_delta(*a.gated_delta, p);
}

void check_experts(const Architecture& a, ModelProblems& p) {
  const MixtureOfExperts& moe = *a.moe;
  p.range("moe.num_experts", moe.num_experts, 1, kMaxExperts);
  p.range("moe.expert_ffn", moe.expert_ffn, 1, kMaxWidth);
  p.range("moe.num_shared_experts", moe.num_shared_experts, 0, kMaxExperts);
  p.range("moe.shared_ffn", moe.shared_ffn, 0, kMaxWidth);
  p.range("moe.first_dense_layers", moe.first_dense_layers, 0, kMaxLayers);
  p.range("moe.layer_interval", moe.layer_interval, 1, kMaxLayers);
  p.range("moe.num_groups", moe.num_groups, 0, kMaxExperts);
  p.range("moe.top_groups", moe.top_groups, 0, kMaxExperts);
  p.range("moe.top_k", moe.top_k, 1, std::max<std::int64_t>(1, moe.num_experts));
  p.require((moe.num_shared_experts > 0) == (moe.shared_ffn > 0),
            "moe.num_shared_experts and moe.shared_ffn go together: shared_ffn is the width of "
            "all shared experts");
  p.require(!a.parallel_block,
            "moe with parallel_block: experts beside attention are not modelled");
}

void check_memory(const ProductKeyMemory& memory, ModelProblems& p) {
  constexpr std::int64_t kMaxKeys = 1 << 20;
  p.range("memory.keys", memory.keys, 1, kMaxKeys);
  p.range("memory.heads", memory.heads, 1, kMaxWidth);
  p.range("memory.key_dim", memory.key_dim, 2, kMaxWidth);
  p.range("memory.value_dim", memory.value_dim, 1, kMaxWidth);
  p.range("memory.shared_by", memory.shared_by, 1, kMaxLayers);
  p.range("memory.top_k", memory.top_k, 1, std::max<std::int64_t>(1, memory.keys));
}

void check_kind(const Architecture& a, ModelProblems& p) {
  const bool vision = a.kind == ModelKind::vision_encoder;
  const bool two_sides = a.kind == ModelKind::encoder_decoder;
  p.range("vocab", a.vocab, vision ? 0 : 1, kMaxTokens);
  p.range("num_encoder_layers", a.num_encoder_layers, two_sides ? 1 : 0,
          two_sides ? kMaxLayers : 0);
  p.require(!vision || a.vision.has_value(),
            "kind vision-encoder needs vision.patch: the side of a patch in pixels");
  if (vision && a.vision) p.range("vision.patch", a.vision->patch, 1, 10'000);
  p.require(!two_sides || !a.latent_attention,
            "latent_attention in an encoder-decoder is not modelled");
  p.require(!two_sides || !a.parallel_block,
            "parallel_block in an encoder-decoder is not modelled");
  p.range("num_multi_token_prediction", a.num_multi_token_prediction, 0, 100);
  p.require(a.num_multi_token_prediction == 0 || a.kind == ModelKind::decoder,
            "num_multi_token_prediction is for decoders only");
}

}  // namespace

std::vector<std::string> architecture_problems(const Architecture& a) {
  ModelProblems p;
  p.range("num_layers", a.num_layers, 1, kMaxLayers);
  p.range("hidden", a.hidden, 1, kMaxWidth);
  p.range("ffn_hidden", a.ffn_hidden, has_feed_forward(a, FeedForwardPart::dense) ? 1 : 0,
          10 * kMaxWidth);
  if (has_attention(a)) check_attention(a, p);
  check_layers(a, p);
  if (a.moe) check_experts(a, p);
  if (a.memory) check_memory(*a.memory, p);
  check_kind(a, p);
  if (a.adapters) {
    p.range("adapters.rank", a.adapters->rank, 1, a.hidden);
    const bool none = a.moe && a.moe->shared_ffn == 0 && a.moe->first_dense_layers == 0 &&
                      a.moe->layer_interval == 1;
    p.require(
        a.adapters->products == AdaptedProducts::attention || !none,
        "adapters.products is all, but only experts follow attention, and adapters of experts "
        "are not modelled; use attention");
  }
  p.range("max_position", a.max_position, a.position_encoding == PositionEncoding::learned ? 1 : 0,
          kMaxTokens);
  p.range("parallel_norms", a.parallel_norms, 1, 2);
  p.require(a.residual == Residual::standard ||
                (!a.parallel_block && a.mixers.empty() && a.feed_forwards.empty() &&
                 a.kind != ModelKind::encoder_decoder),
            "residual ladder, kraken or shortcut with parallel_block, mixers, feed_forwards or an "
            "encoder-decoder is not modelled");
  p.require(a.residual != Residual::kraken || !a.moe,
            "residual kraken with moe is not modelled: its layers have no experts");
  p.require(a.residual != Residual::shortcut || (a.moe && a.moe->shared_ffn > 0),
            "residual shortcut needs moe with shared_ffn above 0: a shared expert reads what "
            "attention has made of the input that the others read");
  if (a.moe && a.moe->shortcut_source != ShortcutSource::layer) {
    const std::string source =
        "moe.shortcut_source " + std::string(to_text(a.moe->shortcut_source));
    p.require(a.residual == Residual::shortcut, source + " needs residual shortcut");
    p.require(
        a.moe->layer_interval > 1,
        source +
            " needs layer_interval above 1: a dense layer before must hide the exchange; with "
            "experts in every layer write shortcut_source layer");
    // Both layers of a pair are computed in the place of the first (transformer.cc).
    bool alike = true;
    for (std::int64_t layer = 1; layer < a.num_layers; ++layer) {
      const bool pair = feed_forward_of(a, layer) == FeedForwardPart::experts;
      alike = alike && (!pair || mixer_of(a, layer) == mixer_of(a, layer - 1));
    }
    p.require(a.moe->shortcut_source != ShortcutSource::input || alike,
              source +
                  " needs the same attention in both layers of a pair: leave out "
                  "global_attention_every");
  }
  p.require(!a.parallel_block ||
                (a.norm != NormKind::rmsnorm_sandwich && a.norm != NormKind::rmsnorm_post),
            "parallel_block with norm rmsnorm-sandwich or rmsnorm-post is not modelled");
  return std::move(p.all);
}

}  // namespace orrery
