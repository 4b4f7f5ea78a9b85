// All-reduces whose parts follow the links of their members: closed forms and published cases.
#include "lower/averaging_by_bandwidth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lower/random_plan.h"
#include "lower/stage_memory.h"
#include "lower/step_costs.h"
#include "plan/completed_plan.h"
#include "plan/plan_rules.h"

namespace orrery {
namespace {

// Of one byte, among members with links of so many bytes a second.
double of_a_byte(const std::vector<double>& rates) {
  const auto count = static_cast<double>(rates.size());
  std::vector<EqualMembers> members;
  for (const double rate : rates) {
    members.push_back({1, Seconds(2 * (count - 1) / (count * rate))});
  }
  return averaging_by_bandwidth(members).value();
}

TEST(AveragingByBandwidth, OfEqualLinksIsAnAllReduce) {
  for (const int members : {2, 3, 8, 24}) {
    const std::vector<double> rates(static_cast<std::size_t>(members), 0.5);
    EXPECT_DOUBLE_EQ(of_a_byte(rates), 2.0 * (members - 1) / members / 0.5);
  }
}

// All send once to the fast member, which has the sums, and receive once.
TEST(AveragingByBandwidth, WithOneFastMemberIsAParameterServer) {
  EXPECT_DOUBLE_EQ(of_a_byte({100, 0.5, 0.5, 0.5, 0.5}), 1 / 0.5);
  EXPECT_DOUBLE_EQ(of_a_byte({0.5, 0.25}), 1 / 0.25);
}

// The optimal parts of tests/test_averaging.py of learning-at-home/hivemind 4bd43b7, and what they
// take: the most of (1 + (K - 2) part) / rate.
TEST(AveragingByBandwidth, TakesWhatThePartsOfHivemindTake) {
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> cases = {
      {{0.25, 0.25, 0.25, 0.25}, {15, 15, 15, 15}},
      {{0.3, 0.5, 0.9}, {0, 255, 769}},
      {{0.44, 0.33, 0.22}, {42, 18, 0}},
      {{0.55, 0.44, 0.40}, {35, 16, 9}},
      {{0.3, 0.5, 0.9, 0.6}, {0, 169327, 602629, 276620}}};
  for (const auto& [rates, parts] : cases) {
    double all = 0;
    for (const double part : parts) all += part;
    double most = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const double share = parts[i] / all;
      most = std::max(most, (1 + (static_cast<double>(rates.size()) - 2) * share) / rates[i]);
    }
    EXPECT_NEAR(of_a_byte(rates) / most, 1, 0.01);  // parts are whole elements
  }
}

// Four peers with an accelerator each; the first has five times the link of the others.
RandomCase volunteers(std::string_view plan, const char* links =
                                                 "[1 Gb/s, 200 Mb/s, 200 Mb/s, "
                                                 "200 Mb/s]") {
  RandomCase out = stated_case(small_model("gpt-3-125m", 2), "v100-16gb-sxm2:4", plan, 128, 4);
  const auto document = parse_yaml(
      "name: volunteers\n"
      "sites: [\"v100-16gb-sxm2:1\", \"v100-16gb-sxm2:1\", \"v100-16gb-sxm2:1\", "
      "\"v100-16gb-sxm2:1\"]\n"
      "link_bandwidths: " +
          std::string(links) + "\nlink_round_trip_time: 1 us\nprovenance: {source: test}\n",
      "test.yaml");
  out.training.precision = NumberFormat::fp16;
  out.cluster = *read_cluster(*document, Catalog::built_in());
  return out;
}

struct VolunteerStep {
  explicit VolunteerStep(RandomCase asked)
      : c(std::move(asked)),
        cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in())),
        costs(step_costs(cache, c.plan)) {
    for (const auto& p : plan_problems(c.model, c.cluster, c.training, c.plan)) ADD_FAILURE() << p;
  }
  [[nodiscard]] double reduction() const { return costs.reduce({.dense = 1e8}).count(); }
  RandomCase c;
  CostCache cache;
  StepCosts costs;
};

// K = 4: the slow ones send and receive all once; equal parts take 2 (K - 1) / K = 1.5 times as
// long.
TEST(AveragingByBandwidth, SharesTheReductionOfGradients) {
  const VolunteerStep equal(volunteers("zero=0"));
  const VolunteerStep shared(volunteers("zero=0,averaging=by-bandwidth"));
  EXPECT_NEAR(equal.reduction() / shared.reduction(), 1.5, 1e-6);
  EXPECT_LT(lower_bound(shared.costs), lower_bound(equal.costs));
  // What each sends at its rate: 4 bytes of each gradient.
  EXPECT_GE(shared.reduction() * 1e-12, 4e8 / 25e6);
  EXPECT_LE(shared.reduction() * 1e-12, 4e8 / 25e6 * 1.25);
}

