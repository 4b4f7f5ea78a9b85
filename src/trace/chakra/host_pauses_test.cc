#include "trace/chakra/host_pauses.h"

#include <gmock/gmock.h>

#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

// A main thread (1) and one of backward passes (2), in microseconds. The main thread works in
// "step" and waits in it for the backward thread, then for the device.
constexpr const char* kStep = R"({"baseTimeNanoseconds": 1, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "first", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
{"ph": "X", "cat": "cpu_op", "name": "step", "pid": 1, "tid": 1, "ts": 25, "dur": 5000},
{"ph": "X", "cat": "cpu_op", "name": "loss", "pid": 1, "tid": 1, "ts": 30, "dur": 20},
{"ph": "X", "cat": "cpu_op", "name": "backward", "pid": 1, "tid": 2, "ts": 60, "dur": 3940},
{"ph": "X", "cat": "cpu_op", "name": "item", "pid": 1, "tid": 1, "ts": 4020, "dur": 900},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 4030,
 "dur": 5, "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 4040, "dur": 760,
 "args": {"correlation": 7, "device": 0, "stream": 7}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 1, "tid": 1, "ts": 4100,
 "dur": 750, "args": {"correlation": 8}},
{"ph": "X", "cat": "cpu_op", "name": "next", "pid": 1, "tid": 1, "ts": 5100, "dur": 10}]})";

TEST(HostPauses, AreWhatNoOperatorOfTheThreadCoversAndNothingIsAwaited) {
  const auto recorded = read_kineto_bytes(kStep, "step.json");
  ASSERT_TRUE(recorded) << recorded.error().text();
  const HostPauses pauses =
      host_pauses(*recorded, host_order(*recorded), device_order(*recorded, Fills::leave_out),
                  synchronization_edges(*recorded));
  const auto of = [&](std::string_view name) {
    for (std::size_t e = 0; e < recorded->size(); ++e) {
      if (recorded->name_of(e) == name) {
        return std::pair(pauses.before_ns[e] / 1000, pauses.spent_ns[e] / 1000);
      }
    }
    return std::pair(std::int64_t{-1}, std::int64_t{-1});
  };
  using Micros = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(of("first"), Micros(0, 10));
  // From the end of "first" at 10; "step" works for 5 us before it calls "loss".
  EXPECT_EQ(of("step"), Micros(15, 5));
  EXPECT_EQ(of("loss"), Micros(0, 20));
  // The thread begins behind "loss", the last operator of the other one: 10 us after its end.
  EXPECT_EQ(of("backward"), Micros(10, 3940));
  // A group after "backward", which ended at 4000: what "step" waited for it is in no time. From
  // 4040 on the kernel runs beside "item".
  EXPECT_EQ(of("item"), Micros(20, 20));
  // The kernel ends at 4800; then come 120 us of "item", 105 us of "step" and 75 us of the program.
  EXPECT_EQ(of("next"), Micros(300, 10));
}

}  // namespace
}  // namespace orrery
