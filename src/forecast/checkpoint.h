// What a checkpoint of the training state costs: its bytes, the time that training stands still for
// it, the time until it is of use, and the time to load it.
//
//   bytes      trained parameters x (weight + optimizer state), as in lower/stage_memory.h; of
//              embedding tables their rows and those of their optimizer, wherever they lie
//   to host    bytes / accelerators / bandwidth of the link to the host
//   blocking       blocked = durable = bytes / bandwidth of the storage
//   asynchronous   blocked = to host,  durable = to host + bytes / bandwidth
//   in memory      blocked = to host,  durable = to host + bytes / accelerators / network,
//                  the copy on another node (Gemini, SOSP 2023), which restores as fast
//   restore    bytes / bandwidth for reading
//
// All ranks write their shard at once. Bandwidth where none is stated: 1.2 GB/s a node, as
// BLOOM-176B wrote 2.3 TB in 40 s from 48 nodes (bigscience train/tr11-176B-ml/chronicles.md), but
// 276 GB/s at most, the fastest save of the framework in ByteRobust's table (arXiv 2509.16293: 256 B
// parameters in 12.98 s), where 8,192 and 16,384 accelerators take as long. BLOOM's 13.1 bytes
// a parameter are within 7 % of the 14 of mixed precision with Adam. Left out: parameters that
// every replica reads, metadata, checkpoints that slow the steps beside them.
#pragma once

#include <array>
#include <optional>

#include "cluster/cluster.h"
#include "document/fields.h"
#include "model/model.h"
#include "plan/plan.h"
#include "units/quantity.h"

namespace orrery {

inline constexpr BytesPerSecond kStorageOfNode{1.2e9};
inline constexpr BytesPerSecond kStorageOfAll{276e9};

enum class SaveMode { blocking, asynchronous };

// Copies in the memory of other nodes, beside the checkpoints on storage.
struct MemoryReplicas {
  std::optional<Seconds> interval;  // of training; empty: the best
  double survives = 1;              // probability that a failure leaves a copy intact
  bool operator==(const MemoryReplicas&) const = default;
};
Fields<MemoryReplicas> fields_of(const MemoryReplicas*);

struct CheckpointPolicy {
  std::optional<Seconds> interval;  // of training; empty: the best
  SaveMode mode = SaveMode::blocking;
  std::optional<BytesPerSecond> bandwidth;  // of the storage, for the whole job
  std::optional<BytesPerSecond> read_bandwidth;
  std::optional<Bytes> size;       // of the state
  std::optional<Seconds> blocked;  // a measured time in place of the computed one
  std::optional<MemoryReplicas> memory;
  bool operator==(const CheckpointPolicy&) const = default;
};
Fields<CheckpointPolicy> fields_of(const CheckpointPolicy*);

// Errors: times, sizes or bandwidths that are not above 0; a probability outside [0, 1].
Result<void> check(const CheckpointPolicy& policy);

struct SaveCost {
  Seconds blocked;
  Seconds durable;
  Seconds restore;
};

struct CheckpointCost {
  Bytes size;
  BytesPerSecond bandwidth;
  SaveCost storage;
  std::optional<SaveCost> memory;  // where there are replicas
};
CheckpointCost checkpoint_cost(const Model& model, const Training& training, const Cluster& cluster,
                               const CheckpointPolicy& policy);

}  // namespace orrery
