// What a row's source does by the recipe its notes name: with experts how tokens travel, whether
// exchanges run beside other microbatches, how layers lie on virtual stages, in which format
// gradients are added up, whether one CUDA graph holds the step.
//
// Facts of NVIDIA-NeMo/Megatron-Bridge scripts/performance/configs/{deepseek,qwen,kimi} and
// src/megatron/bridge/recipes: moe_flex_dispatcher_backend ("hybridep", "deepep") or
// moe_token_dispatcher_type ("alltoall"), moe_a2a_overlap, cuda_graph_impl, pp_layout
// ("Et*4|(t*4|)*14tmL" and map_pp_vp_to_layout), grad_reduce_in_fp32 = False. From release 0.5.0 on
// the MXFP8 recipes of DeepSeek-V3 and Qwen3 on GB200 and GB300 run with full-iteration graphs and
// moe_a2a_overlap (their cuda_graph_scope is empty). Those of Llama 3 and 3.1 (configs/llama) turn
// grad_reduce_in_fp32 off too. Megatron-MoE-ModelZoo states its own in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "validate/measured_row.h"

namespace orrery {

struct Recipe {
  ExpertDispatch dispatch = ExpertDispatch::all_to_all;
  bool expert_batches = false;
  bool whole_step_graph = false;
  bool narrow_gradients = false;     // reduced in 16 bits
  std::vector<std::int64_t> layers;  // of each virtual stage; empty: as even as can be
  std::vector<std::string> assumed;  // sentences
};

// The default for rows whose source and framework have no recipes.
Recipe recipe_of_row(const MeasuredRow& row);

}  // namespace orrery
