#include "cost/collective/tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cost/collective/collective_test_platform.h"

namespace orrery {
namespace {

using namespace collective_test;

TEST(Tree, CorrectionIsThePublishedTable) {
  EXPECT_EQ(tree_correction(Bytes(64), Protocol::low_latency), 1.0);
  EXPECT_EQ(tree_correction(Bytes(64 * 4096), Protocol::low_latency), 0.4);
  EXPECT_EQ(tree_correction(Bytes(64 * 4096), Protocol::simple), 0.5);
  EXPECT_EQ(tree_correction(Bytes(64.0 * (1 << 23)), Protocol::simple), 0.9);
  EXPECT_EQ(tree_correction(Bytes(64.0 * (1 << 24)), Protocol::simple), 1.0);
}

TEST(Tree, CorrectedBytesAreTheLeastMonotoneCurveAboveTheTable) {
  for (const Protocol protocol :
       {Protocol::low_latency, Protocol::low_latency_128, Protocol::simple}) {
    double greatest = 0;
    for (double bytes = 1; bytes < 8 * kGi; bytes *= 1.0005) {
      greatest = std::max(greatest, bytes / tree_correction(Bytes(bytes), protocol));
      const double corrected = corrected_tree_bytes(Bytes(bytes), protocol).value();
      ASSERT_GE(corrected, greatest * (1 - 1e-12)) << bytes;
      ASSERT_LE(corrected, greatest * 1.001) << bytes;  // a bin's end is not among the samples
    }
  }
}

}  // namespace
}  // namespace orrery
