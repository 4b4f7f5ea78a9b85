#include "cost/memory/memory.h"

#include <cmath>

namespace orrery {
namespace {

// Saturates far above any memory, and low enough that a sum of seven cannot overflow either.
ByteCount whole(double bytes) {
  return bytes < 4e17 ? static_cast<ByteCount>(std::ceil(bytes))
                      : ByteCount{400'000'000'000'000'000};
}

}  // namespace

MemoryReport memory(const MemoryInputs& in) {
  const double all = in.dense_parameters + in.expert_parameters;
  const double owned =
      in.dense_parameters / in.dense_shard + in.expert_parameters / in.expert_shard;
  constexpr double kWeight = 2;
  MemoryReport out;
  out.parameters = whole(kWeight * (in.zero >= 3 ? owned : all));
  out.gradients = whole(in.gradient_bytes * (in.zero >= 2 ? owned : all));
  out.optimizer_states = whole(in.optimizer_bytes * (in.zero >= 1 ? owned : all));
  out.activations = whole(in.activations.value());
  out.transient = whole(in.transient.value());
  out.buffers = whole(kRuntimeBuffers.value());
  const double handed_out = in.activations.value() + in.transient.value();
  const ByteCount sum = out.parameters + out.gradients + out.optimizer_states + out.activations +
                        out.transient + out.buffers;
  out.fragmentation = whole(kExpectedFragmentation * handed_out);
  out.peak = sum + out.fragmentation;
  out.pessimistic = sum + whole(kPessimisticFragmentation * handed_out);
  out.moment = in.moment;
  return out;
}

}  // namespace orrery
