// Steps on sites that differ: stages and replicas with the prices of their own site.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/told_apart.h"
#include "lower/division_by_speed.h"
#include "lower/price.h"
#include "lower/random_plan.h"
#include "lower/stage_memory.h"
#include "lower/step_graph.h"
#include "lower/step_window.h"
#include "plan/completed_plan.h"
#include "plan/site_division.h"
#include "simulate/simulate.h"

namespace orrery {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Cluster cluster(const std::string& text) { return *parse_cluster(text, Catalog::built_in()); }

struct Step {
  Step(RandomCase asked, const Cluster& on)
      : question(std::move(asked)),
        cache(question.model, question.training,
              *cost_context(on, Catalog::built_in(), question.software)),
        costs(step_costs(cache, question.plan)) {}
  [[nodiscard]] Picoseconds time(Folding folding = Folding::folded) const {
    const auto graph = step_graph(costs, folding);
    EXPECT_TRUE(graph) << to_text(question.plan);
    return step_time(windows(costs, *graph, simulate(graph->graph)));
  }

  RandomCase question;
  CostCache cache;
  StepCosts costs;
};

// A random plan of 32 accelerators that is valid on this cluster.
RandomCase random_across(std::mt19937& random, const Cluster& on) {
  for (;;) {
    auto drawn = random_case(random);
    if (!drawn || drawn->cluster.accelerators != 32) continue;
    drawn->cluster = on;
    if (plan_problems(drawn->model, on, drawn->training, drawn->plan).empty()) return *drawn;
  }
}

TEST(DifferingSites, EqualSitesToldApartAreTheEvenCaseToTheBit) {
  const Cluster even = cluster("h100-sxm:16+h100-sxm:16@metro-pair");
  ASSERT_TRUE(even.further_sites.empty());
  const Cluster apart = told_apart(even);
  std::mt19937 random(14);
  int pipelines = 0;
  for (int i = 0; i < 150; ++i) {
    const RandomCase c = random_across(random, apart);
    const Step a(c, even);
    const Step b(c, apart);
    pipelines += b.costs.device_site.empty() ? 0 : 1;
    ASSERT_EQ(lower_bound(a.costs), lower_bound(b.costs)) << to_text(c.plan);
    ASSERT_EQ(a.time(), b.time()) << to_text(c.plan);
    for (int d = 0; d < a.costs.shape.devices; ++d) {
      ASSERT_EQ(stage_memory(a.costs, d).peak, stage_memory(b.costs, d).peak) << to_text(c.plan);
      ASSERT_EQ(a.costs.memory_capacity(d), b.costs.memory_capacity(d));
    }
  }
  EXPECT_GT(pipelines, 20);
  EXPECT_LT(pipelines, 130);
}

// The second of two sites computes and moves memory at half the rate.
TEST(DifferingSites, ASlowerSiteNeverMakesAStepFasterNorSlowerThanIfAllWereSlow) {
  const Cluster fast = cluster("h100-sxm:16+h100-sxm:16@metro-pair");
  const auto slowed = [](Accelerator& a) {
    a.peaks.bf16 = *a.peaks.bf16 * 0.5;
    a.achieved = {};
    a.memory.bandwidth = a.memory.bandwidth * 0.5;
  };
  Cluster mixed = told_apart(fast);
  slowed(mixed.further_sites.front().accelerator);
  Cluster slow = fast;
  slowed(slow.accelerator);
  std::mt19937 random(41);
  for (int i = 0; i < 100; ++i) {
    RandomCase c = random_across(random, mixed);
    // A host that holds up both passes of a block books its lead on the one that falls behind.
    c.software.host.kernel = c.software.host.product = c.software.host.collective = Seconds(0);
    const Step between(c, mixed);
    const Picoseconds time = between.time();
    ASSERT_EQ(time, between.time(Folding::expanded)) << to_text(c.plan);
    ASSERT_GE(time, lower_bound(between.costs)) << to_text(c.plan);
    if (between.costs.schedule->made_for_times) continue;  // another order
    ASSERT_GE(time, Step(c, fast).time()) << to_text(c.plan);
    ASSERT_LE(time, Step(c, slow).time()) << to_text(c.plan);
  }
}

// 1F1B on two stages, the second the slower: it starts when the first forward has arrived, and never
// waits again; then the last gradient travels back.
TEST(DifferingSites, TwoStagesTakeWhatAHandComputes) {
  const RandomCase c = stated_case(small_model("llama-3-8b", 8),
                                   "h100-sxm:8+a100-80gb-sxm:8@metro-pair", "tp=8,pp=2", 4096, 16);
  const Step mixed(c, c.cluster);
  const Step of_h100(c, cluster("h100-sxm:8+h100-sxm:8@metro-pair"));
  const Step of_a100(c, cluster("a100-80gb-sxm:8+a100-80gb-sxm:8@metro-pair"));
  const VirtualStage& first = mixed.costs.stages[0];
  const VirtualStage& second = mixed.costs.stages[1];
  EXPECT_EQ(first.totals.forward, of_h100.costs.stages[0].totals.forward);
  EXPECT_EQ(first.totals.backward, of_h100.costs.stages[0].totals.backward);
  EXPECT_EQ(second.totals.forward, of_a100.costs.stages[1].totals.forward);
  EXPECT_EQ(second.totals.backward, of_a100.costs.stages[1].totals.backward);
  ASSERT_GT(second.totals.forward, first.totals.forward);
  const Picoseconds hop = std::max(of_h100.costs.transfer[0], of_a100.costs.transfer[0]);
  EXPECT_EQ(mixed.costs.transfer[0], hop);
  const Picoseconds by_hand = first.totals.forward + hop +
                              (second.totals.forward + second.totals.backward) * 16 + hop +
                              first.totals.backward + mixed.costs.gradient_norm +
                              std::max(of_h100.costs.optimizer[0], of_a100.costs.optimizer[1]);
  EXPECT_EQ(mixed.time(), by_hand);
}

// Each site holds as many stages as it has room for, and its own levels say where messages travel.
TEST(DifferingSites, MayDifferInSizeAndNodes) {
  const RandomCase c = stated_case(small_model("llama-3-8b", 12), "h100-sxm:16+l40s:32@metro-pair",
                                   "tp=4,pp=6", 4096, 16);
  const Step step(c, c.cluster);
  EXPECT_THAT(step.costs.device_site, ElementsAre(0, 0, 1, 1, 1, 1));
  const auto level = [&](int i) {
    const RankLayout& layout = *step.costs.at(i).layout;
    return step.costs.at(i)
        .cache->context()
        .cluster.levels[layout.boundary_level[static_cast<std::size_t>(i)]]
        .name;
  };
  EXPECT_EQ(level(0), "infiniband-ndr");
  EXPECT_EQ(level(1), "metro-pair");
  EXPECT_NE(level(2), "metro-pair");
  EXPECT_EQ(step.costs.memory_capacity(0), cluster("h100-sxm:16").accelerator.memory.capacity);
  EXPECT_EQ(step.costs.memory_capacity(5), cluster("l40s:32").accelerator.memory.capacity);
}

// Replicas wait for the slowest, and their collective for the slowest end of the link.
TEST(DifferingSites, ReplicasTakeTheTimeOfTheSlowest) {
  const RandomCase c =
      stated_case(small_model("llama-3-8b", 8), "h100-sxm:8+a100-80gb-sxm:8@metro-pair",
                  "tp=8,zero=0,overlap.gradient_reduction=false", 4096, 16);
  const Step mixed(c, c.cluster);
  const Step of_h100(c, cluster("h100-sxm:8+h100-sxm:8@metro-pair"));
  const Step of_a100(c, cluster("a100-80gb-sxm:8+a100-80gb-sxm:8@metro-pair"));
  EXPECT_TRUE(mixed.costs.device_site.empty());
  EXPECT_EQ(mixed.costs.stages[0].totals.forward, of_a100.costs.stages[0].totals.forward);
  RankParameters parameters;
  parameters.dense = 1e9;
  EXPECT_EQ(mixed.costs.reduce(parameters),
            std::max(of_h100.costs.reduce(parameters), of_a100.costs.reduce(parameters)));
  EXPECT_GE(mixed.time(), of_h100.time());
  EXPECT_GE(mixed.time(), of_a100.time());
  // The memory of the smaller accelerator counts on every stage.
  const RandomCase small = stated_case(small_model("llama-3-8b", 8),
                                       "h100-sxm:8+a100-40gb-sxm:8@metro-pair", "tp=8", 4096, 16);
  EXPECT_EQ(Step(small, small.cluster).costs.memory_capacity(0),
            cluster("a100-40gb-sxm:8").accelerator.memory.capacity);
}

// The first site has two microbatches in flight, the second one: by the peak the first has a byte
// more room, by the pessimistic one, which grows with activations, less.
TEST(DifferingSites, HaveTheLeastRoomOfEachPeak) {
  const RandomCase c =
      stated_case(small_model("llama-3-8b", 8), "h100-sxm:8+a100-80gb-sxm:8@metro-pair",
                  "tp=4,pp=2,placement=tp+cp+pp+dp,site_microbatches=7+1", 4096, 8);
  Cluster on = c.cluster;
  const auto room = [&](std::size_t site) { return memory_room(Step(c, on).costs.sites[site], 0); };
  const auto of_first = room(0);
  const auto of_second = room(1);
  ASSERT_GT(of_first.pessimistic - of_first.memory.peak,
            of_second.pessimistic - of_second.memory.peak);
  on.accelerator.memory.capacity = Bytes(
      static_cast<double>(of_second.capacity - of_second.memory.peak + of_first.memory.peak + 1));
  const MemoryRoom both = memory_room(Step(c, on).costs, 0);
  EXPECT_EQ(both.memory.peak, of_second.memory.peak);
  EXPECT_EQ(both.left(), of_second.left());
  EXPECT_EQ(both.pessimistic, of_first.pessimistic);
  EXPECT_EQ(both.least, room(0).least);
  EXPECT_LT(both.least, both.capacity - both.memory.pessimistic);
}

TEST(DivisionBySpeed, GivesTheFasterSiteMoreLayers) {
  RandomCase c = stated_case(small_model("llama-3-8b", 32), "h100-sxm:8+a100-80gb-sxm:8@metro-pair",
                             "tp=8,pp=2", 4096, 64);
  const Step even(c, c.cluster);
  const std::vector<std::int64_t> layers = divided_by_speed(even.costs).layers;
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0] + layers[1], 32);
  EXPECT_GT(layers[0], layers[1]);
  c.plan.layers = layers;
  const Picoseconds divided = Step(c, c.cluster).time();
  EXPECT_LT(divided, even.time());
  // No division is faster by a hundredth: what is balanced is the busy time of stages, and a step also
  // fills and drains.
  for (const std::int64_t first : {layers[0] - 1, layers[0] + 1}) {
    c.plan.layers = {first, 32 - first};
    EXPECT_GE(Step(c, c.cluster).time().seconds() * 1.01, divided.seconds()) << first;
  }
}

