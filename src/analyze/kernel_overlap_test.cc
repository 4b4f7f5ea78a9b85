#include "analyze/kernel_overlap.h"

#include <gmock/gmock.h>

#include <numeric>

namespace orrery {
namespace {

//   compute        [0, 100)        [200, 300)
//   communication      [50, 250)
//   copies                 [90, 120)            [400, 410)
TEST(KernelOverlap, GivesEveryBusyMomentToOneCombination) {
  const DeviceWork work = {.compute = {{0, 100}, {200, 300}},
                           .communication = {{50, 250}},
                           .copies = {{90, 120}},
                           .fills = {{400, 410}}};
  const KernelOverlap time = kernel_overlap(work);
  EXPECT_EQ(time[0], 0);
  EXPECT_EQ(time[1], 50 + 50);  // computing alone
  EXPECT_EQ(time[2], 80);       // communicating alone: [120, 200)
  EXPECT_EQ(time[3], 40 + 50);  // both: [50, 90) and [200, 250)
  EXPECT_EQ(time[4], 10);       // fills alone
  EXPECT_EQ(time[5], 0);        // computing and memory
  EXPECT_EQ(time[6], 20);       // [100, 120)
  EXPECT_EQ(time[7], 10);       // all three: [90, 100)
  EXPECT_EQ(std::accumulate(time.begin(), time.end(), std::int64_t{0}), length(work.all()));
}

TEST(KernelOverlap, NamesCombinations) {
  EXPECT_EQ(combination_name(1), "compute");
  EXPECT_EQ(combination_name(6), "communication and memory");
  EXPECT_EQ(combination_name(7), "compute and communication and memory");
}

}  // namespace
}  // namespace orrery
