#include "lower/shortcut_turns.h"

#include <algorithm>
#include <string_view>

namespace orrery {
namespace {

// Places of operators in the block: the experts' are [gate, combine], and from `join` on the sums
// of both.
struct Parts {
  std::size_t gate = 0, dispatch = 0, combine = 0, join = 0;
};

Parts parts_of(const Block& block) {
  const auto place = [&](auto&& is) {
    return static_cast<std::size_t>(std::ranges::find_if(block.operators, is) -
                                    block.operators.begin());
  };
  const auto named = [&](std::string_view name) {
    return place([name](const Operator& op) { return op.name == name; });
  };
  const auto at = [&](Boundary b) {
    return place([b](const Operator& op) { return op.boundary == b; });
  };
  return {std::min(named("experts.norm"), named("router")), at(Boundary::dispatch),
          at(Boundary::combine), named("shared_expert.sum")};
}

bool begins_module(const Operator& op) {
  return is_product(op) || op.kind == OperatorKind::attention;
}

// What is neither of the experts nor a sum with them, in the order of the pass.
std::vector<std::size_t> rest_of(const Parts& parts, PassOrder order) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < parts.join; ++i) {
    if (i < parts.gate || i > parts.combine) out.push_back(i);
  }
  if (order == PassOrder::backward) std::ranges::reverse(out);
  return out;
}

}  // namespace

std::size_t expert_places(const Block& block) {
  if (block.residual != Residual::shortcut) return 1;
  const Parts parts = parts_of(block);
  if (parts.dispatch >= block.operators.size()) return 1;
  const std::vector<std::size_t> rest = rest_of(parts, PassOrder::forward);
  return 1 + static_cast<std::size_t>(std::ranges::count_if(
                 rest, [&](std::size_t i) { return begins_module(block.operators[i]); }));
}

std::vector<Turn> shortcut_turns(const Block& block, PassOrder order, std::size_t place) {
  const Parts parts = parts_of(block);
  const bool forward = order == PassOrder::forward;
  constexpr std::size_t kRest = 0;
  constexpr std::size_t kExperts = 1;
  std::vector<Turn> out;
  // Of the experts those from one operator to another, or of the sums, in the order of the pass.
  const auto run = [&](std::size_t part, std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      out.push_back({part, forward ? i : end - 1 - (i - first)});
    }
  };
  const std::vector<std::size_t> rest = rest_of(parts, order);
  std::size_t modules = 0;
  const auto cut = std::ranges::find_if(
      rest, [&](std::size_t i) { return begins_module(block.operators[i]) && modules++ == place; });
  const auto compute = [&](auto from, auto to) {
    std::for_each(from, to, [&](std::size_t i) { out.push_back({kRest, i}); });
  };

  if (forward) {
    run(kExperts, parts.gate, parts.dispatch + 1);
  } else {
    run(kRest, parts.join, block.operators.size());
    run(kExperts, parts.combine, parts.combine + 1);
  }
  compute(rest.begin(), cut);
  run(kExperts, parts.dispatch + 1, parts.combine);
  const std::size_t returns = forward ? parts.combine : parts.dispatch;
  out.push_back({kExperts, returns, Portion::exchange});
  compute(cut, rest.end());
  out.push_back({kExperts, returns, Portion::rest});
  if (forward) {
    run(kRest, parts.join, block.operators.size());
  } else {
    run(kExperts, parts.gate, parts.dispatch);
  }
  return out;
}

}  // namespace orrery