// Two replicas of the H100s and four of the A100s, which take longer for a microbatch: 96 microbatches
// are 2 m + 4 n.
TEST(DivisionBySpeed, GivesTheFasterSiteMoreMicrobatches) {
  RandomCase c = stated_case(small_model("llama-3-8b", 8),
                             "h100-sxm:16+a100-80gb-sxm:32@metro-pair", "tp=8", 4096, 96);
  const Step even(c, c.cluster);
  EXPECT_EQ(even.costs.shape.microbatches, 16);
  const std::vector<std::int64_t> shares = divided_by_speed(even.costs).site_microbatches;
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(2 * shares[0] + 4 * shares[1], 96);
  EXPECT_GT(shares[0], shares[1]);
  c.plan.site_microbatches = shares;
  EXPECT_TRUE(plan_problems(c.model, c.cluster, c.training, c.plan).empty());
  const Step divided(c, c.cluster);
  EXPECT_LT(divided.time(), even.time());
  // No other division has a faster slowest site.
  const auto longest = [&](const std::vector<std::int64_t>& of) {
    double out = 0;
    for (std::size_t site = 0; site < 2; ++site) {
      const PassTotals held = even.costs.sites[site].held(0);
      out = std::max(out, (held.forward + held.backward).count() * static_cast<double>(of[site]));
    }
    return out;
  };
  for (std::int64_t n = 1; n < 24; ++n) {
    EXPECT_GE(longest({(96 - 4 * n) / 2, n}), longest(shares)) << n;
  }
  // Stated evenly, they are the even case.
  c.plan.site_microbatches = {16, 16};
  EXPECT_EQ(Step(c, c.cluster).time(), even.time());
}

