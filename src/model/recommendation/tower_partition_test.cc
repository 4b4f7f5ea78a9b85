#include "model/recommendation/tower_partition.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>

namespace orrery {
namespace {

using ::testing::HasSubstr;

// Features of `groups` kinds in a mixed order: alike to `near` within a kind, to `far` otherwise.
Similarities kinds(std::size_t features, std::size_t groups, double near, double far) {
  Similarities s;
  for (std::size_t i = 0; i < features; ++i) s.features.push_back(fmt::format("f{}", i));
  for (std::size_t i = 0; i < features; ++i) {
    for (std::size_t j = 0; j < features; ++j) {
      s.values.push_back(i == j ? 1 : i % groups == j % groups ? near : far);
    }
  }
  return s;
}

Similarities random_similarities(std::size_t features, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<std::array<double, 4>> vectors(features);
  for (auto& v : vectors) {
    double length = 0;
    for (double& x : v) {
      x = normal(random);
      length += x * x;
    }
    for (double& x : v) x /= std::sqrt(length);
  }
  Similarities s;
  for (std::size_t i = 0; i < features; ++i) {
    s.features.push_back(fmt::format("f{}", i));
    for (std::size_t j = 0; j < features; ++j) {
      double cosine = 0;
      for (std::size_t k = 0; k < 4; ++k) cosine += vectors[i][k] * vectors[j][k];
      s.values.push_back(i == j ? 1 : std::clamp(cosine, -1., 1.));
    }
  }
  return s;
}

std::vector<std::size_t> sizes(const TowerPartition& p, std::size_t towers) {
  std::vector<std::size_t> out(towers);
  for (const std::int64_t t : p.tower) ++out.at(static_cast<std::size_t>(t));
  return out;
}

TEST(TowerPartition, PutsFeaturesThatAreAlikeInATower) {
  for (const std::size_t groups : {2u, 3u}) {
    const Similarities s = kinds(12 * groups, groups, 0.9, 0.1);
    const auto p = partition_towers(s, static_cast<std::int64_t>(groups), TowerStrategy::coherent);
    ASSERT_TRUE(p);
    for (std::size_t i = 0; i < s.features.size(); ++i) {
      EXPECT_EQ(p->tower[i], p->tower[i % groups]) << i;
    }
    EXPECT_NEAR(*p->inside, 0.9, 1e-12);
    EXPECT_NEAR(*p->across, 0.1, 1e-12);
  }
}

// Sizes differ by at most one and towers do not depend on the run; features of a tower are more
// alike than under any of a hundred random divisions, or less alike where that is asked.
TEST(TowerPartition, IsBalancedAndBetterThanChance) {
  std::mt19937 random(7);
  for (int run = 0; run < 20; ++run) {
    const std::size_t n = 10 + static_cast<std::size_t>(random() % 40);
    const std::size_t towers = 2 + static_cast<std::size_t>(random() % 6);
    const Similarities s = random_similarities(n, random);
    for (const TowerStrategy strategy : {TowerStrategy::coherent, TowerStrategy::diverse}) {
      const auto p = partition_towers(s, static_cast<std::int64_t>(towers), strategy);
      ASSERT_TRUE(p);
      const auto [least, most] = std::ranges::minmax(sizes(*p, towers));
      EXPECT_LE(most - least, 1u);
      EXPECT_EQ(p->tower, partition_towers(s, static_cast<std::int64_t>(towers), strategy)->tower);
      std::vector<std::int64_t> shuffled = p->tower;
      double chance = 0;
      for (int i = 0; i < 100; ++i) {
        std::ranges::shuffle(shuffled, random);
        double inside = 0;
        double pairs = 0;
        for (std::size_t a = 0; a < n; ++a) {
          for (std::size_t b = 0; b < a; ++b) {
            if (shuffled[a] != shuffled[b]) continue;
            inside += std::abs(s.at(a, b));
            pairs += 1;
          }
        }
        chance += inside / pairs / 100;
      }
      if (strategy == TowerStrategy::coherent) {
        EXPECT_GT(p->inside, chance);
      } else {
        EXPECT_LT(p->inside, chance);
      }
    }
  }
}

TEST(TowerPartition, AsManyTowersAsFeaturesHaveOneEach) {
  std::mt19937 random(3);
  const auto p = partition_towers(random_similarities(9, random), 9, TowerStrategy::diverse);
  ASSERT_TRUE(p);
  EXPECT_EQ(std::set<std::int64_t>(p->tower.begin(), p->tower.end()).size(), 9u);
  EXPECT_FALSE(p->inside);  // no tower has two features
  EXPECT_GT(p->across, 0);
}

// An exchange and its reverse must not both gain, or they follow each other for ever.
TEST(TowerPartition, EndsWhereAMatrixIsSymmetricOnlyAlmost) {
  const auto table = parse_comma_separated("a,b\n1,0.5000005\n0.5,0.9999995\n", "s.csv");
  ASSERT_TRUE(table);
  const auto s = similarities_of(*table);
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_EQ(s->at(0, 1), s->at(1, 0));
  EXPECT_EQ(s->at(1, 1), 1);
  for (const TowerStrategy strategy : {TowerStrategy::coherent, TowerStrategy::diverse}) {
    EXPECT_TRUE(partition_towers(*s, 2, strategy));
  }
}

std::string refused(const std::string& text) {
  const auto table = parse_comma_separated(text, "s.csv");
  if (!table) return table.error().text();
  const auto s = similarities_of(*table);
  return s ? "" : s.error().text();
}

TEST(TowerPartition, RefusesWhatIsNoMatrixOfSimilarities) {
  EXPECT_EQ(refused("a,b\n1,0.5\n0.5,1\n"), "");
  EXPECT_THAT(refused("a,b\n1,0.5\n"), HasSubstr("1 rows of 2 features"));
  EXPECT_THAT(refused("a,b\n1,0.5\n0.4,1\n"),
              HasSubstr("the similarity of b and a is 0.4, that of a and b is 0.5"));
  EXPECT_THAT(refused("a,b\n1,x\nnan,1\n"),
              AllOf(HasSubstr("line 2: 'x' is not a similarity"), HasSubstr("line 3: 'nan'")));
  EXPECT_THAT(refused("a,b\n0.9,0\n0,1\n"),
              HasSubstr("the similarity of a to itself is 0.9, not 1"));
  EXPECT_THAT(refused("a,b\n1,2\n2,1\n"), HasSubstr("'2' is not a similarity from -1 to 1"));
  const auto few = partition_towers(kinds(4, 2, 1, 0), 5, TowerStrategy::coherent);
  ASSERT_FALSE(few);
  EXPECT_THAT(few.error().text(), HasSubstr("5 towers cannot be made of 4 features"));
}

}  // namespace
}  // namespace orrery
