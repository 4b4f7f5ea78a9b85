#include "replay/queued_work.h"

#include <algorithm>

#include "replay/run_graph.h"

namespace orrery {
QueuedWork queued_work(const RecordedTrace& trace, const LaunchedWork& work) {
  QueuedWork queued;
  queued.placed.assign(trace.size(), false);
  for (std::uint32_t lane = 0; lane < work.streams.size(); ++lane) {
    const std::vector<std::uint32_t>& stream = work.streams[lane];
    bool launched_before = false;
    std::int64_t free_ns = 0;
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const std::uint32_t e = stream[i];
      const std::int64_t start = trace.start_ns[e];
      const std::int64_t pause = start - free_ns;
      free_ns = i == 0 ? trace.end_ns(e) : std::max(free_ns, trace.end_ns(e));
      if (work.launch_of[e] != kNoEvent) {
        launched_before = true;
        continue;
      }
      if (launched_before || i == 0) {
        queued.placed[e] = true;
        continue;
      }
      if (pause <= kSoonAfterNs) continue;
      const std::uint32_t awaited = work.just_ended(trace, lane, start);
      if (awaited == kNoEvent) {
        queued.placed[e] = true;
      } else {
        queued.waits.push_back({awaited, e});
      }
    }
  }
  std::sort(queued.waits.begin(), queued.waits.end(),
            [](const StreamWait& a, const StreamWait& b) { return a.to < b.to; });
  return queued;
}

}  // namespace orrery