constexpr auto kMixed = "h100-sxm:16+a100-80gb-sxm:32@metro-pair";

// Two replicas of the H100s and four of the A100s.
RandomCase sized(std::string_view plan) {
  return stated_case(small_model("llama-3-8b", 8), kMixed, plan, 4096, 96);
}

TEST(SiteMicroBatch, EqualSizesAreTheEvenPlan) {
  for (const std::string rest : {"tp=8", "tp=4,pp=2,placement=tp+cp+pp+dp", "tp=8,zero=3"}) {
    const RandomCase even = sized(rest + ",micro_batch=2");
    const RandomCase stated = sized(rest + ",site_micro_batch=2+2");
    const Step a(even, even.cluster);
    const Step b(stated, stated.cluster);
    EXPECT_EQ(lower_bound(a.costs), lower_bound(b.costs)) << rest;
    EXPECT_EQ(a.time(), b.time()) << rest;
    EXPECT_EQ(memory_room(a.costs, 0).memory.peak, memory_room(b.costs, 0).memory.peak) << rest;
  }
}

// Each site has the prices and the memory it has where all work on microbatches of its size.
TEST(SiteMicroBatch, PricesEachSiteByItsOwn) {
  const RandomCase c = sized("tp=8,site_micro_batch=4+1");
  ASSERT_TRUE(plan_problems(c.model, c.cluster, c.training, c.plan).empty());
  const Step step(c, c.cluster);
  for (std::size_t site = 0; site < 2; ++site) {
    const RandomCase alike = sized(site == 0 ? "tp=8,micro_batch=4" : "tp=8,micro_batch=1");
    const Step all(alike, alike.cluster);
    const StepCosts& own = step.costs.sites[site];
    EXPECT_EQ(own.stages[0].totals.forward, all.costs.sites[site].stages[0].totals.forward);
    EXPECT_EQ(own.stages[0].totals.backward, all.costs.sites[site].stages[0].totals.backward);
    EXPECT_EQ(memory_room(own, 0).memory.peak, memory_room(all.costs.sites[site], 0).memory.peak);
    EXPECT_EQ(own.micro_batch, site == 0 ? 4 : 1);
    EXPECT_EQ(own.shape.microbatches, 96 / (2 * 4 + 4 * 1));
  }
  EXPECT_EQ(step.time(), step.time(Folding::expanded));
  EXPECT_GE(step.time(), lower_bound(step.costs));
}

