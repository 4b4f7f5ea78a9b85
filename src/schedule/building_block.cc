#include "schedule/building_block.h"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

// The least slot >= `from` that is `slot` modulo the period.
int next_slot(int from, int slot) {
  const int rest = ((slot - from) % kBlockPeriod + kBlockPeriod) % kBlockPeriod;
  return from + rest;
}

bool meets(const BlockSlots& s) {
  std::array<int, 4> slots = {s.forward[0], s.forward[1], s.input_gradient[0], s.input_gradient[1]};
  for (int& slot : slots) slot %= kBlockPeriod;
  std::ranges::sort(slots);
  return std::ranges::adjacent_find(slots) != slots.end();
}

}  // namespace

BuildingBlock v_min_block(int p) {
  const int z = p % 3 == 0 ? 2 : 0;
  BuildingBlock out;
  for (int i = 0; i < p; ++i)
    out.push_back({{i, 2 * p - 1 - i}, {4 * p - 1 - i + z, 2 * p + i + z}});
  return out;
}

BuildingBlock v_half_block(int p) {
  const int z = p % 2 == 0 ? 3 : 0;
  BuildingBlock out;
  for (int i = 0; i < p; ++i) {
    out.push_back({{2 * i, 3 * p - 2 - i}, {6 * p - 2 - i + z, 3 * p - 1 + 2 * i + z}});
  }
  return out;
}

std::optional<BuildingBlock> block(int devices, const BlockRule& rule) {
  const auto p = static_cast<std::size_t>(devices);
  std::vector<int> down(p);  // how far F of chunk 0 and B of chunk 1 have advanced
  for (std::size_t i = 1; i < p; ++i) {
    down[i] = down[i - 1] + (static_cast<int>(i) <= rule.turn ? rule.step : rule.late_step);
  }
  BuildingBlock out(p);
  const int back = devices - 1;
  // The way back ends on device 0 in the slot asked for, as soon as it can after the turn.
  const int first_forward_1 = next_slot(down[p - 1] + 1 + back, rule.forward_1);
  const int first_gradient_1 = next_slot(first_forward_1 + 1, rule.gradient_1);
  const int first_gradient_0 =
      next_slot(first_gradient_1 + down[p - 1] + 1 + back, rule.gradient_0);
  for (std::size_t i = 0; i < p; ++i) {
    const int up = static_cast<int>(i);
    out[i].forward[0] = down[i];
    out[i].forward[1] = first_forward_1 - up;
    out[i].input_gradient[1] = first_gradient_1 + down[i];
    out[i].input_gradient[0] = first_gradient_0 - up;
    if (meets(out[i])) return std::nullopt;
  }
  return out;
}

std::vector<BuildingBlock> all_blocks(int devices) {
  std::vector<BuildingBlock> out;
  const auto add = [&](const BlockRule& rule) {
    if (auto one = block(devices, rule)) out.push_back(std::move(*one));
  };
  for_each_first_device([&](BlockRule rule) {
    for (rule.step = 1; rule.step < kBlockPeriod; ++rule.step) {
      for (rule.late_step = 1; rule.late_step < rule.step; ++rule.late_step) {
        for (rule.turn = 1; rule.turn < devices - 1; ++rule.turn) add(rule);
      }
      // On one device nothing advances.
      rule.turn = devices - 1;
      if (devices > 1 || rule.step == 1) add(rule);
    }
  });
  return out;
}

std::vector<std::vector<SlottedPass>> repeated(const BuildingBlock& block, int microbatches) {
  std::vector<std::vector<SlottedPass>> out;
  for (const BlockSlots& slots : block) {
    std::vector<SlottedPass> passes;
    passes.reserve(6 * static_cast<std::size_t>(microbatches));
    for (int j = 0; j < microbatches; ++j) {
      for (const std::uint8_t c : {std::uint8_t{0}, std::uint8_t{1}}) {
        passes.push_back({{PassKind::forward, c}, slots.forward[c] + kBlockPeriod * j});
        passes.push_back(
            {{PassKind::input_gradient, c}, slots.input_gradient[c] + kBlockPeriod * j});
      }
    }
    std::ranges::sort(passes, {}, &SlottedPass::slot);
    std::vector<SlottedPass> all;
    all.reserve(6 * static_cast<std::size_t>(microbatches));
    int pending[2] = {0, 0};
    const auto weight = [&](int slot) {
      const std::uint8_t chunk = pending[1] > 0 ? 1 : 0;
      if (pending[chunk] == 0) return false;
      --pending[chunk];
      all.push_back({{PassKind::weight_gradient, chunk}, slot});
      return true;
    };
    int slot = 0;
    for (const SlottedPass& pass : passes) {
      for (; slot < pass.slot; ++slot) {
        if (!weight(slot)) {
          slot = pass.slot;
          break;
        }
      }
      all.push_back(pass);
      slot = pass.slot + 1;
      if (pass.pass.kind == PassKind::input_gradient) ++pending[pass.pass.chunk];
    }
    while (weight(slot)) ++slot;
    out.push_back(std::move(all));
  }
  return out;
}

PassOrders orders_of(const std::vector<std::vector<SlottedPass>>& slots) {
  PassOrders out;
  for (const auto& device : slots) {
    out.emplace_back();
    out.back().reserve(device.size());
    for (const SlottedPass& pass : device) out.back().push_back(pass.pass);
  }
  return out;
}

}  // namespace orrery
