// Which idle stretches of a thread are waits for another thread.
//
// Two cases, for stretches without operators and calls of 100 us and more:
//
//   join  The main thread idles from t0 to t1, and another thread, idle at both moments, works from
//         f to e within: the main thread handed over at f and went on when the other was done
//         (autograd's backward). The stretch keeps f - t0 and t1 - e; between, it waits.
//   fork  Another thread resumes at f after idling: in a join by the hand-over, otherwise as far
//         behind the main thread's last boundary before f as recorded. Its idling waits.
//
// Source: Lumos, arXiv 2504.09307, section 3.3 ("a thread shows a significant idle gap"; its
// threshold is not given); PyTorch's autograd engine, which runs a device's backward on a thread of
// its own while the caller blocks.
// Not modelled: threads that wait for each other without the main thread; locks (the interpreter's,
// the driver's), whose effect stays in the durations.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/host_segments.h"

namespace orrery {

struct ThreadWait {
  std::uint32_t from_thread = 0;
  std::uint32_t from_segment = 0;  // ends
  std::uint32_t to_thread = 0;
  std::uint32_t to_segment = 0;  // may begin `lag_ns` later
  std::int64_t lag_ns = 0;
};

// Cuts segments of the main thread where it hands over and resumes, and marks those that wait.
std::vector<ThreadWait> thread_waits(std::vector<HostThread>& threads, std::size_t main);

}  // namespace orrery
