#include "infer/operator_uses.h"

#include <fmt/format.h>

#include <map>

namespace orrery {
namespace {

enum class Pass { forward, backward, again };

bool is_of_autograd(std::string_view name) {
  return name.starts_with("autograd::engine") || name.find("Backward") != std::string_view::npos;
}

// Of what runs directly below an operator of autograd.
Pass pass_within(std::string_view name) {
  return name.find("CheckpointFunctionBackward") != std::string_view::npos ? Pass::again
                                                                           : Pass::backward;
}

}  // namespace

std::string text_of(const OperatorUse& use) {
  return fmt::format("{} {}, {} {}", use.name, use.shapes_text, use.calls,
                     use.calls == 1 ? "call" : "calls");
}

std::vector<OperatorUse> operator_uses(const RecordedTrace& trace, const MarkedStep& step) {
  // Events are sorted by start, longer first: one stack of open operators of autograd a lane.
  std::vector<std::vector<std::uint32_t>> open(trace.lanes.size());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> index;
  std::vector<OperatorUse> out;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::cpu_operator) continue;
    std::vector<std::uint32_t>& around = open[trace.lane[e]];
    while (!around.empty() && trace.end_ns(around.back()) <= trace.start_ns[e]) around.pop_back();
    const Pass pass = around.empty() ? Pass::forward : pass_within(trace.name_of(around.back()));
    if (is_of_autograd(trace.name_of(e))) around.push_back(e);
    if (trace.details[e] == kNoDetails || trace.start_ns[e] < step.start_ns ||
        trace.start_ns[e] >= step.end_ns) {
      continue;
    }
    const OperatorDetails& details = trace.operators[trace.details[e]];
    const auto [it, is_new] =
        index.emplace(std::pair(trace.name[e], details.input_shapes), out.size());
    if (is_new) {
      const std::string_view text = trace.texts[details.input_shapes];
      out.push_back(
          {trace.name_of(e), text, trace.texts[details.input_types], tensor_shapes(text), 0, 0, 0});
    }
    OperatorUse& use = out[it->second];
    ++use.calls;
    if (pass == Pass::backward) ++use.backward_calls;
    if (pass == Pass::again) ++use.again_calls;
  }
  return out;
}

}  // namespace orrery
