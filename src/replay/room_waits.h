// Work that was ready but found the device full.
//
// Kernels of different streams share a device only while it has room: a kernel with more blocks
// than fit keeps others out until its last blocks have started. The profiler records no dependency
// then, yet the order is as hard as one. Work that began 50 us and more after it was ready
// (launched, its stream free, what it waited for done), in the last fifth of the run of a computing
// kernel of another stream or within 20 us of its end, waits for the end of that kernel.
//
// Recorded times only find the dependency: when the other work began in that last fifth is no input
// of a replay, which has it begin at the end. Work that began earlier in the run of another kernel
// squeezed in between its blocks, and is taken to wait for nothing.
//
// Source: leftover policy of CUDA's block scheduler (concurrent kernels, CUDA programming guide
// section 3.2.8.3); recordings of torchrec in validation/traces show it between two full kernels.
// Not modelled: how much room is left; kernels that run beside each other slow each other down,
// which stays in durations.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/graph_from_run.h"
#include "replay/stream_waits.h"

namespace orrery {

// `from` kept the device full, `to` is work on another stream.
std::vector<StreamWait> room_waits(const RecordedTrace& trace, const LaunchedWork& work,
                                   const DeviceWaits& waits, const LaunchParameters& parameters);

}  // namespace orrery
