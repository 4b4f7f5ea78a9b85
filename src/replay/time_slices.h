// Detects a device that is shared with another process by time slices.
//
// The driver gives each process the device for a slice of milliseconds. A process that has no more
// work loses the rest of its slice: whatever it launches then starts a whole slice after its last
// work ended, however early it was launched. A device counts as shared if, over at least 8 moments
// at which nothing ran and nothing was queued,
//
//   the median time from launch to start is 200 us and more (a few us is usual), and
//   the middle half of the pauses of the device lies within 10 % of their median, 500 us or more,
//
// and the slice is the median pause. Source: time-sliced scheduling of CUDA contexts (NVIDIA, MPS
// documentation, "time-sliced sharing"); megatron-lm-fork/tp2 in validation/traces, rank 0, whose
// every pause is 2.4 ms. Not modelled: slices that end while there is work.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/device_work.h"
#include "replay/stream_waits.h"
#include "timeline/intervals.h"

namespace orrery {

struct TimeSlices {
  std::int64_t slice_ns = 0;        // 0: the device is not shared
  std::vector<StreamWait> resumed;  // `to` was launched after the device ran dry with `from`
};

TimeSlices time_slices(const RecordedTrace& trace, const LaunchedWork& work);

// When the device was idle although its next work was launched, because another process used it:
// from the end of the launch call, or of the work before if that is later, to the start of the
// work. By start, on the device's clock of the recording. The time of the launch itself is not
// included.
Intervals other_process_turns(const RecordedTrace& trace);

}  // namespace orrery
