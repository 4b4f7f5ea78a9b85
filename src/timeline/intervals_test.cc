#include "timeline/intervals.h"

#include <gmock/gmock.h>

#include <random>

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kMoments = 64;

// The obvious form of a set, to compare with.
std::vector<bool> moments(std::span<const Interval> intervals) {
  std::vector<bool> in(kMoments);
  for (const Interval& i : intervals) {
    for (std::int64_t t = i.start; t < i.end; ++t) in[static_cast<std::size_t>(t)] = true;
  }
  return in;
}

Intervals of_moments(const std::vector<bool>& in) {
  Intervals set;
  for (std::int64_t t = 0; t < kMoments; ++t) {
    if (in[static_cast<std::size_t>(t)]) add_by_start(set, {t, t + 1});
  }
  return set;
}

std::vector<Interval> random_by_start(std::mt19937& random) {
  std::vector<Interval> list(std::uniform_int_distribution<std::size_t>(0, 8)(random));
  std::uniform_int_distribution<std::int64_t> moment(0, kMoments);
  for (Interval& i : list) {
    i.start = moment(random);
    i.end = std::min(kMoments, i.start + moment(random) / 6);
  }
  std::sort(list.begin(), list.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  return list;
}

TEST(Intervals, OverlappingAndTouchingOnesBecomeOne) {
  const std::vector<Interval> list = {{0, 5}, {1, 2}, {5, 7}, {9, 9}, {10, 12}};
  EXPECT_THAT(union_of(list), ElementsAre(Interval{0, 7}, Interval{10, 12}));
  EXPECT_EQ(length(union_of(list)), 9);
}

TEST(Intervals, WhatTwoKernelsShareIsOverlap) {
  const Intervals computing = {{0, 10}, {20, 30}};
  const Intervals sending = {{5, 25}};
  EXPECT_THAT(intersection(computing, sending), ElementsAre(Interval{5, 10}, Interval{20, 25}));
  EXPECT_THAT(difference(sending, computing), ElementsAre(Interval{10, 20}));
  EXPECT_THAT(clipped(computing, {8, 22}), ElementsAre(Interval{8, 10}, Interval{20, 22}));
  EXPECT_THAT(clipped(computing, {10, 20}), IsEmpty());
}

TEST(Intervals, AgreeWithSetsOfMomentsOnRandomLists) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<Interval> first = random_by_start(random);
    const std::vector<Interval> second = random_by_start(random);
    const std::vector<bool> in_a = moments(first);
    const std::vector<bool> in_b = moments(second);
    const Intervals a = union_of(first);
    const Intervals b = union_of(second);
    std::vector<bool> any(kMoments);
    std::vector<bool> both(kMoments);
    std::vector<bool> only_a(kMoments);
    for (std::size_t t = 0; t < any.size(); ++t) {
      any[t] = in_a[t] || in_b[t];
      both[t] = in_a[t] && in_b[t];
      only_a[t] = in_a[t] && !in_b[t];
    }
    ASSERT_EQ(a, of_moments(in_a));
    ASSERT_EQ(union_of(a, b), of_moments(any));
    ASSERT_EQ(intersection(a, b), of_moments(both));
    ASSERT_EQ(difference(a, b), of_moments(only_a));
    ASSERT_EQ(length(a), length(intersection(a, b)) + length(difference(a, b)));
  }
}

}  // namespace
}  // namespace orrery
