// Work that was ready but found the device full.
//
// Kernels of different streams share a device only while it has room: a kernel with more blocks
// than fit keeps others out until its last blocks have started. The profiler records no dependency
// then, yet the order is as hard as one. Work that began 50 us and more after it was ready
// (launched, its stream free, what it waited for done) while a computing kernel of another stream
// ran, or within 20 us of that kernel's end, waits for that kernel: until the moment of its run (a
// share of its duration, which scales with it) at which the other began.
//
// Source: leftover policy of CUDA's block scheduler (concurrent kernels, CUDA programming guide
// section 3.2.8.3); recordings of torchrec in validation/traces show it between two full kernels.
// Not modelled: kernels that run beside each other slow each other down; that stays in durations.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/graph_from_run.h"
#include "replay/stream_waits.h"

namespace orrery {

struct RoomWait {
  std::uint32_t from = 0;     // kernel that kept the device full
  std::uint32_t to = 0;       // work on another stream
  std::int64_t after_ns = 0;  // of the run of `from`
};

// Ascending by `from`, then by `after_ns`.
std::vector<RoomWait> room_waits(const RecordedTrace& trace, const LaunchedWork& work,
                                 const DeviceWaits& waits, const LaunchParameters& parameters);

}  // namespace orrery
