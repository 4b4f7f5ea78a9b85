// Text workloads of ASTRA-sim 1.0 and SimAI, told by their first word.
#include <algorithm>
#include <array>

#include "trace/chakra/chakra_trace.h"
#include "trace/contents_table.h"
#include "trace/known_formats.h"
#include "trace/workload_text/workload_chakra.h"
#include "trace/workload_text/workload_text.h"

namespace orrery {
namespace {

Seconds of_nanoseconds(std::int64_t ns) { return Seconds(static_cast<double>(ns) * 1e-9); }

std::size_t policy_at(std::string_view beginning) {
  beginning.remove_prefix(std::min(beginning.find_first_not_of(" \t\r\n"), beginning.size()));
  const std::string_view word = beginning.substr(0, beginning.find_first_of(": \t\r\n"));
  const bool known = std::ranges::find(kWorkloadPolicies, word) != kWorkloadPolicies.end();
  return known ? 0 : std::string_view::npos;
}

TraceContents contents(const TextWorkload& workload, const std::string& file) {
  static constexpr std::array<std::string_view, 5> kGroups = {"", "tensor", "data", "expert",
                                                              "expert-data"};
  WorkTable work;
  const auto add = [&](std::string_view pass, const WorkloadPart& part) {
    WorkTable::add_time(work.at(pass), of_nanoseconds(part.time_ns));
    if (!part.collective) return;
    const std::string kind = std::string(pass) + " " + std::string(to_text(*part.collective));
    WorkTable::add_bytes(work.at(kind, kGroups[static_cast<std::size_t>(part.group)]), part.bytes);
  };
  for (const WorkloadLayer& layer : workload.layers) {
    add("forward", layer.forward);
    add("input gradient", layer.input_gradient);
    add("weight gradient", layer.weight_gradient);
    WorkTable::add_time(work.at("update"), of_nanoseconds(layer.update_ns));
  }
  Facts facts;
  facts.text("policy", workload.policy);
  facts.number("layers", workload.layers.size());
  const auto degree = [&](std::string key, std::int64_t n) {
    if (n > 0) facts.number(std::move(key), n);
  };
  degree("accelerators", workload.accelerators);
  degree("tensor_parallel", workload.tensor);
  degree("expert_parallel", workload.expert);
  degree("pipeline_stages", workload.pipeline);
  return {file, &kWorkloadText, facts.take(), work.rows()};
}

}  // namespace

const TraceFormat kWorkloadText{
    .key = "workload_text",
    .name = "a text workload of ASTRA-sim or SimAI",
    .plural = "text workloads of ASTRA-sim or SimAI",
    .instead = "it has no times: orrery trace replay --on CLUSTER prices it",
    .told_at = policy_at,
    .chakra_of_ranks = [](const std::string& file) -> Result<ChakraOfRanks> {
      ORRERY_TRY(TextWorkload workload, read_workload(file));
      const std::int64_t ranks = workload.accelerators;
      return ChakraOfRanks{ranks, [workload = std::move(workload)](std::int64_t rank) {
                             return chakra_from(workload, rank);
                           }};
    },
    .contents = [](const std::string& file, Incomplete) -> Result<TraceContents> {
      ORRERY_TRY(const TextWorkload workload, read_workload(file));
      return contents(workload, shown_name(file));
    }};

}  // namespace orrery
