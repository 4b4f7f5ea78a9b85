#include "infer/operator_uses.h"

#include <fmt/format.h>

#include <map>

namespace orrery {

std::string text_of(const OperatorUse& use) {
  return fmt::format("{} {}, {} {}", use.name, use.shapes_text, use.calls,
                     use.calls == 1 ? "call" : "calls");
}

std::vector<OperatorUse> operator_uses(const RecordedTrace& trace, const MarkedStep& step) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> index;
  std::vector<OperatorUse> out;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::cpu_operator || trace.details[e] == kNoDetails ||
        trace.start_ns[e] < step.start_ns || trace.start_ns[e] >= step.end_ns) {
      continue;
    }
    const OperatorDetails& details = trace.operators[trace.details[e]];
    const auto [it, is_new] =
        index.emplace(std::pair(trace.name[e], details.input_shapes), out.size());
    if (is_new) {
      const std::string_view text = trace.texts[details.input_shapes];
      out.push_back(
          {trace.name_of(e), text, trace.texts[details.input_types], tensor_shapes(text), 0});
    }
    ++out[it->second].calls;
  }
  return out;
}

}  // namespace orrery
