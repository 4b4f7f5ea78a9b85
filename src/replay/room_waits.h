// Finds work that was ready but waited because the device was full.
//
// Kernels of different streams share a device only while compute units are free: a kernel with more
// blocks than fit delays others until its last blocks have started. The profiler records no
// dependency in this case, but the order is as strict as one. Work that began 50 us and more after
// it was ready (launched, its stream free, what it waited for done), in the last fifth of the run
// of a computing kernel of another stream or within 20 us of its end, waits for the end of that
// kernel.
//
// Recorded times are only used to find the dependency: a replay starts the waiting work at the end
// of that kernel, wherever in the last fifth it began. Work that began earlier during another
// kernel ran between its blocks, and is assumed to wait for nothing.
//
// Source: leftover policy of CUDA's block scheduler (concurrent kernels, CUDA programming guide
// section 3.2.8.3); recordings of torchrec in validation/traces show it between two full kernels.
// Not modelled: how many compute units are free. Kernels that run at the same time slow each other
// down; this remains in their durations.
#pragma once

#include <vector>

#include "replay/graph_from_run.h"
#include "replay/stream_waits.h"

namespace orrery {

// `from` occupied the device, `to` is work on another stream.
std::vector<StreamWait> room_waits(const RecordedTrace& trace, const LaunchedWork& work,
                                   const DeviceWaits& waits, const LaunchParameters& parameters);

}  // namespace orrery
