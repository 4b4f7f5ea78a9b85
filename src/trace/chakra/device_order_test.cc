#include "trace/chakra/device_order.h"

#include <gmock/gmock.h>

#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

// Streams 7 and 20 of a device, in microseconds. "old" was launched before the recording; "b" waits
// for "c" of the other stream; "d" is late for no reason; "e" follows a fill.
constexpr const char* kWork = R"({"baseTimeNanoseconds": 1, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 0, "dur": 40},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2,
 "dur": 3, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 6,
 "dur": 3, "args": {"correlation": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10,
 "dur": 3, "args": {"correlation": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 14,
 "dur": 3, "args": {"correlation": 4}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemsetAsync", "pid": 1, "tid": 1, "ts": 18,
 "dur": 3, "args": {"correlation": 5}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 22,
 "dur": 3, "args": {"correlation": 6}},
{"ph": "X", "cat": "kernel", "name": "old", "pid": 0, "tid": 7, "ts": 1, "dur": 50,
 "args": {"correlation": 99, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 53, "dur": 10,
 "args": {"correlation": 1, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 20, "ts": 15, "dur": 100,
 "args": {"correlation": 2, "device": 0, "stream": 20}},
{"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 118, "dur": 10,
 "args": {"correlation": 3, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "d", "pid": 0, "tid": 7, "ts": 628, "dur": 10,
 "args": {"correlation": 4, "device": 0, "stream": 7}},
{"ph": "X", "cat": "gpu_memset", "name": "Memset", "pid": 0, "tid": 7, "ts": 639, "dur": 4,
 "args": {"correlation": 5, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "e", "pid": 0, "tid": 7, "ts": 645, "dur": 10,
 "args": {"correlation": 6, "device": 0, "stream": 7}}]})";

class DeviceOrderOfWork : public ::testing::Test {
 protected:
  std::uint32_t event(std::string_view name) const {
    for (std::uint32_t e = 0; e < recorded_->size(); ++e) {
      if (recorded_->name_of(e) == name) return e;
    }
    return kNoEvent;
  }
  std::int64_t lag(const DeviceOrder& order, std::string_view name) const {
    return order.lag_ns[event(name)] / 1000;
  }
  std::int64_t end(const DeviceOrder& order, std::string_view name) const {
    return order.end_ns[event(name)] / 1000;
  }

  Result<RecordedTrace> recorded_ = read_kineto_bytes(kWork, "work.json");
};

TEST_F(DeviceOrderOfWork, SaysWhatWorkWaitedFor) {
  ASSERT_TRUE(recorded_) << recorded_.error().text();
  const DeviceOrder order = device_order(*recorded_, Fills::keep);
  EXPECT_EQ(order.launch[event("old")], kNoEvent);
  EXPECT_NE(order.launch[event("a")], kNoEvent);
  // Nothing ended before it, so that it begins when it did.
  EXPECT_TRUE(order.placed[event("old")]);
  EXPECT_EQ(lag(order, "a"), 2);  // behind "old", which ended at 51
  EXPECT_EQ(order.after_other[event("a")], kNoEvent);
  EXPECT_EQ(lag(order, "c"), 6);  // behind its launch at 9
  EXPECT_EQ(order.after_other[event("b")], event("c"));
  EXPECT_EQ(lag(order, "b"), 3);    // behind "c", which ended at 115
  EXPECT_EQ(lag(order, "d"), 500);  // behind "b", which ended at 128
  EXPECT_EQ(order.after_other[event("d")], kNoEvent);
  EXPECT_EQ(lag(order, "e"), 2);  // behind the fill
  EXPECT_EQ(end(order, "e"), 655);
}

TEST_F(DeviceOrderOfWork, CountsFillsThatAreLeftOutAsTime) {
  ASSERT_TRUE(recorded_) << recorded_.error().text();
  const DeviceOrder order = device_order(*recorded_, Fills::leave_out);
  EXPECT_EQ(lag(order, "e"), 7);  // behind "d", which ended at 638
  EXPECT_EQ(end(order, "e"), 655);
}

}  // namespace
}  // namespace orrery
