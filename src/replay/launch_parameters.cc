#include "replay/launch_parameters.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "trace/recorded_time.h"

namespace orrery {
namespace {

constexpr std::size_t kEnoughLaunches = 5;
constexpr std::int64_t kFreeDeviceNs = 200'000;
// From the call to the start of a copy, where none tells: that of the traces of validation/traces.
constexpr std::int64_t kUsualCopyNs = 10'000;
// Launched this long before a predecessor ended, work was ready when its turn came.
constexpr std::int64_t kWellBeforeNs = 10'000;
// Longer pauses have a cause that is not the device's own.
constexpr std::int64_t kLongestDispatchNs = 20'000;

std::int64_t mean(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0}) /
         static_cast<std::int64_t>(values.size());
}

}  // namespace

LaunchParameters launch_parameters(const RecordedTrace& trace, const LaunchedWork& work,
                                   const DeviceWaits& waits, const TimeSlices& slices) {
  std::vector<bool> resumed(trace.size(), false);
  for (const StreamWait& r : slices.resumed) resumed[r.to] = slices.slice_ns > 0;
  std::array<std::vector<std::int64_t>, kWorkKinds> launch;
  std::array<std::vector<std::int64_t>, kWorkKinds> dispatch;
  std::vector<std::int64_t> wake;
  constexpr auto kCopy = static_cast<std::size_t>(WorkKind::copy);
  for (const std::vector<std::uint32_t>& stream : work.streams) {
    std::int64_t before = std::numeric_limits<std::int64_t>::min() / 2;
    for (const std::uint32_t e : stream) {
      const std::int64_t start = trace.start_ns[e];
      const std::int64_t previous = before;
      before = std::max(before, trace.end_ns(e));
      const std::uint32_t call = work.launch_of[e];
      if (call == kNoEvent || resumed[e]) continue;
      const std::int64_t launched = trace.end_ns(call) - work.clock_ns;  // on the device's clock
      const auto c = static_cast<std::size_t>(work.of[e]);
      std::int64_t waited = std::numeric_limits<std::int64_t>::min() / 2;
      for (const StreamWait& w : std::ranges::equal_range(waits.streams, e, {}, &StreamWait::to)) {
        waited = std::max(waited, trace.end_ns(w.from));
      }
      const std::int64_t from = c == kCopy ? trace.start_ns[call] - work.clock_ns : launched;
      if (std::max(previous, waited) < from - kWellBeforeNs) {
        // On a device shared by turns only what found it free counts.
        if (slices.slice_ns == 0 || start - from < kFreeDeviceNs) launch[c].push_back(start - from);
      } else if (waited < previous - kWellBeforeNs && launched < previous - kWellBeforeNs) {
        const std::int64_t gap = start - previous;
        if (gap >= 0 && gap <= kLongestDispatchNs) dispatch[c].push_back(gap);
      } else if (std::max(previous, launched) < waited - kWellBeforeNs &&
                 start - waited <= kLongestDispatchNs) {
        wake.push_back(std::max<std::int64_t>(0, start - waited));
      }
    }
  }
  LaunchParameters parameters;
  constexpr auto kKernel = static_cast<std::size_t>(WorkKind::compute);
  for (std::size_t c = 0; c < kWorkKinds; ++c) {
    const auto own = [&](const auto& samples) {
      return samples[c].size() >= kEnoughLaunches ||
             (!samples[c].empty() && samples[kKernel].empty());
    };
    if (own(launch) || (c == kCopy && !launch[c].empty())) {
      parameters.launch_ns[c] = median(launch[c]);
    } else if (c == kCopy) {
      parameters.launch_ns[c] = kUsualCopyNs;
    } else if (!launch[kKernel].empty()) {
      parameters.launch_ns[c] = median(launch[kKernel]);
    }
    if (own(dispatch)) {
      parameters.dispatch_ns[c] = mean(dispatch[c]);
    } else if (!dispatch[kKernel].empty()) {
      parameters.dispatch_ns[c] = mean(dispatch[kKernel]);
    }
  }
  parameters.wake_ns = wake.empty() ? parameters.dispatch_ns[kKernel] : median(wake);
  return parameters;
}

}  // namespace orrery
