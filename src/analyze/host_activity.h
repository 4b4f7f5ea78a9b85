// What the host was doing while the device waited for it.
//
// The time of host waits (idle_time.h) is divided by what the threads that launch device work were
// in; where several apply, the first of
//
//   data loading     the iterator of a DataLoader, on any thread
//   synchronizing    a call whose name says so (cudaStreamSynchronize, hipDeviceSynchronize, ...)
//   allocating       a call that allocates or frees memory (cudaMalloc, cudaHostAlloc, cudaFree)
//   calling          any other call of the runtime: launches, copies
//   operators        an operator of PyTorch, outside of calls
//   elsewhere        none of these: Python, and everything that is not recorded
//
// The parts add up to the host waits exactly. O(events + gaps).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/idle_time.h"
#include "outcome/enum_names.h"
#include "timeline/intervals.h"
#include "trace/launch_links.h"
#include "trace/recorded_trace.h"

namespace orrery {

enum class HostActivity : std::uint8_t {
  data_loading,
  synchronizing,
  allocating,
  calling,
  operators,
  elsewhere
};
inline constexpr std::size_t kHostActivities = 6;
// "in launches and other calls"
std::string_view in_words(HostActivity activity);

struct HostTime {
  std::array<std::int64_t, kHostActivities> ns{};

  [[nodiscard]] std::int64_t of(HostActivity activity) const {
    return ns[static_cast<std::size_t>(activity)];
  }
  [[nodiscard]] std::int64_t total_ns() const;
  // The longest, the first of equals.
  [[nodiscard]] HostActivity main() const;
};

// Of host waits within `windows`, which neither overlap nor touch and ascend.
HostTime host_activity(const RecordedTrace& trace, const LaunchLinks& links,
                       const std::vector<Gap>& gaps, const Intervals& windows);

}  // namespace orrery