TEST(SiteMicroBatch, TakesMemoryFromItsSiteAlone) {
  const auto peaks = [](const char* plan) {
    const RandomCase c = sized(plan);
    const Step step(c, c.cluster);
    return std::pair(memory_room(step.costs.sites[0], 0).memory.peak,
                     memory_room(step.costs.sites[1], 0).memory.peak);
  };
  const auto large = peaks("tp=8,site_micro_batch=4+2");
  const auto small = peaks("tp=8,site_micro_batch=4+1");
  EXPECT_EQ(large.first, small.first);
  EXPECT_GT(large.second, small.second);
}

TEST(SiteMicroBatch, ConservesTheSequencesOfTheBatch) {
  const auto sequences = [](const RandomCase& c, const Plan& plan) {
    std::int64_t out = 0;
    for (std::size_t site = 0; site < 2; ++site) {
      const Plan own = plan_of_site(c.training, c.cluster, plan, site);
      out += replicas_of(plan, c.cluster, site) * own.micro_batch * own.site_microbatches.front();
    }
    return out;
  };
  for (const char* plan :
       {"tp=8,site_micro_batch=4+1", "tp=8,site_micro_batch=4+2", "tp=8,site_micro_batch=2+3",
        "tp=8,site_micro_batch=4+2,"
        "site_microbatches=8+4"}) {
    const RandomCase c = sized(plan);
    ASSERT_TRUE(plan_problems(c.model, c.cluster, c.training, c.plan).empty()) << plan;
    EXPECT_EQ(sequences(c, c.plan), 96) << plan;
    Plan without = c.plan;
    without.site_microbatches.clear();
    if (!plan_problems(c.model, c.cluster, c.training, without).empty()) continue;
    const Step even({c.model, c.cluster, c.training, without, c.software}, c.cluster);
    const Plan divided = divided_by_speed(even.costs);
    ASSERT_EQ(divided.site_microbatches.size(), 2U) << plan;
    EXPECT_EQ(divided.site_micro_batch, c.plan.site_micro_batch);
    EXPECT_EQ(sequences(c, divided), 96) << plan;
    const Step faster({c.model, c.cluster, c.training, divided, c.software}, c.cluster);
    EXPECT_LE(faster.time(), even.time()) << plan;
  }
}

