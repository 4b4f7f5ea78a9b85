#include "compare/earlier_work.h"

#include <algorithm>
#include <limits>

#include "trace/launch_links.h"

namespace orrery {

bool has_no_launch(const ProfileLine& line) {
  return line.kernels.size() == 1 && line.kernels.begin()->first == line.name;
}

bool unlaunched_is_earlier(std::span<const RecordedTrace> run) {
  for (const RecordedTrace& trace : run) {
    const LaunchLinks links = launch_links(trace);
    std::int64_t first_launched = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_unlaunched = std::numeric_limits<std::int64_t>::min();
    for (std::uint32_t e = 0; e < trace.size(); ++e) {
      if (!is_device_work(trace.kind[e])) continue;
      if (links.launch[e] != kNotLaunched || links.inner_operator[e] != kNotLaunched) {
        first_launched = std::min(first_launched, trace.start_ns[e]);
      } else {
        last_unlaunched = std::max(last_unlaunched, trace.start_ns[e]);
      }
    }
    if (last_unlaunched >= first_launched) return false;
  }
  return true;
}

}  // namespace orrery