TEST(AveragingByBandwidth, OfLinksThatAreNearlyAlikeSharesEvenly) {
  constexpr auto kLinks = "[200 Mb/s, 200.001 Mb/s, 200 Mb/s, 200.001 Mb/s]";
  const VolunteerStep equal(volunteers("zero=0", kLinks));
  const VolunteerStep shared(volunteers("zero=0,averaging=by-bandwidth", kLinks));
  EXPECT_NEAR(equal.reduction() / shared.reduction(), 1, 1e-4);
}

// Averages of copies that take local steps are shared likewise, once in so many steps.
TEST(AveragingByBandwidth, SharesTheAverageOfLocalSteps) {
  const std::string local = "zero=0,shard_group=1,local_steps=10";
  const VolunteerStep equal(volunteers(local));
  const VolunteerStep shared(volunteers(local + ",averaging=by-bandwidth"));
  EXPECT_NEAR(equal.costs.outer.count() / shared.costs.outer.count(), 1.5, 0.01);
  EXPECT_EQ(stage_memory(equal.costs, 0).peak, stage_memory(shared.costs, 0).peak);
}

// What each computes of the average counts as well: of two, l40s has the slower memory, but v100
// the longer step. Links that are alike leave the price of communication as it is.
TEST(AveragingByBandwidth, WaitsForTheSiteThatComputesTheAverageSlowest) {
  const auto two = [](const char* plan) {
    RandomCase out = volunteers(plan);
    const auto document = parse_yaml(
        "name: two\nsites: [\"v100-16gb-sxm2:1\", \"l40s:1\"]\n"
        "link_bandwidths: [1 Gb/s, 1 Gb/s]\nlink_round_trip_time: 1 us\n"
        "provenance: {source: test}\n",
        "test.yaml");
    out.cluster = *read_cluster(*document, Catalog::built_in());
    out.plan.dp = 2;
    return out;
  };
  const VolunteerStep equal(two("zero=0,shard_group=1,local_steps=10"));
  const VolunteerStep shared(two("zero=0,shard_group=1,local_steps=10,averaging=by-bandwidth"));
  EXPECT_NEAR(shared.costs.outer.count() / equal.costs.outer.count(), 1, 1e-9);
  for (const StepCosts& site : shared.costs.sites) {
    EXPECT_GE(shared.costs.outer, shared.costs.price(shared.costs.outer_parts(), site));
  }
}

// Members of a site reduce among themselves first, of which the rates of links say nothing.
TEST(AveragingByBandwidth, IsRefusedForSitesOfSeveralMembers) {
  const auto problems = [](const char* plan) {
    const RandomCase c = stated_case(small_model("gpt-3-350m", 2),
                                     "h100-sxm:8+h200-sxm:8@metro-pair", plan, 1024, 16);
    return plan_problems(c.model, c.cluster, c.training, c.plan);
  };
  EXPECT_EQ(problems("zero=0,averaging=by-bandwidth"),
            std::vector<std::string>{
                "averaging=by-bandwidth divides all-reduces among sites with one member each; site "
                "h100-sxm:8 has 8, which reduce among themselves first: write averaging=all"});
  EXPECT_EQ(problems("tp=8,zero=0,averaging=by-bandwidth"), std::vector<std::string>{});
  EXPECT_EQ(problems("shard_group=8,averaging=by-bandwidth"), std::vector<std::string>{});
}

TEST(AveragingByBandwidth, NamesWhatWorks) {
  const auto problem = [](const char* on, const char* plan) {
    const RandomCase c = stated_case(small_model("llama-3-8b", 16), on, plan, 2048, 48);
    const auto all = plan_problems(c.model, c.cluster, c.training, c.plan);
    return all.empty() ? "" : all.front();
  };
  constexpr auto kOn = "l40s:8+a100-40gb-sxm:8@metro-pair";
  EXPECT_EQ(problem("h100-sxm:16", "zero=0,averaging=by-bandwidth"),
            "averaging=by-bandwidth needs sites that differ; with equal links write averaging=all");
  EXPECT_EQ(problem("l40s:8+a100-40gb-sxm:8@metro-pair",
                    "pp=2,placement=tp+cp+dp+pp,zero=0,averaging=by-bandwidth"),
            "averaging=by-bandwidth needs dp outermost in the placement; this has pp there");
  EXPECT_EQ(problem(kOn, "zero=1,averaging=by-bandwidth"),
            "averaging=by-bandwidth needs an all-reduce between sites: write zero=0 or "
            "shard_group, and leave out gradient_code");
  EXPECT_EQ(problem("l40s:8+a100-40gb-sxm:4@metro-pair",
                    "dp=12,zero=1,shard_group=6,averaging=by-bandwidth"),
            "averaging=by-bandwidth needs whole copies in each site: shard_group 6 does not divide "
            "the 8 replicas (dp x cp) of site l40s:8");
}

}  // namespace
}  // namespace orrery
