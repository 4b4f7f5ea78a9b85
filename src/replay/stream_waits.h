// The waits between streams of one device, and the waits of synchronising calls.
//
// Recordings with synchronisation events say both (Stream Wait Event, Event Sync, Stream Sync,
// Context Sync). Most have none; then waits are deduced from the calls:
//
//   cudaStreamWaitEvent   the next work its thread launches, on stream B, waits for the last work
//                         launched before the call on each other stream A, if that ended before the
//                         work on B began. Where it did not, the event was recorded earlier: the
//                         last work on A that ended within 20 us before B began.
//   no such call at all   the same at each launch on another stream than the thread's last one;
//                         and what began 20 us and more after its launch and its stream allowed
//                         waits for work of another stream that ended within 20 us before
//   graph launches        inside a graph of several streams neither calls nor synchronisation
//                         events tell: a kernel that its launch and its stream would have let begin
//                         2 us or more earlier waits for work of another stream that ended within
//                         20 us before it began
//   cudaStreamSynchronize the last work its thread launched, if it ended before the call did; else
//                         the last-ended work of another stream that did
//   cudaDeviceSynchronize, cudaFree, cudaHostFree, cudaMemcpy: all streams
//   cudaEventSynchronize  the work that ended last while the call ran
//   cudaMemcpyAsync       itself, where the copy ended before the call did: it did not return
//                         earlier
//
// Work whose launch was not recorded counts as launched together with the work before it on its
// stream, if it ended before the work or the call that may have waited for it.
//
// HIP's names are treated alike. Times are only used to rule out dependencies: nothing waits for
// what had not ended. An edge that the order in the recording has for another reason does not
// change a replay, but may delay something in a what-if.
//
// Source: formats of PyTorch's profiler (cuda_sync events); Lumos, arXiv 2504.09307, section 3.3;
// NCCL's process group in PyTorch (its stream waits for the current one, which waits at wait()).
#pragma once

#include <cstdint>
#include <vector>

#include "replay/device_work.h"
#include "replay/host_segments.h"
#include "trace/recorded_trace.h"

namespace orrery {

struct StreamWait {
  std::uint32_t from = 0;  // work on one stream
  std::uint32_t to = 0;    // work on another, which waits for it
};

struct Synchronization {
  std::uint32_t call = 0;
  std::vector<std::uint32_t> awaited;  // work; the call ends after all of it
  bool launches = false;               // the call launched what it waits for
};

struct DeviceWaits {
  std::vector<StreamWait> streams;
  std::vector<Synchronization> synchronizations;  // by call
};

DeviceWaits device_waits(const RecordedTrace& trace, const std::vector<HostThread>& threads,
                         const LaunchedWork& work);

}  // namespace orrery
