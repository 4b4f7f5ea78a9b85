// The order in which a layer computes whose experts read what the layer before has made.
//
// Experts that read the input of their layer (ScMoE's shortcut) need nothing of its attention nor of
// its shared expert, so that tokens travel beside both (arXiv 2404.05019 s.3.2):
//
//   forward    gate, send | rest, first part | experts, return | rest, second part | combine, sum
//   backward   sum, send | rest, first part | experts, return | rest, second part | gate
//
// The experts compute where they make the pass the shortest: each place before a product, or before
// attention, of the rest is tried, as in the source. What runs beside an exchange is slowed
// (lower/cost_context.h, contention). With ep = 1 nothing travels and the order does not matter.
//
// With `shortcut_source: attention` experts read what attention of the layer before has made, as in
// s.3 of the source; that layer's feed-forward part is then the first of the rest, so that tokens
// travel beside it, too (model/transformer/transformer.cc). Blocks do not overlap: tokens leave no
// earlier than where a block begins.
#pragma once

#include <cstddef>
#include <vector>

#include "model/model.h"

namespace orrery {

// Of an operator that exchanges tokens before it permutes them: another part may run between.
enum class Portion { whole, exchange, rest };

// Operator `index` of the block, in one of two parts of the pass that wait for different transfers:
// 0 for the rest of the layer, 1 for its experts.
struct Turn {
  std::size_t part = 0;
  std::size_t index = 0;
  Portion portion = Portion::whole;
};

enum class PassOrder { forward, backward };

// At how many places of the rest the experts may compute; 1 if they read no shortcut.
std::size_t expert_places(const Block& block);
// All operators, with the experts at this place of the rest, counted in the order of the pass.
std::vector<Turn> shortcut_turns(const Block& block, PassOrder order, std::size_t place);

}  // namespace orrery
