// DeepSeek-V2, V3 and what follows their configuration: latent attention, shared experts, leading
// dense layers, multi-token prediction (arXiv 2405.04434, 2412.19437).
#include "model/transformer/hugging_face_keys.h"

namespace orrery {

void read_deepseek(ConfigKeys& keys, Architecture& a) {
  read_llama_shape(keys, a, 0);
  // Each head has keys and values of its own once they are projected up.
  a.num_kv_heads = a.num_heads;
  a.latent_attention = LatentAttention{.q_lora_rank = keys.integer({"q_lora_rank"}, 0),
                                       .kv_lora_rank = keys.required({"kv_lora_rank"}),
                                       .qk_nope_head_dim = keys.required({"qk_nope_head_dim"}),
                                       .qk_rope_head_dim = keys.required({"qk_rope_head_dim"}),
                                       .v_head_dim = keys.required({"v_head_dim"})};
  a.head_dim = a.latent_attention->v_head_dim;
  a.num_multi_token_prediction = keys.integer({"num_nextn_predict_layers"}, 0);
  if (!keys.has("n_routed_experts")) return;
  const std::int64_t width = keys.required({"moe_intermediate_size"});
  const std::int64_t shared = keys.integer({"n_shared_experts"}, 0);
  a.moe = MixtureOfExperts{.num_experts = keys.required({"n_routed_experts"}),
                           .top_k = keys.required({"num_experts_per_tok"}),
                           .expert_ffn = width,
                           .num_shared_experts = shared,
                           .shared_ffn = shared * width,
                           .first_dense_layers = keys.integer({"first_k_dense_replace"}, 0),
                           .num_groups = keys.integer({"n_group"}, 0),
                           .top_groups = keys.integer({"topk_group"}, 0)};
  if (keys.integer({"moe_layer_freq"}, 1) != 1) {
    keys.refuse({ErrorCode::unsupported, "dense layers between layers with experts",
                 "moe_layer_freq", "1"});
  }
}

}  // namespace orrery
