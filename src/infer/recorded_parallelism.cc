#include "infer/recorded_parallelism.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "trace/has.h"

namespace orrery {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

// Groups of two axes together ("TENSOR_AND_DATA_PARALLEL_GROUP") are no degree.
bool names(std::string_view group, std::string_view megatron, std::string_view mesh) {
  const std::string text = lower(group);
  if (has(text, "_and_") || has(text, "_with_") || has(text, "gloo")) return false;
  return text == megatron || text == std::string(megatron) + "_group" || text == mesh ||
         text == "mesh_" + std::string(mesh);
}

void read_degree(RecordedDegree& degree, const ProcessGroup& group, std::string_view megatron,
                 std::string_view mesh) {
  if (group.size < 1 || !names(group.description, megatron, mesh) || degree.size >= group.size) {
    return;
  }
  degree = {group.size, fmt::format("group {} of {} ranks", group.description, group.size)};
}

}  // namespace

RecordedParallelism::Carrying RecordedParallelism::carrying(std::int64_t elements) const {
  std::map<std::pair<std::int64_t, bool>, std::int64_t> calls;
  for (const RecordedExchange& e : exchanges) {
    const std::string collective = lower(e.collective);
    const bool reduces = has(collective, "allreduce") || has(collective, "all_reduce");
    const bool scatters = has(collective, "reduce_scatter") || has(collective, "reducescatter");
    if (e.elements != elements || e.group_size < 2 || (!reduces && !scatters)) continue;
    calls[{e.group_size, scatters}] += e.calls;
  }
  Carrying out;
  for (const auto& [key, n] : calls) {
    if (n > out.calls) out = {key.first, n, key.second};
  }
  return out;
}

RecordedParallelism recorded_parallelism(const RecordedTrace& trace, const MarkedStep& step) {
  RecordedParallelism out;
  for (const ProcessGroup& group : trace.groups) {
    read_degree(out.tp, group, "tensor_model_parallel", "tp");
    read_degree(out.cp, group, "context_parallel", "cp");
    read_degree(out.pp, group, "pipeline_model_parallel", "pp");
    read_degree(out.ep, group, "expert_model_parallel", "ep");
  }
  std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::string>, std::int64_t> calls;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::kernel || trace.start_ns[e] < step.start_ns ||
        trace.start_ns[e] >= step.end_ns || !is_communication_kernel(trace.name_of(e))) {
      continue;
    }
    const std::uint32_t index = trace.communication[e];
    if (index == kNoDetails) {
      const std::string kernel = lower(trace.name_of(e));
      const bool sends = has(kernel, "sendrecv");
      ++calls[{sends ? "send and receive, or all-to-all"
                     : std::string(trace.name_of(e).substr(0, trace.name_of(e).find('('))),
               0, 0, ""}];
      continue;
    }
    const CommunicationDetails& c = trace.communications[index];
    const std::string collective(trace.texts[c.collective]);
    if (collective == "send" || collective == "recv") out.sends = true;
    if (has(lower(collective), "all_to_all") || has(lower(collective), "alltoall")) {
      out.exchanges_all = true;
    }
    ++calls[{collective, std::max<std::int64_t>(0, c.group_size),
             std::max<std::int64_t>(0, std::max(c.input_elements, c.output_elements)),
             std::string(trace.texts[c.group_description])}];
  }
  for (const auto& [key, n] : calls) {
    out.exchanges.push_back(
        {std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), n});
  }
  std::ranges::stable_sort(out.exchanges,
                           [](const auto& a, const auto& b) { return a.calls > b.calls; });
  return out;
}

}  // namespace orrery
