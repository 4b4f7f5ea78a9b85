// What crosses between sites, on small models and clusters.
#include "search/across_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lower/random_plan.h"
#include "plan/completed_plan.h"
#include "plan/plan_rules.h"
#include "search/candidate.h"

namespace orrery {
namespace {

// Two sites of 16 GPUs; `bandwidth` of one to the other.
Scenario two_sites(BytesPerSecond bandwidth, Seconds latency) {
  Scenario s;
  s.model = small_model("llama-3-8b", 8);
  s.cluster = *parse_cluster("h100-sxm:16+h100-sxm:16@metro-pair", Catalog::built_in());
  FabricLevel& link = s.cluster.levels.back();
  link.transport = {};
  link.latency = latency;
  link.oversubscription = std::max(1.0, link.bandwidth * (link.efficiency * 16) / bandwidth);
  s.training.sequence_length = 4096;
  s.training.global_batch = 32;
  return s;
}

SearchSpace small_space() {
  SearchSpace space;
  space.tp = {1, 2};
  space.cp = {1, 2};
  space.pp = {1, 2, 4};
  space.micro_batch = {1, 2};
  space.zero = {1};
  space.recompute = {Recompute::none};
  space.schedules = {"1f1b", "interleaved_1f1b", "breadth_first"};
  space.placements = placements_across_sites();
  return space;
}

AcrossSites across(const Scenario& scenario, const SearchSpace& space = small_space(),
                   int threads = 1, const std::vector<LinkVariation>& variations = {}) {
  SearchOptions options;
  options.top = 1;
  options.threads = threads;
  const auto found = search(scenario, space, options, Catalog::built_in());
  EXPECT_TRUE(found) << found.error().text();
  auto out = search_across_sites(scenario, space, *found, options, Catalog::built_in(), variations);
  EXPECT_TRUE(out) << out.error().text();
  return **out;
}

TEST(AcrossSites, TheJointChoiceIsNoSlowerThanAnyOther) {
  const AcrossSites a = across(two_sites(BytesPerSecond(10e9), Seconds(1e-3)));
  EXPECT_EQ(a.sites, 2);
  EXPECT_EQ(a.level, "metro-pair");
  const Seconds best = a.best.estimate.step_time;
  EXPECT_LE(best, a.production.estimate.step_time);
  ASSERT_FALSE(a.one_axis.empty());
  for (const PlanAcrossSites& p : a.one_axis) {
    EXPECT_LE(best, p.estimate.step_time) << p.name;
    EXPECT_LE(p.estimate.step_time, a.production.estimate.step_time) << p.name;
  }
  if (a.together) {
    EXPECT_LE(best, a.together->estimate.step_time);
  }
  ASSERT_GE(a.outermost.size(), 2U);
  EXPECT_EQ(a.outermost.front().estimate.step_time, best);
  EXPECT_TRUE(std::ranges::is_sorted(
      a.outermost, {}, [](const PlanAcrossSites& p) { return p.estimate.step_time; }));
}

// A link that is as good as the network inside takes nothing.
TEST(AcrossSites, WithoutAPenaltyTheUsualPlanTakesAsLongAsInOneSite) {
  Scenario s = two_sites(BytesPerSecond(1e15), Seconds(0));
  const std::vector<FabricLevel>& levels = s.cluster.levels;
  s.cluster.levels.back().latency = levels[levels.size() - 2].latency;
  const AcrossSites a = across(s);
  EXPECT_NEAR(a.production.estimate.step_time / a.production_in_one_site, 1, 1e-9);
}

TEST(AcrossSites, OverAVerySlowLinkTheFewestBytesCross) {
  const AcrossSites a = across(two_sites(BytesPerSecond(1e8), Seconds(1e-3)));
  for (const PlanAcrossSites& p : a.outermost) EXPECT_LE(a.best.across, p.across) << p.name;
  for (const PlanAcrossSites& p : a.one_axis) EXPECT_LE(a.best.across, p.across) << p.name;
  EXPECT_LT(a.best.across, a.production.across);
}

TEST(AcrossSites, ASlowerLinkNeverHelps) {
  const AcrossSites a = across(two_sites(BytesPerSecond(20e9), Seconds(5e-3)));
  const Seconds best = a.best.estimate.step_time;
  for (const LinkChange& c : a.changes) {
    if (c.change == "half the bandwidth" || c.change == "ten times the latency") {
      EXPECT_GE(c.step_time, best) << c.change;
    }
    if (c.change == "twice the bandwidth") {
      EXPECT_LE(c.step_time, best);
    }
  }
  EXPECT_DOUBLE_EQ(a.needs.round_trip.value(), 10e-3);
  EXPECT_DOUBLE_EQ(a.needs.in_flight.value(), a.needs.rate.value() * 10e-3);
}

// The search over a varied link is the search over a cluster with that link.
TEST(AcrossSites, VariedLinksAreClustersWithThoseLinks) {
  SearchSpace space = small_space();
  space.tp = {2};
  space.cp = {1};
  space.micro_batch = {1};
  const AcrossSites a =
      across(two_sites(BytesPerSecond(20e9), Seconds(5e-3)), space, 1,
             {{"latency", {"10us", "5ms"}}, {"oversubscription", {"1", "16", "64"}}});
  ASSERT_EQ(a.varied.size(), 6U);
  EXPECT_THAT(a.varied[1].values, testing::ElementsAre("10us", "16"));
  for (std::size_t i = 0; i < a.varied.size(); ++i) {
    const VariedLink& link = a.varied[i];
    EXPECT_LE(link.best, link.best_alone);
    EXPECT_LE(link.best_alone, link.production);
    if (i % 3 > 0) {
      EXPECT_GE(link.best, a.varied[i - 1].best) << "less bandwidth";
    }
    if (i >= 3) {
      EXPECT_GE(link.best, a.varied[i - 3].best) << "more latency";
    }
  }
  Scenario s = two_sites(BytesPerSecond(20e9), Seconds(5e-3));
  s.cluster.levels.back().oversubscription = 16;
  EXPECT_EQ(across(s, space).best.estimate.step_time, a.varied[4].best);
}

TEST(AcrossSites, RefusesVariationsThatTheLinkDoesNotAllow) {
  const Scenario s = two_sites(BytesPerSecond(20e9), Seconds(5e-3));
  SearchSpace space = small_space();
  space.tp = {2};
  space.micro_batch = {1};
  const auto found = search(s, space, {}, Catalog::built_in());
  ASSERT_TRUE(found);
  const auto refusal = [&](const LinkVariation& variation) {
    const auto a = search_across_sites(s, space, *found, {}, Catalog::built_in(), {variation});
    return a ? "" : a.error().text();
  };
  EXPECT_THAT(refusal({"oversubscription", {"0.5"}}), testing::HasSubstr("oversubscription"));
  EXPECT_THAT(refusal({"colour", {"red"}}), testing::HasSubstr("colour"));
  EXPECT_THAT(refusal({"latency", std::vector<std::string>(401, "1us")}),
              testing::HasSubstr("more than 400"));
}

TEST(AcrossSites, TheResultDoesNotDependOnTheNumberOfThreads) {
  const Scenario s = two_sites(BytesPerSecond(10e9), Seconds(1e-3));
  const AcrossSites one = across(s, small_space(), 1);
  const AcrossSites two = across(s, small_space(), 2);
  EXPECT_EQ(one.best.estimate.plan, two.best.estimate.plan);
  ASSERT_EQ(one.one_axis.size(), two.one_axis.size());
  for (std::size_t i = 0; i < one.one_axis.size(); ++i) {
    EXPECT_EQ(one.one_axis[i].name, two.one_axis[i].name);
    EXPECT_EQ(one.one_axis[i].estimate.step_time, two.one_axis[i].estimate.step_time);
  }
}

TEST(AcrossSites, RefusesAClusterOfOneLevel) {
  Scenario s = two_sites(BytesPerSecond(10e9), Seconds(1e-3));
  s.cluster = *parse_cluster("h100-sxm:8", Catalog::built_in());
  SearchSpace space = small_space();
  SearchOptions options;
  options.top = 1;
  const auto found = search(s, space, options, Catalog::built_in());
  ASSERT_TRUE(found);
  const auto a = search_across_sites(s, space, *found, options, Catalog::built_in());
  ASSERT_FALSE(a);
  EXPECT_THAT(a.error().text(), testing::HasSubstr("one scale-up domain"));
  EXPECT_THAT(a.error().text(), testing::HasSubstr("@metro-pair"));
}

TEST(AcrossSites, IsLeftOutWhereTheSearchWasInterrupted) {
  const Scenario s = two_sites(BytesPerSecond(10e9), Seconds(1e-3));
  SearchOptions options;
  const auto found = search(s, small_space(), options, Catalog::built_in());
  ASSERT_TRUE(found);
  const std::atomic<bool> interrupted = true;
  options.interrupted = &interrupted;
  const auto a = search_across_sites(s, small_space(), *found, options, Catalog::built_in());
  ASSERT_TRUE(a);
  EXPECT_FALSE(*a);
}

// Each search gets a part of the time that is left, so that there is something to compare with.
TEST(AcrossSites, IsWhatWasFoundWhenALimitOfTimeStrikes) {
  const Scenario s = two_sites(BytesPerSecond(10e9), Seconds(1e-3));
  SearchSpace space = small_space();
  space.micro_batch = {1, 2, 4};
  space.zero = {};
  space.recompute = {};
  SearchOptions options;
  options.top = 1;
  options.threads = 1;
  const auto found = search(s, space, options, Catalog::built_in());
  ASSERT_TRUE(found);
  std::optional<AcrossSites> cut;
  for (int limit_ms = 25; limit_ms < 30'000; limit_ms *= 2) {  // a slow machine needs longer
    options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
    const auto a = search_across_sites(s, space, *found, options, Catalog::built_in(),
                                       {{"latency", {"1 ms", "10 ms"}}});
    ASSERT_TRUE(a) << a.error().text();
    if (*a) cut = **a;
    if (cut) break;
  }
  ASSERT_TRUE(cut);
  EXPECT_TRUE(cut->cut_short || cut->varied.size() == 2);
  EXPECT_LE(cut->best.estimate.step_time, cut->production.estimate.step_time);
  for (const PlanAcrossSites& p : cut->one_axis) {
    EXPECT_LE(cut->best.estimate.step_time, p.estimate.step_time) << p.name;
  }
}

// Stages of unequal numbers of layers, or replicas, on two generations of accelerators.
TEST(AcrossSites, SearchesSitesThatDiffer) {
  Scenario s = two_sites(BytesPerSecond(10e9), Seconds(1e-3));
  s.model = small_model("llama-3-8b", 16);
  s.cluster = *parse_cluster("h100-sxm:16+a100-80gb-sxm:32@metro-pair", Catalog::built_in());
  s.training.global_batch = 48;
  SearchSpace space = small_space();
  space.tp = {1, 2, 4};
  space.pp = {1, 3, 6};
  const AcrossSites a = across(s, space);
  EXPECT_EQ(a.sites, 2);
  EXPECT_LE(a.best.estimate.step_time, a.production.estimate.step_time);
  const auto pipeline = std::ranges::find(a.outermost, std::string("pp"), &PlanAcrossSites::name);
  ASSERT_NE(pipeline, a.outermost.end());
  EXPECT_FALSE(pipeline->estimate.plan.layers.empty());
  EXPECT_GT(pipeline->across, Bytes(0));
  Scenario even = s;
  even.plan = pipeline->estimate.plan;
  even.plan.layers.clear();
  const auto step = predict(even, Catalog::built_in());
  ASSERT_TRUE(step) << step.error().text();
  EXPECT_LT(pipeline->estimate.step_time, step->folded.time.seconds());
  EXPECT_TRUE(
      std::ranges::all_of(a.changes, [](const LinkChange& c) { return c.step_time > Seconds(0); }));
}

// A100s of 40 GB have no room for microbatches as large as those that H100s are fastest with.
TEST(AcrossSites, GivesEachSiteTheMicrobatchesOfItsMemory) {
  Scenario s = two_sites(BytesPerSecond(10e9), Seconds(1e-3));
  s.model = small_model("llama-3-8b", 32);
  s.cluster = *parse_cluster("h100-sxm:8+a100-40gb-sxm:8@metro-pair", Catalog::built_in());
  s.training.sequence_length = 8192;
  s.training.global_batch = 64;
  SearchSpace space = small_space();
  space.tp = {4};
  space.cp = space.pp = {1};
  space.micro_batch = {1, 2, 4, 8};
  SearchOptions options;
  options.top = 100;
  const auto found = search(s, space, options, Catalog::built_in());
  ASSERT_TRUE(found) << found.error().text();
  const auto sized = std::ranges::find_if(
      found->plans, [](const Estimate& e) { return !e.plan.site_micro_batch.empty(); });
  ASSERT_NE(sized, found->plans.end());
  EXPECT_GT(sized->plan.site_micro_batch[0], sized->plan.site_micro_batch[1]);
  EXPECT_EQ(sized->plan.micro_batch, 1);
  // Sizes are tried though an even part of the batch, 15 sequences, is a multiple of none but 1.
  s.training.global_batch = 60;
  const auto uneven = search(s, space, options, Catalog::built_in());
  ASSERT_TRUE(uneven) << uneven.error().text();
  EXPECT_TRUE(std::ranges::any_of(
      uneven->plans, [](const Estimate& e) { return !e.plan.site_micro_batch.empty(); }));
  s.training.global_batch = 64;
  // What somebody states stays.
  space.micro_batch = {1};
  const auto stated = search(s, space, options, Catalog::built_in());
  ASSERT_TRUE(stated) << stated.error().text();
  for (const Estimate& e : stated->plans) {
    EXPECT_TRUE(e.plan.site_micro_batch.empty());
  }
}

// Recomputation is solved for the sizes that the sites have, and is no worse than none where that
// fits.
TEST(AcrossSites, SolvesTheRecomputationOfSizedMicrobatches) {
  Scenario s = two_sites(BytesPerSecond(10e9), Seconds(1e-3));
  s.model = small_model("llama-3-8b", 32);
  s.cluster = *parse_cluster("h100-sxm:8+a100-40gb-sxm:8@metro-pair", Catalog::built_in());
  s.training.sequence_length = 8192;
  s.training.global_batch = 64;
  SearchSpace space = small_space();
  space.tp = {4};
  space.cp = space.pp = {1};
  space.micro_batch = {1, 2, 4, 8};
  space.recompute = {Recompute::optimal};
  SearchOptions options;
  options.top = 100;
  const auto found = search(s, space, options, Catalog::built_in());
  ASSERT_TRUE(found) << found.error().text();
  int sized = 0;
  for (const Estimate& e : found->plans) {
    if (e.plan.site_micro_batch.empty()) continue;
    ++sized;
    // Solved once more for this division alone, the recomputation makes a step of the same time.
    Scenario other = s;
    other.plan = e.plan;
    other.plan.recompute = Recompute::optimal;
    other.plan.recompute_layers = 0;
    other.plan.recompute_modules.clear();
    const auto solved = predict(other, Catalog::built_in());
    ASSERT_TRUE(solved) << solved.error().text();
    EXPECT_EQ(e.step_time, solved->folded.time.seconds()) << to_text(e.plan);
  }
  EXPECT_GT(sized, 0);
  space.recompute = {Recompute::none};
  const auto kept = search(s, space, options, Catalog::built_in());
  ASSERT_TRUE(kept) << kept.error().text();
  EXPECT_LE(found->plans.front().step_time, kept->plans.front().step_time);
}

// Neighbours are those of the site whose microbatches are the fewest, and of the largest of them.
TEST(AcrossSites, NeighboursFollowTheMicrobatchesOfEachSite) {
  Scenario s = two_sites(BytesPerSecond(10e9), Seconds(1e-3));
  s.cluster = *parse_cluster("h100-sxm:8+a100-40gb-sxm:8@metro-pair", Catalog::built_in());
  s.training.global_batch = 80;
  const CompletedPlan completed =
      completed_plan(s.model, s.cluster, s.training,
                     *parse_plan("pp=4,chunks=2,placement=tp+cp+pp+dp,site_micro_batch=4+1"));
  ASSERT_TRUE(plan_problems(s.model, s.cluster, completed.training, completed.plan).empty());
  std::int64_t group = 0;
  std::int64_t tiles = 0;
  for (const Plan& p : neighbours(completed.plan, s, small_space())) {
    group = std::max(group, p.group);
    tiles = std::max(tiles, p.loss_tiles);
  }
  EXPECT_EQ(group, 8);  // 80 / (2 x 4 + 2 x 1) microbatches
  EXPECT_EQ(tiles, 4);  // 4 x 4096 tokens / a width of 4096
}

TEST(SpeedUp, HasTwoDefinitions) {
  const SpeedUp s = speed_up(Seconds(3), Seconds(2));
  EXPECT_DOUBLE_EQ(s.over_new, 0.5);
  EXPECT_DOUBLE_EQ(s.of_old, 1.0 / 3);
}

TEST(Placements, KeepTensorParallelismInnermostAndAreDistinct) {
  auto placements = placements_across_sites();
  EXPECT_EQ(placements.size(), 6U);
  for (const auto& p : placements) EXPECT_EQ(p.front(), MeshAxis::tp);
  std::ranges::sort(placements);
  EXPECT_TRUE(std::ranges::adjacent_find(placements) == placements.end());
}

}  // namespace
}  // namespace orrery
