#include "validate/recipe_of_row.h"

#include <algorithm>

#include "validate/framework_conventions.h"

namespace orrery {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// 61 layers on v virtual stages: full stages of 4, 8 or 16, and what is left on the last, which
// also holds the logits and, in DeepSeek-V3, the layer of multi-token prediction.
std::vector<std::int64_t> uneven_layers(std::int64_t layers, std::int64_t stages) {
  constexpr std::int64_t kMostStages = 64;
  if (stages < 2 || stages > kMostStages || layers < stages) return {};
  const std::int64_t full = (layers + stages - 1) / stages;
  const std::int64_t last = layers - full * (stages - 1);
  if (last < 1) return {};
  std::vector<std::int64_t> out(static_cast<std::size_t>(stages), full);
  out.back() = last;
  return out;
}

void overlap(Recipe& out) {
  out.expert_batches = true;
  out.assumed.emplace_back("exchanges of tokens beside the other pass of another microbatch");
}

void deduplicate(Recipe& out, std::string_view by) {
  out.dispatch = ExpertDispatch::deduplicated;
  out.assumed.push_back("tokens sent once to each rank: " + std::string(by));
}

void apply_bridge(const MeasuredRow& row, Recipe& out) {
  const bool deepseek = row.model == "DeepSeekV3";
  const bool kimi = row.model == "Kimi-K2";
  const bool qwen = row.model.starts_with("Qwen3");
  if (!deepseek && !kimi && !qwen) return;
  const bool rack = row.accelerator.starts_with("gb");
  if (deepseek || kimi || rack) {
    deduplicate(out, "HybridEP or DeepEP in the recipe");
  }
  const bool whole = contains(row.notes, "at tag v0.5") &&
                     contains(row.notes, "cuda_graph_scope=[]") && rack && !kimi &&
                     row.precision == "mxfp8";
  if (whole) {
    out.whole_step_graph = true;
    out.assumed.emplace_back("one CUDA graph a step: recipe of that release");
    overlap(out);
  }
  if (qwen && row.accelerator.starts_with("h100")) overlap(out);
  out.narrow_gradients = true;
  if (deepseek || kimi) {
    out.layers = uneven_layers(row.num_layers.value_or(0),
                               row.pp.value_or(1) * std::max<std::int64_t>(1, row.vpp.value_or(1)));
    if (!out.layers.empty()) {
      out.assumed.push_back("layers as in the recipe: " + std::to_string(out.layers.front()) +
                            " a virtual stage, " + std::to_string(out.layers.back()) +
                            " on the last");
    }
  }
}

}  // namespace

Recipe recipe_of_row(const MeasuredRow& row) {
  Recipe out;
  const bool bridge =
      row.source_id == "megatron-bridge" || framework_named(row.framework) == "megatron-bridge";
  // scripts/performance/configs/llama: set_llama3_common_configs and set_llama31_common_configs
  // turn grad_reduce_in_fp32 off.
  if (bridge && row.model.starts_with("Llama3")) {
    out.narrow_gradients = true;
  }
  if (row.num_experts.value_or(0) < 1) return out;
  if (bridge) apply_bridge(row, out);
  if (contains(row.notes, "DeepEP")) deduplicate(out, "DeepEP");
  if (contains(row.notes, "expert-communication overlap")) overlap(out);
  return out;
}

}  // namespace orrery
