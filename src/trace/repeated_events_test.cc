#include "trace/repeated_events.h"

#include <gmock/gmock.h>

#include "trace/sorted_events.h"

namespace orrery {
namespace {

using ::testing::ElementsAre;

// One host thread (lane 0) and two streams (lanes 1 and 2).
struct Recording {
  Recording() {
    for (const bool device : {false, true, true}) {
      Lane lane;
      lane.device = device;
      lane.thread = static_cast<std::int64_t>(trace.lanes.size());
      trace.lanes.push_back(lane);
    }
  }
  void add(EventKind kind, const char* name, std::uint32_t lane, std::int64_t start,
           std::int64_t takes, std::int64_t correlation = kNotRecorded) {
    trace.correlation[trace.append(kind, name, lane, start, takes)] = correlation;
  }
  void kernel(std::uint32_t lane, std::int64_t start, std::int64_t takes, std::int64_t correlation,
              const char* name = "gemm") {
    add(EventKind::kernel, name, lane, start, takes, correlation);
  }
  void leave_out() {
    sort_events(trace);
    leave_out_repeated(trace);
  }
  RecordedTrace trace;
};

TEST(RepeatedEvents, AreLeftOutBehindTheFirst) {
  Recording r;
  r.kernel(1, 100, 50, 7);
  r.kernel(1, 200, 50, 8);
  r.kernel(1, 100, 50, 7);
  r.kernel(1, 100, 50, 7);
  r.leave_out();
  EXPECT_THAT(r.trace.start_ns, ElementsAre(100, 200));
  EXPECT_THAT(r.trace.place, ElementsAre(0, 1));
  EXPECT_EQ(r.trace.repeated, 2);
  EXPECT_EQ(r.trace.repeated_kernels, 2);
}

TEST(RepeatedEvents, AreNotThoseThatDifferInAnything) {
  Recording r;
  r.kernel(1, 100, 50, 7);
  r.kernel(2, 100, 50, 7);          // on another stream
  r.kernel(1, 100, 50, 8);          // of another launch
  r.kernel(1, 100, 51, 7);          // longer
  r.kernel(1, 101, 50, 7);          // later, as of a CUDA graph
  r.kernel(1, 100, 50, 7, "relu");  // of another name
  r.add(EventKind::fill, "gemm", 1, 100, 50, 7);
  r.leave_out();
  EXPECT_EQ(r.trace.size(), 7U);
  EXPECT_EQ(r.trace.repeated, 0);
}

// In whole microseconds annotations and empty events agree by chance.
TEST(RepeatedEvents, WithoutIdentifierCountOnlyIfMostOthersAreRepeated) {
  for (const bool whole : {false, true}) {
    Recording r;
    for (int copy = 0; copy < 2; ++copy) {
      r.add(EventKind::annotation, "forward", 0, 100'000, 5'000);
      r.add(EventKind::python_function, "f.py(1): f", 0, 100'000, 5'000);
      r.add(EventKind::kernel, "empty", 1, 100'000, 0);
      for (int k = 0; k < 8; ++k) {
        if (copy == 0 || whole || k == 0) r.kernel(1, 200'000 + 10'000 * k, 5'000, k + 1);
      }
      r.trace.memory.push_back({.time_ns = 100'000, .address = 1, .bytes = 64});
      r.trace.memory.push_back({.time_ns = 100'000, .address = 1, .bytes = -64});
    }
    r.leave_out();
    EXPECT_EQ(r.trace.size(), whole ? 11U : 14U);
    EXPECT_EQ(r.trace.memory.size(), whole ? 2U : 4U);
    EXPECT_EQ(r.trace.repeated, whole ? 13 : 1);
    EXPECT_EQ(r.trace.repeated_kernels, whole ? 9 : 1);
  }
}

// In nanoseconds nothing that takes time agrees by chance, however little of a file is repeated.
TEST(RepeatedEvents, InNanosecondsCountOnceWhateverIsRepeated) {
  Recording r;
  for (int k = 0; k < 8; ++k) r.kernel(1, 200 + 10 * k, 5, k + 1);
  for (int copy = 0; copy < 2; ++copy) {
    r.add(EventKind::annotation, "forward", 0, 100, 5);
    r.add(EventKind::python_function, "f.py(1): f", 0, 100, 5);
    r.add(EventKind::device_annotation, "forward", 1, 100,
          5);  // one inside the other, on the device
    r.add(EventKind::runtime_call, "hipGetDevice", 0, 100, 0);
    r.trace.memory.push_back({.time_ns = 100, .address = 1, .bytes = 64});
  }
  r.leave_out();
  EXPECT_EQ(r.trace.size(), 14U);
  EXPECT_EQ(r.trace.memory.size(), 1U);
  EXPECT_EQ(r.trace.repeated, 3);
  EXPECT_EQ(r.trace.repeated_kernels, 0);
}

// A CUDA graph gives its kernels one correlation, and files of whole microseconds round them up.
TEST(RepeatedEvents, AreNoKernelsShorterThanTheRounding) {
  Recording r;
  for (int k = 0; k < 2; ++k) r.kernel(1, 100'000, 1'000, 7);
  for (int k = 0; k < 2; ++k) r.kernel(1, 102'000, 0, 7);
  r.kernel(1, 104'000, 9'000, 8);
  r.leave_out();
  EXPECT_EQ(r.trace.size(), 5U);
  EXPECT_EQ(r.trace.repeated, 0);
}

// Two streams wait for one event: two waits of one call.
TEST(RepeatedEvents, TellSynchronizationsApartByTheirStreams) {
  Recording r;
  for (const std::int64_t stream : {7, 20, 7}) {
    SynchronizationDetails details;
    details.stream = stream;
    r.trace.synchronizations.push_back(details);
    r.add(EventKind::synchronization, "Stream Wait Event", 1, 100, 5, 9);
    r.trace.details.back() = static_cast<std::uint32_t>(r.trace.synchronizations.size() - 1);
  }
  r.leave_out();
  EXPECT_EQ(r.trace.size(), 2U);
  EXPECT_EQ(r.trace.repeated, 1);
  EXPECT_EQ(r.trace.repeated_kernels, 0);
}

TEST(OverlappingKernels, AreThoseOfOneStreamByMoreThanAMicrosecond) {
  Recording r;
  r.kernel(1, 0, 10'000, 1);
  r.kernel(1, 9'000, 5'000, 2);   // by a microsecond: rounded
  r.kernel(2, 3'000, 20'000, 3);  // on another stream
  r.kernel(1, 12'999, 100, 4);
  r.kernel(1, 13'500, 100, 5);  // by less, of the second, which is the last to end
  sort_events(r.trace);
  EXPECT_EQ(overlapping_kernels(r.trace), 1);
}

}  // namespace
}  // namespace orrery
