// Which software profile a recording's operators and kernels speak for.
//
//   Transformer Engine's or Megatron's own modules   megatron-core-0.12, megatron-lm-2022
//   norms of pow, mean and rsqrt, rotations of negated halves, or an activation by itself (gelu,
//   silu, sigmoid, relu) in every layer:
//     in PyTorch's sharding (FSDP)                   pytorch-fsdp
//     else                                           transformers
//   anything else                                    the default profile
//
// A profile is a set of facts (plan/software.h); no time of the recording enters.
// Source: names in the recordings of validation/traces; modeling_llama.py and modeling_qwen2.py of
// Hugging Face transformers; Megatron-LM megatron/model. Not told: torch.compile's fusions beyond
// their being there.
#pragma once

#include <string>
#include <vector>

#include "infer/operator_uses.h"

namespace orrery {

struct RecordedSoftware {
  std::string profile;  // of catalog/software; empty: nothing tells
  std::string from;     // "aten::rsqrt 49 calls, ..."
};

// `layers`: of all microbatches of the step.
RecordedSoftware recorded_software(const RecordedTrace& trace, const std::vector<OperatorUse>& uses,
                                   std::int64_t layers);

}  // namespace orrery
