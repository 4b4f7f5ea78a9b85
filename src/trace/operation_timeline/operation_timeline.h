// Reads operation-level timelines of hybrid-parallel training: one timed operation for each
// forward, backward, transfer, reduction and optimizer, of every data-parallel rank, stage and
// step.
//
// The file is a JSON array of Chrome events, times in microseconds. A process is a data-parallel
// rank; a thread's name, "PP rank 0, TP rank 0, compute", tells the stage; the arguments tell step,
// model_chunk, mb_id and seq_id (the place among operations of one type on one stage in one step).
// Operations of tensor-parallel ranks above 0 repeat those of rank 0 and are left out.
//
// Operations with a negative duration, which clocks that are set back leave, are counted; they take
// no time, or are left out where what is whole is asked for. Refused: what is not such an array,
// operations of no known type, without arguments, of a thread without a name, and twice the same
// operation.
//
// Source: data of "Understanding Stragglers in Large Model Training Using What-if Analysis"
// (ByteDance), github.com/ByteDance-Seed/StragglerAnalysis, commit 8efcd7f.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "outcome/enum_names.h"
#include "outcome/result.h"
#include "trace/incomplete.h"
#include "units/quantity.h"

namespace orrery {

enum class OperationType : std::uint8_t {
  forward_compute,
  backward_compute,
  forward_send,
  forward_recv,
  backward_send,
  backward_recv,
  params_all_gather,
  grads_reduce_scatter,
  separate_grads_all_reduce,
  layernorm_grads_all_reduce,
  embedding_grads_all_reduce,
  optimizer_clip_main_grad,
  optimizer,
  gc
};
template <>
inline constexpr char kWordSeparator<OperationType> = '-';  // "forward-compute"
inline constexpr std::size_t kOperationTypes = 14;

constexpr bool is_communication(OperationType type) {
  return type >= OperationType::forward_send && type <= OperationType::optimizer_clip_main_grad;
}

struct TimedOperation {
  OperationType type = OperationType::forward_compute;
  std::int32_t data_parallel_rank = 0;
  std::int32_t stage = 0;
  std::int32_t step = 0;
  std::int32_t chunk = -1;       // of the model; -1: of none
  std::int32_t microbatch = -1;  // -1: of none
  std::int32_t sequence = 0;     // among those of its type, stage and step
  Seconds start;
  Seconds end;
};

struct OperationTimeline {
  // By step, data-parallel rank, stage, type, sequence.
  std::vector<TimedOperation> operations;
  std::int32_t data_parallel_ranks = 0;
  std::int32_t stages = 0;
  // The step of each operation that ends before it begins, ascending.
  std::vector<std::int32_t> negative_durations;
};

// `file` is a path (gzip is recognised), or "-" for standard input. Of a file that ends in the
// middle the whole events can be used, if the names of their threads are among them.
Result<OperationTimeline> read_operation_timeline(const std::string& file,
                                                  Incomplete incomplete = Incomplete::refuse);
Result<OperationTimeline> parse_operation_timeline(const std::string& json, const std::string& name,
                                                   Incomplete incomplete = Incomplete::refuse);

}  // namespace orrery
