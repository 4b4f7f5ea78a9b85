#include "whatif/even_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "trace/hand_made_step.h"
#include "whatif/stragglers.h"
#include "whatif/traced_run.h"

namespace orrery {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kUs = 1000;

// What a rank does between two all-reduces, in microseconds.
struct Stretch {
  std::int64_t host = 20;
  std::int64_t product = 40;
};

// Ranks that meet in an all-reduce after each of their stretches, written as devices that work in
// order and meet would have recorded it.
TracedRun run_of(const std::vector<std::vector<Stretch>>& ranks) {
  constexpr std::int64_t kLaunch = 5;
  constexpr std::int64_t kTransfer = 15;
  struct Called {
    std::int64_t product = 0;
    std::int64_t reduction = 0;
  };
  const std::size_t stretches = ranks[0].size();
  std::vector<std::vector<Called>> called(ranks.size());
  std::vector<std::int64_t> host(ranks.size(), 0);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const Stretch& s : ranks[r]) {
      host[r] += s.host;
      called[r].push_back({host[r], host[r] + 1});
      host[r] += 2;
    }
  }
  std::vector<HandMadeStep> steps(ranks.size());
  std::vector<std::int64_t> device(ranks.size(), 0);
  for (std::size_t k = 0; k < stretches; ++k) {
    std::int64_t meet = 0;
    std::vector<std::int64_t> arrival(ranks.size(), 0);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const std::int64_t start = std::max(device[r], called[r][k].product + kLaunch);
      steps[r].launch("aten::mm", "", "gemm", called[r][k].product * kUs, start * kUs,
                      ranks[r][k].product * kUs);
      arrival[r] = std::max(start + ranks[r][k].product, called[r][k].reduction + kLaunch);
      meet = std::max(meet, arrival[r]);
    }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      device[r] = meet + kTransfer;
      steps[r].launch("c10d::allreduce_", "", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                      called[r][k].reduction * kUs, arrival[r] * kUs,
                      (device[r] - arrival[r]) * kUs);
    }
  }
  std::vector<RecordedTrace> traces;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::int64_t end = std::max(host[r], device[r]) + 1;
    steps[r].window(1, 0, (end + 1) * kUs);
    steps[r].synchronize(host[r] * kUs, end * kUs);
    traces.push_back(steps[r].trace());
    traces.back().rank = static_cast<std::int64_t>(r);
    traces.back().world_size = static_cast<std::int64_t>(ranks.size());
  }
  return traced(std::move(traces));
}

// Every rank is late once: over the step all take the same time.
std::vector<std::vector<Stretch>> late_in_turns() {
  std::vector<std::vector<Stretch>> ranks(4, std::vector<Stretch>(4));
  for (std::size_t r = 0; r < 4; ++r) ranks[r][r].product = 100;
  return ranks;
}

TEST(Even, RanksAlikeStayAsTheyWere) {
  const std::vector<Stretch> rank = {{20, 70}, {50, 30}, {10, 40}};
  const TracedRun run = run_of({rank, rank, rank});
  const ReplayedRun replayed = replayed_run(run.graph);
  for (const char* text : {"even", "even host", "even class matrix_product", "even rank 1"}) {
    const WhatIf result = changed(run, text);
    EXPECT_EQ(result.timeline.start_ns, replayed.start_ns) << text;
    EXPECT_EQ(result.timeline.end_ns, replayed.end_ns) << text;
    EXPECT_EQ(result.edits[0].changed, 0u) << text;
  }
}

TEST(Even, RanksThatAreLateInTurnsGainWhatTheyWait) {
  // Each stretch takes its mean, 55, instead of its maximum, 100: max - mean, which is what a rank
  // waits on average.
  const TracedRun run = run_of(late_in_turns());
  const WhatIf even = changed(run, "even");
  EXPECT_NEAR(microseconds(even.before - even.after), 4 * 45, 4);
  EXPECT_NEAR(microseconds(even.waiting_before), 4 * 45, 4);
  // Ranks below the mean, at 40, still wait for the one that takes it: 3/4 of 15.
  EXPECT_NEAR(microseconds(even.waiting_after), 4 * 0.75 * 15, 4);
}

