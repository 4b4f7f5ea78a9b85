// Durations of a recorded job that repeat, by what was done: the samples that laws are fitted to.
//
//   kernel          class, name and shapes of its operator (where none are recorded, its grid), of
//                   a rank in a step; its recorded duration
//   collective      kind, ranks of the group, bytes, within a node or between nodes; one sample an
//                   instance: the shortest duration of its members, who came last and waited for
//                   nobody (trace/collective_instances.h)
//   transfer        the same by its place: the pair of ranks, or of stages
//   pass            of an operation timeline: forward or backward of a stage, of a data-parallel
//                   rank in a step. Its communication counts from the last arrival on
//                   (replay/operation_replay.h), and the shortest of its members is the sample
//
// Ranks lie on nodes in their order, as many on each as the recording names devices. Left out:
// copies and fills, kernels launched outside of the marked steps, transfers that took no time
// because clocks disagree, garbage collection, steps of a timeline that lack an operation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "outcome/enum_names.h"
#include "outcome/result.h"
#include "trace/operation_timeline/operation_timeline.h"
#include "trace/recorded_run.h"

namespace orrery {

enum class SampledWork : std::uint8_t {
  pass,  // all kernels of a microbatch on a stage
  products,
  attention,
  memory_bound,
  within_node,    // communication of groups that stay within a node
  between_nodes,  // and of those that do not
};
inline constexpr std::size_t kSampledWork = 6;
constexpr bool communicates(SampledWork work) { return work >= SampledWork::within_node; }

struct DurationSignature {
  SampledWork work = SampledWork::products;
  std::string name;  // of the kernel, collective or operation
  std::string form;  // its shapes, its group and bytes, its stage
  // Whether calls do the same: not so of communication without recorded sizes.
  bool alike = true;
};

struct DurationSample {
  std::uint32_t signature = 0;
  std::int32_t place = 0;  // the rank, or the first rank of a group
  std::int32_t step = 0;
  double seconds = 0;
  bool may_wait = false;  // of a communication: not all of its ranks are recorded
};

struct DurationSamples {
  std::vector<DurationSignature> signatures;
  std::vector<DurationSample> samples;  // by signature, place, step
  std::int64_t ranks = 0;
  std::int64_t steps = 0;         // the most of any rank
  std::int64_t without_time = 0;  // left out: their clocks disagree
  std::vector<std::string> assumed;
};

// `per_node`: accelerators of a node; 0: as recorded.
DurationSamples duration_samples(const RecordedRun& run, std::int64_t per_node);
// Errors: operations that are no pipeline (operation_graph).
Result<DurationSamples> duration_samples(const OperationTimeline& timeline);
// Without the first steps, in which a job warms up.
DurationSamples without_first_steps(DurationSamples samples, std::int64_t steps);

}  // namespace orrery
