// A text workload of ASTRA-sim 1.0, or SimAI's extension of it: what every rank computes and
// communicates, layer by layer.
//
//   line 1   the policy (DATA, MODEL, HYBRID_DATA_MODEL, ...); SimAI adds "name: value" pairs:
//            model_parallel_NPU_group (tensor parallel degree), ep, pp, vpp, ga, all_gpus, pp_comm
//   line 2   the number of layers
//   layers   name, reserved, then time, collective and bytes of the forward pass, of the input
//            gradient and of the weight gradient, and the time of the update; blanks between
//
// Collectives: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL; in SimAI with the group behind
// them: _EP, _DP_EP. Times are microseconds for ASTRA-sim's policies, as the Chakra text converter
// reads them, and nanoseconds for SimAI's.
//
// Source: astra-sim 1.0, Workload.cc; mlcommons/chakra, text_converter.py; aliyun/SimAI and AICB.
// Errors, each with its line: an unknown policy or collective, a missing column, a negative or
// missing number, another number of layers than line 2 says.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "trace/chakra/chakra_trace.h"

namespace orrery {

// First words of text workloads: the parallelism policies of ASTRA-sim, and SimAI's.
inline constexpr std::array<std::string_view, 9> kWorkloadPolicies = {
    "MICRO",
    "DATA",
    "MODEL",
    "HYBRID_DATA_MODEL",
    "HYBRID_MODEL_DATA",
    "HYBRID_DLRM",
    "HYBRID_DLRM_ENHANCED",
    "HYBRID_TRANSFORMER",
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD"};

// Who takes part in a collective of SimAI; `all` of ASTRA-sim's.
enum class WorkloadGroup : std::uint8_t { all, tensor, data, expert, expert_data };

struct WorkloadPart {
  std::int64_t time_ns = 0;
  std::optional<ChakraCollective> collective;
  std::int64_t bytes = 0;
  WorkloadGroup group = WorkloadGroup::all;
};

struct WorkloadLayer {
  std::string name;
  WorkloadPart forward;
  WorkloadPart input_gradient;
  WorkloadPart weight_gradient;
  std::int64_t update_ns = 0;
};

struct TextWorkload {
  std::string policy;
  std::vector<WorkloadLayer> layers;
  // Of SimAI; 0: not said.
  std::int64_t accelerators = 0;
  std::int64_t tensor = 0;
  std::int64_t expert = 0;
  std::int64_t pipeline = 0;
};

// `file` is a path, or "-" for standard input.
Result<TextWorkload> read_workload(const std::string& file);
Result<TextWorkload> parse_workload(std::string_view text, const std::string& name);

}  // namespace orrery
