// Work that was launched before the recording began: its launch calls are not in the file.
//
// It is assumed to have been in the queues of its streams when the recording began. For each
// stream, up to its first work whose launch is recorded:
//
//   the first work           starts when it was recorded to start: this is the initial condition of
//                            the replay
//   within 20 us of the one  follows it in the queue
//   before
//   within 20 us of the end  waits for that
//   of work on another
//   stream of the device
//   anything else            was not queued; it follows the progress of the host, as work does
//                            whose launch is lost in the middle of a recording
//
// Only the first and the last kind take a recorded start as an input (`placed`); a replay counts
// them. Source: in-order queues of CUDA and HIP streams. O(work log work).
#pragma once

#include <vector>

#include "replay/device_work.h"
#include "replay/stream_waits.h"

namespace orrery {

struct QueuedWork {
  std::vector<bool> placed;       // by event: begins when it did in the recording
  std::vector<StreamWait> waits;  // ascending by `to`
};

QueuedWork queued_work(const RecordedTrace& trace, const LaunchedWork& work);

}  // namespace orrery
