// The keys of Kineto events that are read, in the spellings of all eras.
#pragma once

#include <cstddef>
#include <string_view>

namespace orrery {

enum class EventKey {
  unknown,
  // Keys of the event.
  phase,
  category,
  name,
  process,
  thread,
  start,
  duration,
  arguments,
  flow_id,
  // Keys of its arguments.
  correlation,
  external_id,
  sequence_number,
  forward_thread,
  record_function_id,
  input_shapes,
  input_types,
  input_strides,
  concrete_inputs,
  device,
  stream,
  grid,
  block,
  registers,
  shared_memory,
  occupancy,
  graph,
  bytes,
  awaited_stream,
  record_correlation,
  cuda_event,
  collective,
  data_type,
  group,
  group_description,
  group_ranks,
  group_size,
  input_splits,
  output_splits,
  input_elements,
  output_elements,
  rank_start,
  rank_stride,
  source,
  destination,
  sequence,
  asynchronous,
  label,  // "name" of a metadata event
  memory_bytes,
  memory_address,
  memory_device,
  memory_device_type,
  memory_allocated,
  memory_reserved,
};
inline constexpr std::size_t kEventKeys = static_cast<std::size_t>(EventKey::memory_reserved) + 1;

EventKey event_key(std::string_view text);
EventKey argument_key(std::string_view text);

}  // namespace orrery
