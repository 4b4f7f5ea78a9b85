// Rates of copies with known bytes and times.
#include "analyze/copy_rates.h"

#include <gmock/gmock.h>

#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::SizeIs;

std::string copy(std::string_view name, double start, double duration, int bytes) {
  return R"({"ph":"X","cat":"gpu_memcpy","name":")" + std::string(name) +
         R"(","pid":0,"tid":7,"ts":)" + std::to_string(start) + R"(,"dur":)" +
         std::to_string(duration) + R"(,"args":{"stream":7,"device":0,"bytes":)" +
         std::to_string(bytes) + "}}";
}

// 1 MB in 0.5 ms, then 1 MB in 1 ms of which half lies in each bin; another kind once.
TEST(CopyRates, AreBytesOverTimeByKindAndOverTime) {
  const std::string json = R"({"schemaVersion":1,"traceEvents":[)" +
                           copy("Memcpy HtoD (Pinned -> Device)", 0, 500, 1'000'000) + "," +
                           copy("Memcpy HtoD (Pinned -> Device)", 500, 1000, 1'000'000) + "," +
                           copy("Memcpy DtoH (Device -> Pinned)", 1600, 100, 50'000) + "]}";
  const auto trace = read_kineto_bytes(json, "made");
  ASSERT_TRUE(trace.has_value());
  const std::int64_t start = trace->start_ns[0];
  const auto rows = copy_rates(*trace, utilization({}, {start, start + 2'000'000}));
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_NEAR(rows[0].rate().value(), 2e6 / 1.5e-3, 1);
  EXPECT_NEAR(rows[0].least.value(), 1e9, 1);
  EXPECT_NEAR(rows[0].greatest.value(), 2e9, 1);
  EXPECT_THAT(rows[0].bytes_per_s, ElementsAre(DoubleNear(1.5e9, 1), DoubleNear(0.5e9, 1)));
  EXPECT_THAT(rows[1].bytes_per_s, ElementsAre(DoubleNear(0, 1), DoubleNear(5e7, 1)));
}

}  // namespace
}  // namespace orrery
