// Where a thread waited for a device: which work must have ended before which operator.
//
//   call                                       has waited for
//   launch or copy whose own work ended in it  that work
//   cudaStreamSynchronize                      the last work of the stream before the call
//   cudaDeviceSynchronize                      the last work of every stream before the call
//   cudaEventSynchronize                       the last work of the stream before the event was
//                                              recorded
//
// The operator is the next one on the thread after the call ended. Streams and events come from
// synchronization events where they were recorded; else the stream is that of the work the thread
// launched last, and an event is what ended last during the call. HIP's names count like CUDA's. A
// device's clock may run ahead by kClockSlack. Work that ended later is left out: it cannot have
// been waited for.
//
// Work whose launch was not recorded counts as launched with the work before it on its stream, or
// before everything; or, as Chakra's converter has it, is not waited for.
//
// Not kept: waits of a stream for another one; they are none of the host.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/recorded_trace.h"

namespace orrery {

struct SynchronizationEdge {
  std::uint32_t work = 0;           // an event on a device
  std::uint32_t next_operator = 0;  // an event of the host
  std::uint32_t call = 0;           // of the host, that waited
};

enum class UnlaunchedWork : std::uint8_t { leave_out, wait_for };

// In the order of calls. O(n log n).
std::vector<SynchronizationEdge> synchronization_edges(
    const RecordedTrace& recorded, UnlaunchedWork unlaunched = UnlaunchedWork::leave_out);

}  // namespace orrery
