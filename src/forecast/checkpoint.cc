#include "forecast/checkpoint.h"

#include <algorithm>

#include "forecast/each_site.h"
#include "forecast/share.h"
#include "model/recommendation/recommendation.h"

namespace orrery {
namespace {

template <class Q>
Result<void> above_zero(const std::optional<Q>& value, std::string_view key) {
  if (!value || value->value() > 0) return {};
  return bad_input("is not above 0", "forecast.checkpoint." + std::string(key));
}

}  // namespace

Fields<MemoryReplicas> fields_of(const MemoryReplicas*) {
  return Fields<MemoryReplicas>("description of replicas in memory")
      .optional<&MemoryReplicas::interval>("time of training between two")
      .optional<&MemoryReplicas::survives>("probability that a failure leaves a copy intact");
}

Fields<CheckpointPolicy> fields_of(const CheckpointPolicy*) {
  return Fields<CheckpointPolicy>("checkpoint")
      .optional<&CheckpointPolicy::interval>("time of training between two; absent: the best")
      .optional<&CheckpointPolicy::mode>("whether training waits for the storage")
      .optional<&CheckpointPolicy::bandwidth>("of the storage for the whole job, writing")
      .optional<&CheckpointPolicy::read_bandwidth>("the same, reading")
      .optional<&CheckpointPolicy::size>("of the training state")
      .optional<&CheckpointPolicy::blocked>(
          "time that training stands still, where it was measured")
      .optional<&CheckpointPolicy::memory>("copies in the memory of other nodes");
}

Result<void> check(const CheckpointPolicy& policy) {
  ORRERY_RETURN_IF_ERROR(above_zero(policy.interval, "interval"));
  ORRERY_RETURN_IF_ERROR(above_zero(policy.bandwidth, "bandwidth"));
  ORRERY_RETURN_IF_ERROR(above_zero(policy.read_bandwidth, "read_bandwidth"));
  ORRERY_RETURN_IF_ERROR(above_zero(policy.size, "size"));
  if (policy.blocked && *policy.blocked < Seconds(0)) {
    return bad_input("a negative time", "forecast.checkpoint.blocked");
  }
  if (!policy.memory) return {};
  ORRERY_RETURN_IF_ERROR(above_zero(policy.memory->interval, "memory.interval"));
  return check_share(policy.memory->survives, "forecast.checkpoint.memory.survives", "probability");
}

namespace {

// Of embedding tables and the states of their optimizer, on accelerators, hosts and disks.
Bytes table_bytes(const Model& model) {
  Bytes out;
  const Recommender* r = recommender_of(model);
  if (r == nullptr) return out;
  for (const EmbeddingTable& t : tables_of(*r)) {
    out += (row_bytes(*r, t.width) + row_state(*r, t.width)) * t.rows;
  }
  return out;
}

}  // namespace

CheckpointCost checkpoint_cost(const Model& model, const Training& training, const Cluster& cluster,
                               const CheckpointPolicy& policy) {
  const Bytes a_parameter = tensor_element_size(training.precision) + optimizer_state(training);
  const auto accelerators = static_cast<double>(cluster.accelerators);
  const auto nodes = static_cast<double>(nodes_of(cluster));
  CheckpointCost out;
  out.size = policy.size.value_or(
      (trained_parameters(model) - table_parameters(model)) * a_parameter + table_bytes(model));
  out.bandwidth = policy.bandwidth.value_or(std::min(kStorageOfNode * nodes, kStorageOfAll));
  const Seconds write = out.size / out.bandwidth;
  const Bytes shard = out.size / accelerators;
  Seconds to_host;  // and to another node: of the slowest site
  Seconds copy;
  each_site(cluster, [&](const Cluster& part, std::int64_t) {
    const auto& host = part.accelerator.host_link.bandwidth;
    const auto& network = part.accelerator.scale_out_bandwidth;
    const Seconds here = host ? shard / *host : write;
    to_host = std::max(to_host, here);
    copy = std::max(copy, here + (network ? shard / *network : here));
  });
  const bool waits = policy.mode == SaveMode::blocking;
  out.storage.blocked = policy.blocked.value_or(waits ? write : to_host);
  out.storage.durable = waits ? out.storage.blocked : out.storage.blocked + write;
  out.storage.restore = out.size / policy.read_bandwidth.value_or(out.bandwidth);
  if (policy.memory) out.memory = SaveCost{to_host, copy, copy};
  return out;
}

}  // namespace orrery
