#include "units/picoseconds.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(Picoseconds, SecondsKeepEveryPicosecond) {
  EXPECT_EQ(exact_seconds(Picoseconds(0)), "0.0");
  EXPECT_EQ(exact_seconds(Picoseconds(1)), "0.000000000001");
  EXPECT_EQ(exact_seconds(Picoseconds(8412345678901)), "8.412345678901");
  EXPECT_EQ(exact_seconds(Picoseconds(8e12)), "8.0");
  EXPECT_EQ(exact_seconds(Picoseconds(-1.5e12)), "-1.5");
}

}  // namespace
}  // namespace orrery