// The second site has too little memory for microbatches as large as those the first is fastest with.
TEST(SiteMicroBatch, IsChosenByTheMemoryOfEachSite) {
  RandomCase c = stated_case(small_model("llama-3-8b", 32), "h100-sxm:8+a100-40gb-sxm:8@metro-pair",
                             "tp=4", 8192, 64);
  std::vector<Plan> plans;
  for (const std::int64_t micro_batch : {1, 2, 4, 8}) {
    plans.push_back(c.plan);
    plans.back().micro_batch = micro_batch;
  }
  Step step(c, c.cluster);
  const std::optional<Plan> chosen = sized_by_site(step.cache, plans);
  ASSERT_TRUE(chosen);
  ASSERT_EQ(chosen->site_micro_batch.size(), 2U);
  EXPECT_GT(chosen->site_micro_batch[0], chosen->site_micro_batch[1]);
  EXPECT_TRUE(plan_problems(c.model, c.cluster, c.training, *chosen).empty());
  const StepCosts costs = step_costs(step.cache, *chosen);
  EXPECT_GE(memory_room(costs, 0).left(), 0);
  // Work is divided by the times of passes that accumulate gradients, as those of the step do.
  Plan accumulating = *chosen;
  accumulating.site_microbatches.clear();
  const auto microbatches =
      static_cast<std::int64_t>(64 / sequences_at_once(c.cluster, accumulating));
  EXPECT_GT(microbatches, 1);
  accumulating.site_microbatches.assign(2, microbatches);
  EXPECT_EQ(divided_by_speed(step_costs(step.cache, accumulating)), *chosen);
  // Where both have the same memory and speed, one size is best in both.
  const Cluster alike = told_apart(cluster("h100-sxm:8+h100-sxm:8@metro-pair"));
  Step same(c, alike);
  EXPECT_FALSE(sized_by_site(same.cache, plans));
}

// 15 sequences of each replica are no multiple of any size but 1.
TEST(SiteMicroBatch, NeedNotDivideAnEvenPartOfTheBatch) {
  RandomCase c = stated_case(small_model("llama-3-8b", 32), "h100-sxm:8+a100-40gb-sxm:8@metro-pair",
                             "tp=4", 8192, 60);
  std::vector<Plan> plans;
  for (const std::int64_t micro_batch : {1, 2, 4, 8}) {
    plans.push_back(c.plan);
    plans.back().micro_batch = micro_batch;
    plans.back().site_microbatches.assign(2, 15 / micro_batch);
  }
  Step step(c, c.cluster);
  const std::optional<Plan> chosen = sized_by_site(step.cache, plans);
  ASSERT_TRUE(chosen);
  EXPECT_GT(chosen->site_micro_batch[0], chosen->site_micro_batch[1]);
  EXPECT_TRUE(plan_problems(c.model, c.cluster, c.training, *chosen).empty());
}

TEST(SiteMicroBatch, AssumesABatchOfWholeMicrobatchesOfEverySite) {
  Model model = small_model("llama-3-8b", 8);
  const auto completed = [&](double tokens, const char* plan) {
    model.published.global_batch_tokens = static_cast<std::int64_t>(tokens);
    Training training;
    training.sequence_length = 4096;
    const Cluster on = cluster(kMixed);
    CompletedPlan out = completed_plan(model, on, training, *parse_plan(plan));
    EXPECT_TRUE(plan_problems(model, on, out.training, out.plan).empty()) << plan;
    return out;
  };
  // 2 x 4 + 4 x 1 sequences at once.
  const CompletedPlan once = completed(0, "tp=8,site_micro_batch=4+1");
  EXPECT_EQ(once.training.global_batch, 12);
  EXPECT_THAT(once.assumed, Contains("global batch 12 sequences: one microbatch a replica"));
  EXPECT_EQ(completed(100 * 4096, "tp=8,site_micro_batch=4+1").training.global_batch, 96);
  const CompletedPlan stated = completed(1e6, "tp=8,site_micro_batch=4+1,site_microbatches=8+4");
  EXPECT_EQ(stated.training.global_batch, 2 * 4 * 8 + 4 * 1 * 4);
  EXPECT_THAT(stated.assumed, Contains("global batch 80 sequences: what site_microbatches make"));
}

