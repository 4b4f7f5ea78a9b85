#include "plan/recompute_modules.h"

#include <algorithm>
#include <utility>

#include "model/model.h"

namespace orrery {

Result<RecomputeModule> Codec<RecomputeModule>::read(const Value& v) {
  ORRERY_TRY(const std::string text, read_text(v));
  auto module = parse_enum<RecomputeModule>(text);
  if (module) return module;
  std::string known;
  for (const auto& name : names_of(RecomputeModule{})) {
    known.append(known.empty() ? "known: " : ", ").append(name.name);
  }
  return bad_input("unknown module '" + text + "'", "", std::move(known));
}

RecomputeModuleSet::RecomputeModuleSet(std::span<const RecomputeModule> stated) {
  if (stated.empty()) return;
  bits_ = 0;
  for (const RecomputeModule m : stated) bits_ |= bit(m);
}

std::string_view missing_for(RecomputeModule module, const Model& model) {
  const auto has = [&](std::string_view part) {
    return std::any_of(model.blocks.begin(), model.blocks.end(), [&](const Block& block) {
      return std::any_of(block.operators.begin(), block.operators.end(),
                         [&](const Operator& op) { return op.name.starts_with(part); });
    });
  };
  const bool shared = has("shared_expert");
  const bool dense = has("feed_forward.up");
  switch (module) {
    case RecomputeModule::core_attn:
    case RecomputeModule::layernorm:
      return "";
    case RecomputeModule::mla_up_proj:
      return has("attention.latent") ? "" : "latent attention";
    case RecomputeModule::moe_act:
    case RecomputeModule::moe:
      return model.experts > 0 ? "" : "experts";
    case RecomputeModule::mlp_act:
      return shared || dense ? "" : "a dense layer or a shared expert";
    case RecomputeModule::mlp:
      return dense ? "" : "a dense layer";
    case RecomputeModule::shared_experts:
      return shared ? "" : "a shared expert";
  }
  return "";
}

std::string to_text(std::span<const RecomputeModule> modules) {
  std::string out;
  for (const RecomputeModule m : modules) out.append(out.empty() ? "" : "+").append(to_text(m));
  return out;
}

}  // namespace orrery
