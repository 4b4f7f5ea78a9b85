// How the ranks of a recording were divided, as far as its communication tells.
//
// Frameworks name their process groups: Megatron-Core "TENSOR_MODEL_PARALLEL_GROUP", torchtitan
// "mesh_tp". Where they do, a group's size is a degree. Where they do not, a tensor-parallel group
// is one that exchanges as many elements as a microbatch's activations in every layer (read by the
// caller with `carrying`). Source: group descriptions of Megatron-Core parallel_state.py and of
// torch.distributed.device_mesh. O(events).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/marked_steps.h"
#include "trace/recorded_trace.h"

namespace orrery {

// One kind of communication of a step of one rank.
struct RecordedExchange {
  std::string collective;       // "allreduce"
  std::int64_t group_size = 0;  // 0: not recorded
  std::int64_t elements = 0;    // the larger side; 0: not recorded
  std::string group;            // its description
  std::int64_t calls = 0;
};

struct RecordedDegree {
  std::int64_t size = 0;  // 0: no group is named so
  std::string from;
};

struct RecordedParallelism {
  std::vector<RecordedExchange> exchanges;  // most calls first
  RecordedDegree tp, cp, pp, ep;
  bool sends = false;          // and receives, between two ranks
  bool exchanges_all = false;  // all-to-all

  // Calls of all-reduces, or of reduce-scatters, over `elements` in groups of one size; the size
  // with the most calls.
  struct Carrying {
    std::int64_t group_size = 0;
    std::int64_t calls = 0;
    bool scattered = false;
  };
  [[nodiscard]] Carrying carrying(std::int64_t elements) const;
};

RecordedParallelism recorded_parallelism(const RecordedTrace& trace, const MarkedStep& step);

}  // namespace orrery
