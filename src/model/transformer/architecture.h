// What a transformer is made of: the numbers of its paper or its published configuration.
//
// A plain value, read and written by one table of fields (docs/models-and-operators.md). Counts of
// parameters and FLOPs are not stored here; they follow from the operators (model.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/fields.h"
#include "document/provenance.h"
#include "model/operator.h"

namespace orrery {

enum class ModelKind { decoder, encoder, encoder_decoder, vision_encoder };
template <>
inline constexpr char kWordSeparator<ModelKind> = '-';  // "vision-encoder"
enum class FeedForwardKind { swiglu, geglu, gelu, relu, squared_relu };
template <>
inline constexpr char kWordSeparator<FeedForwardKind> = '-';  // "squared-relu"
enum class AttentionKind { mha, gqa, mqa, mla };
enum class PositionEncoding { rope, learned, alibi, relative, relative_bias, none };
template <>
inline constexpr char kWordSeparator<PositionEncoding> = '-';  // "relative-bias"
// sandwich: a norm before and one after each of attention and feed-forward (Gemma 2, 3); post: only
// that after (OLMo 2). layernorm_scale has no shift (Cohere), layernorm_plain no parameters (OLMo).
enum class NormKind {
  layernorm,
  layernorm_scale,
  layernorm_plain,
  rmsnorm,
  rmsnorm_sandwich,
  rmsnorm_post
};
template <>
inline constexpr char kWordSeparator<NormKind> = '-';  // "rmsnorm-sandwich"
// What norms on query and key heads have parameters for: the width of a head, shared by all heads,
// every channel of every head, or nothing.
enum class QueryKeyScale { head, channels, none };
// The two halves of a layer. `state_space` and `gated_delta` carry a state along the sequence
// instead of attending to its tokens.
enum class Mixer { attention, local_attention, state_space, gated_delta, none };
template <>
inline constexpr char kWordSeparator<Mixer> = '-';  // "local-attention"
enum class FeedForwardPart { dense, experts, memory, none };

// A gated feed-forward has three matrices (gate, up, down), a plain one two.
bool is_gated(FeedForwardKind kind);

// Low-rank attention of DeepSeek-V2 (arXiv 2405.04434 s.2.1).
struct LatentAttention {
  std::int64_t q_lora_rank = 0;  // 0: queries at full rank
  std::int64_t kv_lora_rank = 0;
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t qk_rope_head_dim = 0;
  std::int64_t v_head_dim = 0;
  bool operator==(const LatentAttention&) const = default;
};
Fields<LatentAttention> fields_of(const LatentAttention*);

// What experts of a shortcut read (Residual::shortcut): what the layer before has made, or only its
// attention, or its input (arXiv 2404.05019 s.3: the positions 1, 2 and 3 of the shortcut).
enum class ShortcutSource { layer, attention, input };

struct MixtureOfExperts {
  std::int64_t num_experts = 0;
  std::int64_t top_k = 0;
  std::int64_t expert_ffn = 0;  // width of one expert
  std::optional<FeedForwardKind> ffn =
      std::nullopt;  // of the experts, if not as in the dense layers
  std::int64_t num_shared_experts = 0;
  std::int64_t shared_ffn = 0;          // sum over the shared experts
  bool shared_expert_gate = false;      // one sigmoid gate per token on the shared expert
  std::int64_t first_dense_layers = 0;  // leading layers without experts
  std::int64_t layer_interval = 1;      // after those, the last of each `interval` has experts
  ShortcutSource shortcut_source = ShortcutSource::layer;
  std::int64_t num_groups = 0;  // device-limited routing: groups of experts...
  std::int64_t top_groups = 0;  // ...of which a token reaches so many
  bool operator==(const MixtureOfExperts&) const = default;
};
Fields<MixtureOfExperts> fields_of(const MixtureOfExperts*);

// A selective state-space layer (blocks.h). With heads Mamba-2 (arXiv 2405.21060): products over
// chunks of the sequence. Without, Mamba (arXiv 2312.00752): a scan of each channel.
struct StateSpace {
  std::int64_t inner = 0;        // channels
  std::int64_t state = 0;        // numbers that each channel carries along
  std::int64_t heads = 0;        // 0: Mamba
  std::int64_t groups = 1;       // of heads that share their input and output matrices
  std::int64_t step_rank = 0;    // of Mamba's step sizes
  std::int64_t convolution = 4;  // tokens it reaches over
  std::int64_t chunk = 256;      // tokens
  bool bias = false;             // of the projections
  bool convolution_bias = true;
  bool inner_norms = false;  // on steps, input and output matrices (Jamba)
  bool gated_norm = true;    // of Mamba-2, before the output's projection
  bool operator==(const StateSpace&) const = default;
};
Fields<StateSpace> fields_of(const StateSpace*);

// Linear attention by the gated delta rule (arXiv 2412.06464; blocks.h).
struct GatedDelta {
  std::int64_t key_heads = 0;
  std::int64_t key_dim = 0;  // of a head
  std::int64_t value_heads = 0;
  std::int64_t value_dim = 0;
  std::int64_t convolution = 4;
  std::int64_t chunk = 64;
  bool operator==(const GatedDelta&) const = default;
};
Fields<GatedDelta> fields_of(const GatedDelta*);

// A product-key memory (memory_block.cc): of n x n values, addressed by pairs of n keys.
struct ProductKeyMemory {
  std::int64_t keys = 0;       // n
  std::int64_t heads = 1;      // queries of a token
  std::int64_t key_dim = 0;    // width of a query: two keys side by side
  std::int64_t top_k = 0;      // values that a head looks up
  std::int64_t value_dim = 0;  // elements of a value
  std::int64_t shared_by = 1;  // layers that share one table of values
  bool operator==(const ProductKeyMemory&) const = default;
};
Fields<ProductKeyMemory> fields_of(const ProductKeyMemory*);

// Image input. A vision encoder needs `patch`; a decoder that also sees images (Gemma 3) describes
// its tower here, which is not part of the operators.
struct VisionInput {
  std::int64_t patch = 0;   // pixels along one side of a patch
  std::int64_t image = 0;   // pixels along one side of the image
  std::int64_t tokens = 0;  // patches of one image
  std::string tower;        // "siglip-so400m"
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  bool operator==(const VisionInput&) const = default;
};
Fields<VisionInput> fields_of(const VisionInput*);

// Low-rank adapters (LoRA, arXiv 2106.09685 s.4.1): to each adapted product x W is added x A B,
// A: k x rank, B: rank x n. Only A and B are trained; the model itself is frozen.
enum class AdaptedProducts { attention, all };  // all: the dense feed-forward's too, not experts'
struct Adapters {
  std::int64_t rank = 0;
  AdaptedProducts products = AdaptedProducts::attention;
  bool operator==(const Adapters&) const = default;
};
Fields<Adapters> fields_of(const Adapters*);

// How the published model was trained; 0: not known.
struct TrainingFacts {
  std::int64_t sequence_length = 0;
  std::int64_t global_batch_tokens = 0;
  double tokens = 0;
  bool operator==(const TrainingFacts&) const = default;
};
Fields<TrainingFacts> fields_of(const TrainingFacts*);

struct Architecture {
  std::string name = "unnamed";
  std::vector<std::string> aliases;
  std::vector<std::string> assumed;  // what was read without being sure; not a field of files
  std::string family;
  ModelKind kind = ModelKind::decoder;
  std::int64_t num_layers = 0;          // decoder layers, or encoder layers if encoder only
  std::int64_t num_encoder_layers = 0;  // of an encoder-decoder
  std::int64_t hidden = 0;
  std::int64_t ffn_hidden = 0;
  FeedForwardKind ffn = FeedForwardKind::swiglu;
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;  // 0: as many as num_heads (1 for mqa)
  std::int64_t head_dim = 0;      // of query and key, and value but for mla; 0: hidden/heads
  std::optional<AttentionKind> attention;  // absent: follows from num_kv_heads, latent_attention
  std::optional<LatentAttention> latent_attention;
  std::int64_t sliding_window = 0;          // tokens a query sees at most; 0: all
  std::int64_t global_attention_every = 0;  // with a window: every n-th layer sees all; 0: none
  bool chunked_attention = false;  // the window lies still: pieces of the sequence (Llama 4)
  // The halves of the layers, repeated over them. Empty: attention, as the window says, and a
  // feed-forward, as `moe` says.
  std::vector<Mixer> mixers;
  std::vector<FeedForwardPart> feed_forwards;
  std::optional<StateSpace> state_space;
  std::optional<GatedDelta> gated_delta;
  std::int64_t vocab = 0;  // 0: none (vision encoder)
  bool tie_embeddings = false;
  PositionEncoding position_encoding = PositionEncoding::rope;
  std::int64_t max_position = 0;  // 0: not known or not limited
  NormKind norm = NormKind::rmsnorm;
  bool parallel_block = false;  // attention and feed-forward read the same residual stream
  Residual residual = Residual::standard;
  std::int64_t parallel_norms = 2;  // norms of a parallel block: 1 shared, or one each
  bool linear_bias = false;         // biases on all products of attention and feed-forward
  bool qkv_bias = false;           // biases on query, key, value; of mla on what leads to the ranks
  bool output_bias = false;        // a bias on attention's output
  bool feed_forward_bias = false;  // biases on the dense feed-forward
  bool qk_norm = false;
  QueryKeyScale qk_norm_scale = QueryKeyScale::head;
  bool attention_gate = false;  // a sigmoid of the layer's input multiplies attention's output
  bool embedding_norm = false;  // a norm right after the embedding (BLOOM)
  std::optional<MixtureOfExperts> moe;
  std::optional<ProductKeyMemory> memory;
  std::optional<VisionInput> vision;
  std::int64_t num_multi_token_prediction = 0;  // modules of arXiv 2412.19437 s.2.2
  std::optional<Adapters> adapters;             // absent: everything is trained
  TrainingFacts training;
  double published_parameters = 0;  // what the authors state; 0: nothing
  Provenance provenance;
  bool operator==(const Architecture&) const = default;
};
Fields<Architecture> fields_of(const Architecture*);

// The half of a layer, from the pattern or, without one, from window and experts.
Mixer mixer_of(const Architecture& architecture, std::int64_t layer);
FeedForwardPart feed_forward_of(const Architecture& architecture, std::int64_t layer);
// Whether any layer of the decoder (or encoder) has one of them.
bool has_attention(const Architecture& architecture);
bool has_mixer(const Architecture& architecture, Mixer mixer);
bool has_feed_forward(const Architecture& architecture, FeedForwardPart part);

// Fills what follows from other fields: num_kv_heads, head_dim, attention.
Architecture completed(Architecture architecture);

// Every reason why a completed architecture makes no sense, each naming its field and what would be
// right; empty if it does. Limits are an order of magnitude or more above anything built.
std::vector<std::string> architecture_problems(const Architecture& architecture);

// Reads the product's own YAML or a Hugging Face config.json, told apart by content, and completes
// it. Errors: those of the fields, missing keys; contradictions are left to build_model.
Result<Architecture> read_architecture(const Document& document);

}  // namespace orrery
