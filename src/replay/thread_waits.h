// Which idle stretches of a thread are waits for another thread.
//
// Two cases, for stretches without operators and calls of 100 us and more:
//
//   join  The main thread is idle from t0 to t1, and another thread, idle at both moments, runs
//         from f to e in between: the main thread handed over at f and continued when the other
//         thread had finished (autograd's backward). The main thread keeps the idle times f - t0
//         and t1 - e, and waits from f to e.
//   fork  Another thread resumes at f after being idle. In a join, the hand-over starts it;
//         otherwise it starts as long after the main thread's last boundary before f as recorded.
//         Its idle stretch is a wait.
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

// Cuts segments of the main thread where it hands over and continues, and marks those that wait.
std::vector<ThreadWait> thread_waits(std::vector<HostThread>& threads, std::size_t main);

}  // namespace orrery
