#include "parallel/parallel_for.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace orrery {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnceOnAnyNumberOfThreads) {
  for (const int threads : {1, 2, 7, 100}) {
    std::vector<int> visits(50);
    parallel_for(visits.size(), threads, [&](std::size_t i) { ++visits[i]; });
    EXPECT_EQ(visits, std::vector<int>(50, 1)) << threads << " threads";
  }
  parallel_for(0, 2, [](std::size_t) { FAIL() << "there is nothing to do"; });
}

TEST(ParallelFor, HandsOnAnException) {
  EXPECT_THROW(parallel_for(10, 2,
                            [](std::size_t i) {
                              if (i == 3) throw std::runtime_error("index 3");
                            }),
               std::runtime_error);
}

}  // namespace
}  // namespace orrery
