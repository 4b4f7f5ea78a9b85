#include "measured/modules_of_row.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace orrery {
namespace {

std::vector<std::string> identifiers(const std::string& text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      out.back() += c;
    } else if (!out.back().empty()) {
      out.emplace_back();
    }
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

}  // namespace

std::optional<std::vector<RecomputeModule>> modules_of_row(const MeasuredRow& row,
                                                           const RunConvention& convention) {
  std::vector<RecomputeModule> out;
  const auto add = [&](RecomputeModule m) {
    if (std::find(out.begin(), out.end(), m) == out.end()) out.push_back(m);
  };
  const bool experts = row.num_experts.value_or(0) > 0;
  if (convention.selective == SelectiveRecomputation::norms_and_activations) {
    add(RecomputeModule::layernorm);
    add(RecomputeModule::mlp_act);
    if (experts) add(RecomputeModule::moe_act);
    return out;
  }
  for (const std::string& word : identifiers(row.recompute_detail)) {
    if (word == "norm") {
      add(RecomputeModule::layernorm);
    } else if (word == "act") {
      add(experts ? RecomputeModule::moe_act : RecomputeModule::mlp_act);
    } else if (auto module = parse_enum<RecomputeModule>(word)) {
      add(*module);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

void drop_absent_modules(Plan& plan, const Model& model, std::vector<std::string>& assumed) {
  std::vector<RecomputeModule> present;
  for (const RecomputeModule m : plan.recompute_modules) {
    if (const std::string_view missing = missing_for(m, model); missing.empty()) {
      present.push_back(m);
    } else {
      assumed.push_back("recompute module " + std::string(to_text(m)) + " left out: it needs " +
                        std::string(missing));
    }
  }
  if (present.empty() && !plan.recompute_modules.empty()) plan.recompute = Recompute::none;
  plan.recompute_modules = std::move(present);
}

}  // namespace orrery
