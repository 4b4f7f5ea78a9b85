#include "cost/memory/memory.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr double kFp32 = 4;

// Saturates far above any memory size, but low enough that a sum of nine cannot overflow.
ByteCount whole(double bytes) {
  return bytes < 4e17 ? static_cast<ByteCount>(std::ceil(bytes))
                      : ByteCount{400'000'000'000'000'000};
}

bool are_master(const MemoryInputs& in) {
  return in.weight_bytes >= kFp32 || (in.facts.parameters_are_master && in.zero >= 3);
}
double accumulated_bytes(const MemoryInputs& in) {
  return in.facts.gradient_bytes > 0 ? in.facts.gradient_bytes : in.gradient_bytes;
}

}  // namespace

bool replace_weights(const MemoryInputs& in) { return in.gradients_in_place && !are_master(in); }

double bytes_of_gradient(const MemoryInputs& in) {
  if (replace_weights(in)) return 0;
  if (are_master(in)) return kFp32;
  const double accumulated = accumulated_bytes(in);
  return accumulated + (accumulated >= kFp32 ? in.facts.gradient_copy_bytes : 0);
}

MemoryReport memory(const MemoryInputs& in) {
  const MemoryFacts& facts = in.facts;
  const double all = in.trained.all();
  const auto sharded = [&](const RankParameters& of, int dense_shard) {
    return in.state_share * of.sharded(dense_shard, in.expert_shard);
  };
  const double owned = sharded(in.trained, in.dense_shard);
  const int weights = in.weight_shard > 0 ? in.weight_shard : in.dense_shard;
  const int gradients = in.gradient_shard > 0 ? in.gradient_shard : in.dense_shard;
  const bool master = are_master(in);
  const double accumulated = accumulated_bytes(in);
  const double gradient = bytes_of_gradient(in);

  MemoryReport out;
  // A parameter that is its own master is counted once, among the parameters.
  out.parameters = whole(std::max(in.weight_bytes, master ? kFp32 : 0) * in.weight_versions *
                         (in.zero >= 3 ? sharded(in.trained, weights) : all));
  const double frozen = in.zero >= 3 ? sharded(in.frozen, weights) : in.frozen.all();
  out.parameters += whole(in.frozen_bytes * frozen) + whole(in.tables.weights.value());
  if (in.weights_outside) out.parameters = whole(in.tables.weights.value());
  out.parameters += whole(in.secondary_bytes * (all + in.frozen.all()));
  out.gradients = whole(gradient * (in.zero >= 2 ? sharded(in.trained, gradients) : all));
  out.optimizer_states =
      whole((in.optimizer_bytes - (master ? kFp32 : 0)) * (in.zero >= 1 ? owned : all));
  if (in.optimizer_outside > 0) {
    // Shards of the gradients leave as they are reduced.
    const auto kept = [&](ByteCount bytes) {
      return whole(static_cast<double>(bytes) * (1 - in.optimizer_outside));
    };
    out.optimizer_states = kept(out.optimizer_states);
    if (in.zero >= 2) out.gradients = kept(out.gradients);
  }
  out.optimizer_states += whole(in.tables.optimizer_state.value());
  out.activations = whole(in.activations.value());

  // When the optimizer step begins, no activations are left, but fp32 copies of narrower gradients
  // are made.
  const double copies = facts.fp32_gradient_copies && accumulated < kFp32 && !master &&
                                in.optimizer_outside == 0 && !in.gradients_in_place
                            ? kFp32 * (in.zero >= 1 ? owned : all)
                            : 0;
  double transient = in.transient.value();
  double separate = in.separate.value();
  out.moment_kind = in.moment;
  if (copies > in.activations.value() + transient) {
    separate += in.activations.value() + transient;
    out.activations = 0;
    transient = copies;
    out.moment_kind = MemoryMoment::optimizer;
  } else {
    separate += copies;
  }
  out.transient = whole(transient);
  out.outside = whole(kContext.value() + kCommunicator.value() * in.communicators);
  out.buffers = whole(in.buffers.value()) + out.outside;

  const double comes_and_goes = static_cast<double>(out.activations) + transient;
  out.fragmentation = whole(kRounding * comes_and_goes);
  const ByteCount sum = out.parameters + out.gradients + out.optimizer_states + out.activations +
                        out.transient + out.buffers;
  out.peak = sum + out.fragmentation;
  const double cached = facts.expandable_segments ? kCachedExpandable * comes_and_goes
                                                  : kCached * comes_and_goes + separate;
  out.pessimistic = sum + std::max(out.fragmentation, whole(cached));
  return out;
}

}  // namespace orrery
