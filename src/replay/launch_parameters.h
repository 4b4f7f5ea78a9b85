// The few constants that turn a recorded order of launches into start times: what a launch, the
// next work of a stream, and the wake of a stream take on this machine.
//
//   launch    median over work whose stream was idle and that waited for nothing else, of
//             start - end of its launch call; negative where work starts before the call returns.
//             Of copies: start - start of the call, which may stage data or wait after it
//   dispatch  mean over work launched well before its predecessor on the stream ended, without
//             waits for other streams, of start - end of the predecessor, up to 20 us
//   wake      median over work that began last after the end of what it waited for on another
//             stream, of start - that end
//
// Work that waited for a device shared by turns (replay/time_slices.h) counts for none of them.
// A class of work without enough samples (5) takes the constant of kernels. O(works log works).
#pragma once

#include "replay/graph_from_run.h"
#include "replay/stream_waits.h"
#include "replay/time_slices.h"

namespace orrery {

LaunchParameters launch_parameters(const RecordedTrace& trace, const LaunchedWork& work,
                                   const DeviceWaits& waits, const TimeSlices& slices);

}  // namespace orrery
