#include "analyze/host_activity.h"

#include <gmock/gmock.h>

#include "trace/hand_made_trace.h"

namespace orrery {
namespace {

std::vector<std::uint32_t> device_events(const RecordedTrace& trace) {
  std::vector<std::uint32_t> events;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (is_device_work(trace.kind[e])) events.push_back(e);
  }
  return events;
}

HostTime activity(const HandMadeTrace& made, Interval window) {
  const LaunchLinks links = launch_links(made.trace);
  return host_activity(made.trace, links, gaps(made.trace, links, device_events(made.trace)),
                       {window});
}

// The device waits in [0, 60) and [100, 1000). In the second the host loads data for 300, is in a
// synchronizing call for 100, allocates for 50, and is in an operator for 200, of which 40 are its
// launch call.
HandMadeTrace waiting_run() {
  HandMadeTrace made;
  made.op("aten::mm", 10, 55);
  made.call(20, 50, 1);
  made.kernel("gemm", 7, 60, 100, 1);
  made.add(EventKind::annotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0,
           200, 500);
  made.call(500, 600, 90, "cudaStreamSynchronize");
  made.call(600, 650, 91, "cudaMalloc");
  made.op("aten::mm", 700, 900);
  made.call(800, 840, 2);
  made.kernel("gemm", 7, 1000, 1100, 2);
  return made;
}

TEST(HostActivity, DividesWhatTheDeviceWaits) {
  const HostTime host = activity(waiting_run(), {100, 1000});
  EXPECT_EQ(host.of(HostActivity::data_loading), 300);
  EXPECT_EQ(host.of(HostActivity::synchronizing), 100);
  EXPECT_EQ(host.of(HostActivity::allocating), 50);
  EXPECT_EQ(host.of(HostActivity::calling), 40);
  EXPECT_EQ(host.of(HostActivity::operators), 160);
  EXPECT_EQ(host.of(HostActivity::elsewhere), 900 - 650);
  EXPECT_EQ(host.total_ns(), 900);
  EXPECT_EQ(host.main(), HostActivity::data_loading);
}

TEST(HostActivity, CountsOnlyWithinTheWindows) {
  EXPECT_EQ(activity(waiting_run(), {300, 550}).total_ns(), 250);
  EXPECT_EQ(activity(waiting_run(), {60, 100}).total_ns(), 0);
}

TEST(HostActivity, AddsUpToTheHostWaitsOfTheBreakdown) {
  const HandMadeTrace made = waiting_run();
  const LaunchLinks links = launch_links(made.trace);
  const auto all = gaps(made.trace, links, device_events(made.trace));
  const Interval window = {0, 1100};
  EXPECT_EQ(host_activity(made.trace, links, all, {window}).total_ns(),
            idle_time(all, window).host_wait_ns);
}

TEST(HostActivity, OfARunWithoutWorkIsNothingKnown) {
  const HandMadeTrace made;
  // Idle all the time: the host did nothing that was recorded.
  EXPECT_EQ(activity(made, {0, 10}).of(HostActivity::elsewhere), 10);
}

}  // namespace
}  // namespace orrery