TEST(Even, AttributesByWhatRemains) {
  const TracedRun run = run_of(late_in_turns());
  const auto found = stragglers(run.traces, run.graph);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->ranks.size(), 4u);
  for (const StragglerGain& rank : found->ranks) {
    EXPECT_NEAR(microseconds(rank.gain), 45, 4) << rank.what;
    EXPECT_NEAR(microseconds(rank.remains), 45, 4) << rank.what;
  }
  for (const StragglerGain& kind : found->kinds) {
    const double expected = kind.what == "matrix_product" ? 4 * 45 : 0;
    EXPECT_NEAR(microseconds(kind.gain), expected, 5) << kind.what;
    EXPECT_NEAR(microseconds(kind.remains), expected, 5) << kind.what;
  }
}

TEST(WaitingCauses, AreBookedOnTheRankThatComesLast) {
  // Each rank is late by 60 once, and three wait for it.
  const TracedRun run = run_of(late_in_turns());
  const auto found = stragglers(run.traces, run.graph);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->waiting.size(), 4u);
  for (const RankWaiting& rank : found->waiting) {
    EXPECT_EQ(rank.arrived_last, 1);
    EXPECT_NEAR(microseconds(rank.waited), 3 * 60, 4);
    EXPECT_NEAR(microseconds(rank.caused), 3 * 60, 4);
  }
  // One alone is late: it waits for nobody.
  std::vector<std::vector<Stretch>> one(3, std::vector<Stretch>(2));
  one[1][0].product = one[1][1].product = 100;
  const TracedRun late = run_of(one);
  const auto causes = waiting_causes(late.graph, replayed_run(late.graph), 3);
  EXPECT_EQ(causes[1].arrived_last, 2);
  EXPECT_NEAR(microseconds(causes[1].caused), 2 * 2 * 60, 4);
  EXPECT_NEAR(microseconds(causes[1].waited), 0, 2);
  EXPECT_NEAR(microseconds(causes[0].caused), 0, 2);
}

TEST(Even, HostsAreEvenedWhereTheyAreTheLimit) {
  // 200 and 100 launch 150 and 100, so that the slower comes 50 earlier; then the other one.
  const TracedRun run = run_of({{{200, 10}, {100, 10}}, {{100, 10}, {200, 10}}});
  EXPECT_NEAR(after(run, "") - after(run, "even host"), 50, 6);
  EXPECT_NEAR(after(run, "even class matrix_product"), after(run, ""), 1);
}

TEST(Even, OrderAndRepetitionDoNotMatter) {
  const TracedRun run = run_of(late_in_turns());
  const WhatIf even = changed(run, "even");
  for (const char* text :
       {"even; even", "even rank 2; even rank 0; even rank 3; even rank 1",
        "even rank 0; even rank 1; even rank 2; even rank 3; even rank 0",
        "even host; even class matrix_product", "even class matrix_product; even host"}) {
    EXPECT_EQ(changed(run, text).timeline.end_ns, even.timeline.end_ns) << text;
  }
  // What is edited in between is compared anew.
  EXPECT_LT(after(run, "even; scale rank 0 by 2; even"), after(run, "even; scale rank 0 by 2"));
}

TEST(Even, SaysWhyOneRankAloneIsUnchanged) {
  const TracedRun run = run_of({{{20, 40}, {20, 50}}});
  const WhatIf even = changed(run, "even");
  ASSERT_EQ(even.edits[0].assumed.size(), 1u);
  EXPECT_THAT(even.edits[0].assumed[0], HasSubstr("one rank is recorded: there is no other"));
  EXPECT_EQ(even.after, even.before);
}

}  // namespace
}  // namespace orrery
