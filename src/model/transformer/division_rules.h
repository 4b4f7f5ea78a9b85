// Which parallel degrees divide a transformer.
//
// Tensor parallelism divides whole heads and the width of the feed-forward part; context
// parallelism the tokens of a sequence, or whole heads where it exchanges them by an all-to-all;
// expert parallelism whole experts, and tensor parallelism inside them their width. Where there are
// fewer key-value heads than tensor-parallel ranks, and the heads divide the ranks, each rank holds
// one head, so that several hold a copy. Layers that carry a state divide by their own heads,
// groups or channels, and not along the sequence. Source: Megatron-Core, megatron/core/transformer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/division.h"
#include "model/model.h"
#include "model/transformer/architecture.h"

namespace orrery {

// Gives the reason, with the numbers, why a division breaks the rule; nothing if it does not.
struct TransformerDivisionRule {
  std::string_view name;
  std::optional<std::string> (*broken)(const Architecture& a, const Division& d);
};
std::span<const TransformerDivisionRule> transformer_division_rules();

// Every reason, in the order of the rules. As ModelFamily asks for them:
std::vector<std::string> transformer_division_problems(const Model& model, const Division& d);
std::optional<Model> with_copied_heads(const Model& model, const Division& d);
std::string copied_heads(const Model& model, std::int64_t tp);

}  // namespace orrery
