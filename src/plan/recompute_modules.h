// The parts of a layer that selective recomputation runs again, by the names of Megatron-Core's
// --recompute-modules (megatron/core/transformer/transformer_config.py, recompute_modules):
//
//   core_attn       the attention core (arXiv 2205.05198 s.5)
//   layernorm       the norms before attention and before the feed-forward part
//   mla_up_proj     latent attention: norm of the latents, up-projections and rotation
//   moe_act         the activation of the routed experts
//   mlp             the feed-forward part of dense layers
//   moe             the whole expert layer: router, exchanges of tokens, experts, shared expert
//   shared_experts  the shared expert
//
// and one more, which Megatron-Core has not:
//
//   mlp_act         the activation of dense layers and of the shared expert: MaxText's policy
//                   minimal_with_context (MaxText/layers/decoders.py), DeepSeek-V3's SwiGLU
//                   (arXiv 2412.19437 s.3.2.3)
//
// layernorm, mla_up_proj, moe_act and mlp_act discard their output, which is made again before what
// reads it runs backward; the others keep their input and are run again as a whole
// (megatron/core/tensor_parallel/random.py, CheckpointWithoutOutput and checkpoint).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "document/fields.h"

namespace orrery {

struct Model;

enum class RecomputeModule {
  core_attn,
  layernorm,
  mla_up_proj,
  moe_act,
  mlp_act,
  mlp,
  moe,
  shared_experts
};

// An unknown name is an error with all that are known.
template <>
struct Codec<RecomputeModule> {
  static Result<RecomputeModule> read(const Value& v);
  static Value write(RecomputeModule m) { return Value::text(std::string(to_text(m))); }
  static ValueShape shape() { return {}; }
};

class RecomputeModuleSet {
 public:
  RecomputeModuleSet() = default;
  // Of a plan that states these; where it states none, the attention core.
  explicit RecomputeModuleSet(std::span<const RecomputeModule> stated);
  [[nodiscard]] bool has(RecomputeModule m) const { return (bits_ & bit(m)) != 0; }
  [[nodiscard]] unsigned bits() const { return bits_; }
  bool operator==(const RecomputeModuleSet&) const = default;

 private:
  static unsigned bit(RecomputeModule m) { return 1U << static_cast<unsigned>(m); }
  unsigned bits_ = bit(RecomputeModule::core_attn);
};

// What the module needs that the model has not ("latent attention"); empty if it has it.
std::string_view missing_for(RecomputeModule module, const Model& model);

// "core_attn+layernorm".
std::string to_text(std::span<const RecomputeModule> modules);

}  // namespace orrery
