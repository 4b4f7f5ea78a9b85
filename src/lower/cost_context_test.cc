// What a cost context says it borrows.
#include "lower/cost_context.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

std::vector<std::string> assumed(const char* cluster) {
  return cost_context(*parse_cluster(cluster, Catalog::built_in()), Catalog::built_in())->assumed;
}

TEST(CostContext, SaysWhoseHostPathPcieCardsTake) {
  EXPECT_THAT(assumed("l40s:8"),
              testing::Contains(
                  "more than 2 l40s of a node meet in the memory of the host, at 6.57 GB/s each up "
                  "to 4 and 1.65 GB/s each beyond, as on the one server that "
                  "catalog/collectives/ada.yaml was fitted to; servers with a PCIe switch reach "
                  "23.7 GB/s (docs/models/collectives.md)"));
  const auto says = testing::Contains(testing::HasSubstr("memory of the host"));
  EXPECT_THAT(assumed("l40s:4"), says);
  EXPECT_THAT(assumed("l40s:2"), testing::Not(says));  // reach each other directly
  EXPECT_THAT(assumed("h100-sxm:8"), testing::Not(says));
}

}  // namespace
}  // namespace orrery
