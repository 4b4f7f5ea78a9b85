// Shares of time and of multiprocessors, of kernels with known grids.
#include "analyze/utilization.h"

#include <gmock/gmock.h>

#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

std::string kernel(int stream, double start, double duration, int blocks) {
  return R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":)" + std::to_string(stream) +
         R"(,"ts":)" + std::to_string(start) + R"(,"dur":)" + std::to_string(duration) +
         R"(,"args":{"stream":)" + std::to_string(stream) + R"(,"device":0,"grid":[)" +
         std::to_string(blocks) +
         R"(,2,1],"block":[128,1,1],"registers per thread":32,"est. achieved occupancy %":50}})";
}

RecordedTrace made_trace(const std::string& events) {
  auto read = read_kineto_bytes(
      R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"GPU","numSms":100}],"traceEvents":[)" +
          events + "]}",
      "made");
  EXPECT_TRUE(read.has_value());
  return std::move(*read);
}

// A quarter of the device for 1.5 ms, beside it half of it for 0.5 ms, then more blocks than fit
// beside what runs, and nothing.
TEST(Utilization, CountsMultiprocessorsThatHaveABlock) {
  const RecordedTrace trace =
      made_trace(kernel(7, 0, 1500, 12) + "," + kernel(8, 0, 500, 25) + "," +
                 kernel(7, 2000, 500, 400) + "," + kernel(8, 2250, 250, 10));
  const Utilization shares = utilization(trace, {{0, 1'500'000}, {2'000'000, 2'500'000}},
                                         {trace.start_ns[0], trace.start_ns[0] + 4'000'000});
  const double small = 24.0 / 100;
  EXPECT_THAT(shares.multiprocessors,
              ElementsAre(DoubleNear(small + 0.25, 1e-9), DoubleNear(small / 2, 1e-9),
                          DoubleNear(0.5, 1e-9), DoubleNear(0, 1e-9)));
  EXPECT_NEAR(shares.mean_multiprocessors(), (small * 1.5 + 0.25 + 0.5) / 4, 1e-9);
  EXPECT_THAT(shares.busy, ElementsAre(1, 0.5, 0.5, 0));
}

TEST(Utilization, SaysNothingOfMultiprocessorsThatWereNotRecorded) {
  const RecordedTrace trace = made_trace(
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":5,"args":{"stream":7}})");
  EXPECT_THAT(utilization(trace, {{0, 5000}}, {0, 5000}).multiprocessors, IsEmpty());
}

}  // namespace
}  // namespace orrery
