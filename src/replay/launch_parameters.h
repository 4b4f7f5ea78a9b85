// The few constants that turn a recorded order of launches into start times: how long this machine
// takes to launch work, to start the next work of a stream, and to wake a stream that waited.
//
//   launch    median over work whose stream was idle and that waited for nothing else, of
//             start - end of its launch call; negative where work starts before the call returns.
//             For copies: start - start of the call, which may stage data or wait afterwards
//   dispatch  mean over work launched well before its predecessor on the stream ended, without
//             waits for other streams, of start - end of the predecessor, up to 20 us
//   wake      median over work that began last after the end of what it waited for on another
//             stream, of start - that end
//
// Work that waited while another process used the device (replay/time_slices.h) is not counted.
// A class of work with fewer than 5 samples takes the constant of kernels. O(work log work).
#pragma once

#include "replay/graph_from_run.h"
#include "replay/stream_waits.h"
#include "replay/time_slices.h"

namespace orrery {

LaunchParameters launch_parameters(const RecordedTrace& trace, const LaunchedWork& work,
                                   const DeviceWaits& waits, const TimeSlices& slices);

}  // namespace orrery