TEST(SiteRules, SayWhichMicrobatchesOfSitesAreNone) {
  const auto problem = [](const char* on, std::string_view plan) {
    const RandomCase c = stated_case(small_model("llama-3-8b", 12), on, plan, 4096, 96);
    const auto all = plan_problems(c.model, c.cluster, c.training, c.plan);
    return all.empty() ? "" : all.front();
  };
  EXPECT_EQ(problem(kMixed, "tp=8,site_micro_batch=4+1"), "");
  EXPECT_EQ(
      problem(kMixed, "tp=8,site_micro_batch=4+3"),
      "replicas of all sites work on 20 sequences at once, and 96 are no multiple of it: write a "
      "global batch of 80, or site_microbatches as well");
  EXPECT_EQ(problem(kMixed, "tp=8,site_micro_batch=4+0"),
            "site_micro_batch 0 is outside 1 to 1000000");
  EXPECT_EQ(problem(kMixed, "tp=8,site_micro_batch=4"),
            "site_micro_batch has 1 value, the cluster has 2 sites");
  EXPECT_EQ(problem(kMixed, "tp=8,micro_batch=2,site_micro_batch=4+1"),
            "micro_batch 2 and site_micro_batch 4+1 both say how many sequences a microbatch has: "
            "leave out one of them");
  EXPECT_EQ(problem(kMixed, "tp=8,site_micro_batch=4+1,site_microbatches=8+4"),
            "site_microbatches make a batch of 80 sequences, not 96");
  EXPECT_EQ(problem("h100-sxm:48", "tp=8,site_micro_batch=2+1"),
            "site_micro_batch needs sites that differ, and dp outermost in the placement");
  EXPECT_EQ(problem(kMixed, "tp=8,sequence_parallel=false,halves=batch,site_micro_batch=4+1"),
            "halves=batch needs an even number of sequences; micro_batch is 1");
  EXPECT_EQ(problem(kMixed, "tp=8,sequence_parallel=false,halves=batch,site_micro_batch=4+2"), "");
}

TEST(SiteRules, SayWhichNumbersOfMicrobatchesAreNone) {
  const auto problem = [](const char* on, std::string_view plan) {
    const RandomCase c = stated_case(small_model("llama-3-8b", 12), on, plan, 4096, 96);
    const auto all = plan_problems(c.model, c.cluster, c.training, c.plan);
    return all.empty() ? "" : all.front();
  };
  constexpr auto kOn = "h100-sxm:16+a100-80gb-sxm:32@metro-pair";
  EXPECT_EQ(problem(kOn, "tp=8,site_microbatches=24+12"), "");
  EXPECT_EQ(problem(kOn, "tp=8,site_microbatches=24+13"),
            "site_microbatches make a batch of 100 sequences, not 96");
  EXPECT_EQ(problem(kOn, "tp=8,site_microbatches=48+0"),
            "site_microbatches 0 is outside 1 to 1000000");
  EXPECT_EQ(problem(kOn, "tp=8,site_microbatches=24"),
            "site_microbatches has 1 value, the cluster has 2 sites");
  EXPECT_EQ(problem(kOn, "tp=4,pp=6,site_microbatches=24+12"),
            "site_microbatches needs sites that differ, and dp outermost in the placement");
  EXPECT_EQ(problem("h100-sxm:48", "tp=8,site_microbatches=24+12"),
            "site_microbatches needs sites that differ, and dp outermost in the placement");
}

TEST(SiteRules, SayWhatSitesThatDifferCannotHold) {
  const auto problems = [](const char* on, std::string_view plan, const char* model) {
    const RandomCase c = stated_case(small_model(model, 12), on, plan, 4096, 48);
    std::string all;
    for (const std::string& p : plan_problems(c.model, c.cluster, c.training, c.plan)) {
      all += p + "; ";
    }
    return all;
  };
  constexpr auto kOn = "h100-sxm:16+a100-80gb-sxm:32@metro-pair";
  EXPECT_EQ(problems(kOn, "tp=4,pp=6", "llama-3-8b"), "");
  EXPECT_EQ(problems(kOn, "tp=4,pp=2,placement=tp+cp+pp+dp", "llama-3-8b"), "");
  EXPECT_THAT(problems(kOn, "tp=4,pp=2", "llama-3-8b"),
              HasSubstr("site h100-sxm:16 does not hold whole stages of 24 ranks"));
  EXPECT_THAT(problems(kOn, "tp=8,cp=3,placement=tp+dp+pp+cp", "llama-3-8b"),
              HasSubstr("cp lies outermost, and sites that differ may divide pp or dp alone"));
  EXPECT_THAT(problems("h100-sxm:16+a100-80gb-sxm:16@metro-pair", "tp=4,pp=4,schedule=dualpipe",
                       "llama-3-8b"),
              HasSubstr("each of its stages lies on two devices that must be alike"));
  EXPECT_THAT(problems("h100-sxm:16+a100-80gb-sxm:16@metro-pair", "tp=1,ep=32", "deepseek-v2-lite"),
              HasSubstr("crosses between sites that differ"));
}

}  // namespace
}  // namespace orrery
