// What a paired forward and backward take, between its bounds.
#include "lower/paired_pass.h"

#include <gtest/gtest.h>

#include <random>

#include "catalog/catalog.h"
#include "cluster/cluster.h"
#include "lower/cost_context.h"

namespace orrery {
namespace {

CostContext h100_costs() {
  const Catalog& catalog = Catalog::built_in();
  return *cost_context(*parse_cluster("h100-sxm:8", catalog), catalog);
}

Breakdown pass(double computing, double all_to_all, double tensor) {
  Breakdown b;
  b[Category::experts] = Picoseconds(computing);
  b[Category::exposed_ep] = Picoseconds(all_to_all);
  b[Category::exposed_tp] = Picoseconds(tensor);
  return b;
}

TEST(PairedPass, HidesAllToAllsBehindTheOtherHalf) {
  const CostContext costs = h100_costs();
  const PairedPass p = paired_pass(pass(100, 40, 7), pass(200, 60, 5), 0, costs);
  EXPECT_EQ(p.time, Picoseconds(312));
  EXPECT_EQ(p.breakdown[Category::exposed_ep], Picoseconds(0));
  EXPECT_EQ(p.breakdown[Category::exposed_tp], Picoseconds(12));
  // More than the other half computes cannot be hidden.
  EXPECT_EQ(paired_pass(pass(10, 300, 0), pass(200, 60, 0), 0, costs).time,
            Picoseconds(570 - 200 - 10));
}

TEST(PairedPass, IsNeverFasterThanComputingNorSlowerThanTheHalves) {
  const CostContext costs = h100_costs();
  std::mt19937 random(7);
  const auto draw = [&] { return static_cast<double>(random() % 1000); };
  for (int i = 0; i < 1000; ++i) {
    const Breakdown f = pass(draw(), draw(), draw());
    const Breakdown b = pass(draw(), draw(), draw());
    const PairedPass p = paired_pass(f, b, draw() / 2000, costs);
    EXPECT_EQ(p.time, p.breakdown.total());
    EXPECT_LE(p.time, f.total() + b.total());
    EXPECT_GE(p.time, f[Category::experts] + b[Category::experts]);
  }
}

}  // namespace
}  // namespace orrery
