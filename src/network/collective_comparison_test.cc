#include "network/collective_comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "catalog/catalog.h"
#include "cluster/told_apart.h"

namespace orrery {
namespace {

CollectiveQuestion question_of(CollectiveKind kind, Bytes payload) {
  CollectiveQuestion out;
  out.kind = kind;
  out.payload = payload;
  return out;
}

CollectiveComparison compared(const Cluster& cluster, const CollectiveQuestion& question) {
  auto out = compare_collective(cluster, Catalog::built_in(), question);
  EXPECT_TRUE(out) << out.error().text();
  return std::move(*out);
}

TEST(CollectiveComparison, OfEqualSitesToldApartIsThatOfTheEvenCase) {
  const Cluster sites = *parse_cluster("h100-sxm:16+h100-sxm:16@metro-pair", Catalog::built_in());
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    const CollectiveComparison even = compared(sites, question_of(kind, Bytes(1e8)));
    const CollectiveComparison apart = compared(told_apart(sites), question_of(kind, Bytes(1e8)));
    EXPECT_EQ(apart.library.time, even.library.time);
    ASSERT_EQ(apart.algorithms.size(), even.algorithms.size());
    for (const AlgorithmTimes& one : even.algorithms) {
      const auto same =
          std::ranges::find(apart.algorithms, one.algorithm, &AlgorithmTimes::algorithm);
      ASSERT_NE(same, apart.algorithms.end());
      EXPECT_EQ(same->closed_form, one.closed_form) << to_text(one.algorithm);
      EXPECT_NEAR(same->flows / one.flows, 1, 1e-9) << to_text(one.algorithm);
      EXPECT_EQ(same->busiest, one.busiest) << to_text(one.algorithm);
    }
  }
}

// Whatever the algorithm, what the other site has must come in over the link, and the library
// chooses as in the site where it takes longest.
TEST(CollectiveComparison, OfSitesThatDifferCrossesTheLink) {
  for (const std::string name :
       {"h100-sxm:16+a100-80gb-sxm:32@metro-pair", "gb200:16+h100-sxm:32@metro-pair",
        "h100-sxm:16+mi300x:32@metro-pair"}) {
    const Cluster sites = *parse_cluster(name, Catalog::built_in());
    const CollectiveComparison gather =
        compared(sites, question_of(CollectiveKind::all_gather, Bytes(4e9)));
    const Seconds over_link = Bytes(4e9) * (32.0 / 48) / BytesPerSecond(50e9);
    for (const AlgorithmTimes& one : gather.algorithms) {
      EXPECT_NE(one.algorithm, ProgramAlgorithm::in_switch) << name;
      EXPECT_GE(one.flows, over_link) << name << to_text(one.algorithm);
    }
    const auto ring =
        std::ranges::find(gather.algorithms, ProgramAlgorithm::ring, &AlgorithmTimes::algorithm);
    ASSERT_NE(ring, gather.algorithms.end()) << name;
    EXPECT_NEAR(ring->flows / *ring->closed_form, 1, 0.1) << name;
  }
}

TEST(CollectiveComparison, OfAPartOfTheSitesIsRefused) {
  const Cluster sites =
      *parse_cluster("h100-sxm:16+a100-80gb-sxm:32@metro-pair", Catalog::built_in());
  CollectiveQuestion question = question_of(CollectiveKind::all_reduce, Bytes(1e8));
  question.ranks = 24;
  const auto refused = compare_collective(sites, Catalog::built_in(), question);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "24 ranks fill a part of the sites of h100-sxm:16+a100-80gb-sxm:32@metro-pair");
  EXPECT_EQ(refused.error().hint, "all 48, or at most 16, which the first site has");
  // Those of the first site alone are its own affair.
  question.ranks = 16;
  const CollectiveComparison first = compared(sites, question);
  const CollectiveComparison alone = compared(*parse_cluster("h100-sxm:16", Catalog::built_in()),
                                              question_of(CollectiveKind::all_reduce, Bytes(1e8)));
  EXPECT_EQ(first.library.time, alone.library.time);
  EXPECT_NEAR(first.algorithms.front().flows / alone.algorithms.front().flows, 1, 1e-9);
}

}  // namespace
}  // namespace orrery
