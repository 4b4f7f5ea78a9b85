#include "infer/recorded_software.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/has.h"

namespace orrery {
namespace {

std::int64_t calls_of(const std::vector<OperatorUse>& uses, std::string_view name) {
  std::int64_t calls = 0;
  for (const OperatorUse& use : uses) calls += use.name == name ? use.calls : 0;
  return calls;
}

const OperatorUse* any_of(const std::vector<OperatorUse>& uses, std::string_view word) {
  const auto found =
      std::ranges::find_if(uses, [&](const OperatorUse& use) { return has(use.name, word); });
  return found == uses.end() ? nullptr : &*found;
}

bool marks(const RecordedTrace& trace, std::string_view word) {
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] == EventKind::annotation && has(trace.name_of(e), word)) return true;
  }
  return false;
}

std::int64_t activations(const std::vector<OperatorUse>& uses) {
  std::int64_t calls = 0;
  for (const char* name : {"aten::gelu", "aten::silu", "aten::sigmoid", "aten::relu"}) {
    calls += calls_of(uses, name);
  }
  return calls;
}

}  // namespace

RecordedSoftware recorded_software(const RecordedTrace& trace, const std::vector<OperatorUse>& uses,
                                   std::int64_t layers) {
  for (const char* word : {"transformer_engine", "te::", "_LayerNormLinear", "_LayerNormMLP",
                           "FusedAttnFunc", "LayerNormColumnParallelLinear"}) {
    if (const OperatorUse* use = any_of(uses, word)) {
      return {"megatron-core-0.12", fmt::format("{} is Transformer Engine's", use->name)};
    }
  }
  for (const char* word : {"ModelParallelRegion", "LinearWithGradAccumulation"}) {
    if (const OperatorUse* use = any_of(uses, word)) {
      return {"megatron-lm-2022", fmt::format("{} is Megatron-LM's", use->name)};
    }
  }
  const bool sharded = marks(trace, "FSDP::") || marks(trace, "FullyShardedDataParallel");
  const char* const eager = sharded ? "pytorch-fsdp" : "transformers";
  // Two norms a layer, each with one reciprocal root; halves of queries and keys are negated.
  const std::int64_t roots = calls_of(uses, "aten::rsqrt");
  const std::int64_t negations = calls_of(uses, "aten::neg");
  if (layers > 0 && (roots >= 2 * layers || negations >= 2 * layers)) {
    return {eager,
            fmt::format("norms and rotations are chains: aten::rsqrt {} calls, aten::neg {} calls",
                        roots, negations)};
  }
  // Kernels of their own for what other profiles fuse.
  if (layers > 0 && activations(uses) >= layers) {
    return {eager, fmt::format("activations run by themselves, {} calls", activations(uses))};
  }
  return {};
}

}  // namespace orrery
