#include "estimate/fabric_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "cluster/link.h"
#include "cluster/told_apart.h"
#include "estimate/built_in_scenario.h"
#include "estimate/shared_fabric.h"
#include "estimate/spec.h"

namespace orrery {
namespace {

PredictedStep step_of(const std::string& text) {
  const auto document = parse_yaml(text, "test");
  EXPECT_TRUE(document);
  auto spec = read_spec(*document, "", Catalog::built_in());
  EXPECT_TRUE(spec) << spec.error().message;
  auto step = predict(spec->scenario, Catalog::built_in());
  EXPECT_TRUE(step) << step.error().message;
  return std::move(*step);
}

// Nothing is oversubscribed and nothing runs beside anything else: flows are the closed forms.
TEST(StepFlows, AreTheClosedFormsWhereNothingIsShared) {
  const PredictedStep step = step_of(
      "{model: llama-3.1-8b, cluster: 'h100-sxm:64', training: {sequence_length: 8192, "
      "global_batch: 128}, plan: {tp: 2, pp: 4, micro_batch: 1}}");
  const auto flows = step_flows(step);
  ASSERT_TRUE(flows) << flows.error().message;
  EXPECT_EQ(flows->closed, step.folded.time.seconds());
  EXPECT_NEAR(flows->time / flows->closed, 1, 0.01);
  EXPECT_GE(flows->axes.size(), 5U);
  for (const AxisFlows& a : flows->axes) {
    EXPECT_NEAR(a.alone / a.closed, 1, 0.02) << a.axis << " " << a.collective;
    EXPECT_GE(a.shared / a.alone, 1 - 1e-9) << a.axis << " " << a.collective;
  }
}

// Links that are used alike are one resource, so that more replicas cost nothing.
TEST(StepFlows, HaveTheSizeOfThePlan) {
  const auto of = [](const std::string& gpus) {
    return *step_flows(
        step_of("{model: llama-3.1-8b, cluster: 'h100-sxm:" + gpus +
                "', training: {sequence_length: 8192, global_batch: 512}, plan: {tp: "
                "8, pp: 2, micro_batch: 1}}"));
  };
  const StepFlows small = of("256");
  const StepFlows large = of("1024");
  EXPECT_EQ(small.resources, large.resources);
  EXPECT_LT(large.resources, 40);
}

StepFlows flows_of(const Scenario& scenario) {
  const auto step = predict(scenario, catalog());
  EXPECT_TRUE(step) << step.error().text();
  auto flows = step_flows(*step);
  EXPECT_TRUE(flows) << flows.error().text();
  return std::move(*flows);
}

TEST(StepFlows, OfEqualSitesToldApartAreThoseOfTheEvenCase) {
  const char* sites = "h100-sxm:32+h100-sxm:32@metro-pair";
  for (const char* plan : {"tp=8,pp=4", "tp=4,pp=2,placement=tp+cp+dp+pp", "tp=8,zero=1",
                           "tp=2,cp=2,zero=3", "tp=8,zero=3,shard_group=2"}) {
    Scenario asked = scenario("llama-3-8b", sites, plan, 8192, 64);
    const StepFlows even = flows_of(asked);
    asked.cluster = told_apart(asked.cluster);
    const StepFlows apart = flows_of(asked);
    EXPECT_EQ(apart.closed, even.closed) << plan;
    EXPECT_NEAR(apart.time / even.time, 1, 1e-9) << plan;
    ASSERT_EQ(apart.axes.size(), even.axes.size()) << plan;
    for (std::size_t a = 0; a < even.axes.size(); ++a) {
      EXPECT_EQ(apart.axes[a].axis, even.axes[a].axis);
      EXPECT_EQ(apart.axes[a].times, even.axes[a].times);
      EXPECT_EQ(apart.axes[a].busiest, even.axes[a].busiest);
      EXPECT_NEAR(apart.axes[a].alone / even.axes[a].alone, 1, 1e-9) << plan << even.axes[a].axis;
      EXPECT_NEAR(apart.axes[a].shared / even.axes[a].shared, 1, 1e-9) << plan << even.axes[a].axis;
    }
  }
}

// Stages in one site each: nothing meets on a link, so every communication takes its closed form,
// that of messages between the sites being that of the slower end.
TEST(StepFlows, OfStagesOnSitesThatDifferAreTheClosedForms) {
  for (const char* sites :
       {"h100-sxm:8+a100-80gb-sxm:8@metro-pair", "a100-80gb-sxm:8+h100-sxm:8@metro-pair",
        "h100-sxm:16+a100-80gb-sxm:32@metro-pair"}) {
    const StepFlows flows = flows_of(scenario("llama-3-8b", sites,
                                              std::string_view(sites).starts_with("h100-sxm:16")
                                                  ? "tp=8,pp=6,placement=tp+cp+dp+pp"
                                                  : "tp=8,pp=2,placement=tp+cp+dp+pp",
                                              8192, 32));
    EXPECT_NEAR(flows.time / flows.closed, 1, 0.01) << sites;
    bool has_messages = false;
    for (const AxisFlows& a : flows.axes) {
      has_messages = has_messages || a.collective == "message";
      EXPECT_NEAR(a.alone / a.closed, 1, 0.02) << sites << " " << a.axis << " " << a.collective;
      EXPECT_GE(a.shared / a.alone, 1 - 1e-9) << sites << " " << a.axis << " " << a.collective;
    }
    EXPECT_TRUE(has_messages) << sites;
  }
}

// Replicas in sites of different size, in nodes of different size, or without a network or switch
// of their own: their gradients cross the link, which is all that they wait for.
TEST(StepFlows, OfReplicasOnSitesThatDifferFillTheLink) {
  for (const char* sites :
       {"h100-sxm:16+a100-80gb-sxm:32@metro-pair", "gb200:64+h100-sxm:64@metro-pair",
        "h100-sxm:64+mi300x:64@metro-pair"}) {
    const StepFlows flows = flows_of(scenario("llama-3-8b", sites, "tp=4,zero=1", 8192, 96));
    const auto replicas = std::ranges::find(flows.axes, "replicas", &AxisFlows::axis);
    ASSERT_NE(replicas, flows.axes.end()) << sites;
    EXPECT_EQ(replicas->busiest, "metro-pair") << sites;
    EXPECT_NEAR(replicas->alone / replicas->closed, 1, 0.02) << sites;
    EXPECT_NEAR(flows.time / flows.closed, 1, 0.02) << sites;
  }
}

// Whatever the library chooses for gradients between two sites of many nodes (here trees with
// LL128, and rings or aggregated trees beside sharded states), flows take its closed form.
TEST(StepFlows, OfReplicasOnManyNodesAreTheClosedForms) {
  for (const char* plan : {"tp=8,pp=2,zero=0", "tp=8,zero=0", "tp=8,zero=1"}) {
    const StepFlows flows = flows_of(scenario(
        "llama-3-8b", "a100-80gb-sxm:2048+a100-80gb-sxm:2048@metro-pair", plan, 8192, 4096));
    for (const AxisFlows& a : flows.axes) {
      EXPECT_NEAR(a.alone / a.closed, 1, 0.05) << plan << " " << a.axis << " " << a.collective;
    }
  }
}

// Beside a site without a network that has twice as many of the ranks, units of half its ranks fill
// every site: half of its accelerators send over the link, which takes twice the closed form but
// for latency, and nothing else of a group crosses the link.
TEST(StepFlows, OfReplicasCrossTheLinkInUnitsThatFillEverySite) {
  for (const char* sites : {"h100-sxm:32+gb200:64@metro-pair", "gb200:64+h100-sxm:32@metro-pair",
                            "h100-sxm:32+gb200:64+h100-sxm:32@metro-pair"}) {
    const StepFlows flows = flows_of(scenario("llama-3-8b", sites, "tp=4,zero=1", 8192, 96));
    const auto replicas = std::ranges::find(flows.axes, "replicas", &AxisFlows::axis);
    ASSERT_NE(replicas, flows.axes.end()) << sites;
    EXPECT_EQ(replicas->busiest, "metro-pair") << sites;
    EXPECT_NEAR(replicas->alone / replicas->closed, 2, 0.15) << sites;
  }
}

std::string jobs_on(const std::string& fabric, const std::string& jobs) {
  return "{fabric: '" + fabric + "', jobs: [" + jobs + "]}";
}
std::string job(const std::string& name, const std::string& place) {
  return "{name: " + name +
         ", model: llama-3.1-8b, training: {sequence_length: 512, global_batch: 64}, plan: {tp: 1, "
         "dp: {sharding: zero-3}, micro_batch: 1}, accelerators: 64, " +
         place + "}";
}

Result<SharedFabric> shared(const DescribedJobs& jobs) {
  std::vector<PredictedStep> steps;
  for (const DescribedJob& job : jobs.jobs) {
    ORRERY_TRY(PredictedStep step, predict(job.spec.scenario, Catalog::built_in()));
    steps.push_back(std::move(step));
  }
  return share_fabric(jobs, steps, Catalog::built_in());
}

Result<SharedFabric> shared(const std::string& text) {
  auto jobs = read_jobs(*parse_yaml(text, "jobs.yaml"), Catalog::built_in());
  if (!jobs) return fail(jobs.error());
  return shared(*jobs);
}

const std::string kPods = std::string(ORRERY_SOURCE_DIR) + "/examples/oversubscribed-pods.yaml:256";

TEST(SharedFabric, AJobAloneIsNotSlowed) {
  const auto answer = shared(jobs_on(kPods, job("a", "first: 0, every: 2")));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->jobs[0].slow_down(), 1);
  EXPECT_TRUE(answer->pairs.empty());
}

TEST(SharedFabric, JobsInPodsOfTheirOwnDoNotMeet) {
  const auto answer = shared(jobs_on(kPods, job("a", "first: 0") + "," + job("b", "first: 64")));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_NEAR(answer->jobs[0].slow_down(), 1, 1e-9);
  EXPECT_NEAR(answer->jobs[1].slow_down(), 1, 1e-9);
}

// Two equal jobs between the same pods share the spine evenly; the pair with it is named.
TEST(SharedFabric, JobsThatShareASpineSlowEachOther) {
  const auto answer =
      shared(jobs_on(kPods, job("a", "first: 0, every: 2") + "," + job("b", "first: 8, every: 2") +
                                "," + job("c", "first: 128")));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_GT(answer->jobs[0].slow_down(), 1.1);
  EXPECT_NEAR(answer->jobs[0].slow_down(), answer->jobs[1].slow_down(), 0.02);
  EXPECT_LT(answer->jobs[0].slow_down(), 2);
  EXPECT_NEAR(answer->jobs[2].slow_down(), 1, 1e-9);
  ASSERT_EQ(answer->pairs.size(), 3U);
  EXPECT_EQ(answer->pairs[0].a, "a");
  EXPECT_EQ(answer->pairs[0].b, "b");
  EXPECT_EQ(answer->pairs[0].level, "spine");
  EXPECT_EQ(answer->pairs[1].level, "");  // no link that both use
  EXPECT_NEAR(answer->pairs[1].slow_a, 1, 1e-9);
}

// Jobs on sites that differ.
const std::string kDiffering = "h100-sxm:64+a100-80gb-sxm:128@metro-pair";

SharedFabric shared_of(const DescribedJobs& jobs) {
  auto answer = shared(jobs);
  EXPECT_TRUE(answer) << answer.error().text();
  return std::move(*answer);
}

DescribedJobs jobs_of(const std::string& fabric, const std::string& jobs) {
  auto read = read_jobs(*parse_yaml(jobs_on(fabric, jobs), "jobs.yaml"), catalog());
  EXPECT_TRUE(read) << read.error().text();
  return std::move(*read);
}

// A job inside a site takes the step that it takes on that site by itself, in flows too.
TEST(SharedFabric, PredictsAJobOnTheSiteThatItLiesIn) {
  const DescribedJobs described = jobs_of(kDiffering, job("a", "first: 64, every: 1"));
  const Cluster& part = described.jobs[0].spec.scenario.cluster;
  EXPECT_EQ(part.name, "a100-80gb-sxm:64");
  EXPECT_EQ(part.accelerator.name, "a100-80gb-sxm");
  EXPECT_EQ(site_count(part), 1U);
  Scenario by_itself = described.jobs[0].spec.scenario;
  by_itself.cluster = *parse_cluster("a100-80gb-sxm:64", catalog());
  const StepFlows flows = flows_of(by_itself);
  const SharedFabric answer = shared_of(described);
  EXPECT_EQ(answer.jobs[0].closed, flows.closed);
  EXPECT_NEAR(answer.jobs[0].alone / flows.time, 1, 1e-6);
  EXPECT_EQ(answer.jobs[0].slow_down(), 1);
}

// Ranks of a job over several sites have the prices of their own.
TEST(SharedFabric, PredictsAJobOverSitesOnItsPartOfEach) {
  const DescribedJobs described = jobs_of(kDiffering, job("a", "first: 32"));
  const Cluster& part = described.jobs[0].spec.scenario.cluster;
  EXPECT_EQ(part.name, "h100-sxm:32+a100-80gb-sxm:32@metro-pair");
  ASSERT_EQ(site_count(part), 2U);
  EXPECT_EQ(accelerators_of(part, 0), 32);
  EXPECT_EQ(accelerators_of(part, 1), 32);
  const SharedFabric answer = shared_of(described);
  EXPECT_EQ(answer.jobs[0].slow_down(), 1);
  EXPECT_TRUE(answer.pairs.empty());
  EXPECT_EQ(answer.jobs[0].closed, flows_of(described.jobs[0].spec.scenario).closed);
}

TEST(SharedFabric, OfJobsInDifferentSitesIsNotSlowed) {
  const SharedFabric answer =
      shared_of(jobs_of(kDiffering, job("a", "first: 0") + "," + job("b", "first: 64")));
  EXPECT_NEAR(answer.jobs[0].slow_down(), 1, 1e-9);
  EXPECT_NEAR(answer.jobs[1].slow_down(), 1, 1e-9);
  EXPECT_LT(answer.jobs[0].alone, answer.jobs[1].alone);  // H100 and A100
}

// Of two jobs with nodes in both sites and one inside the second, the link slows the two alone.
// Each gathers its parameters twice and reduces its gradients once, of which at least half crosses,
// in bf16: that much of both jobs passes the link in a step.
TEST(SharedFabric, OfJobsOverTheLinkBetweenSitesThatDifferSharesTheLink) {
  const SharedFabric answer =
      shared_of(jobs_of("h100-sxm:64+a100-80gb-sxm:128@metro-pair",
                        job("a", "first: 0, every: 2") + "," + job("b", "first: 8, every: 2") +
                            "," + job("c", "first: 128")));
  const SharedJob& a = answer.jobs[0];
  const SharedJob& b = answer.jobs[1];
  EXPECT_GT(a.slow_down(), 1.5);
  EXPECT_LE(a.slow_down(), 2);
  EXPECT_NEAR(b.slow_down(), a.slow_down(), 0.02);
  EXPECT_NEAR(answer.jobs[2].slow_down(), 1, 1e-9);
  EXPECT_EQ(answer.pairs[0].a, "a");
  EXPECT_EQ(answer.pairs[0].b, "b");
  EXPECT_EQ(answer.pairs[0].level, "metro-pair");
  EXPECT_NEAR(answer.pairs[1].slow_a, 1, 1e-9);
  const BytesPerSecond link = *load_link(catalog(), "metro-pair")->bandwidth;
  const Bytes least = Bytes(8.03e9 * 2) * (2.0 * 3 / 2);
  EXPECT_GE(a.shared, least / link);
}

// Groups that stay in a site load the network of every site in which a job has some: a job over both
// sites slows the one that lies in the pods of the faster site.
TEST(SharedFabric, OfAJobInsideBothSitesLoadsTheNetworksOfBoth) {
  const Cluster pods = *parse_cluster(
      std::string(ORRERY_SOURCE_DIR) + "/examples/oversubscribed-pods.yaml:128", catalog());
  Cluster fabric = *parse_cluster("h100-sxm:128+a100-80gb-sxm:128@metro-pair", catalog());
  const FabricLevel link = fabric.levels.back();
  fabric.levels = pods.levels;
  fabric.levels.push_back(link);
  const std::string file = testing::TempDir() + "pods-and-a100.yaml";
  std::ofstream(file) << to_yaml(Codec<Cluster>::write(fabric));
  const auto placed = [](const std::string& name, const std::string& place) {
    return "{name: " + name +
           ", model: llama-3.1-8b, training: {sequence_length: 32768, global_batch: 32}, plan: "
           "{tp: 8, cp: 8, micro_batch: 1}, " +
           place + "}";
  };
  const SharedFabric answer =
      shared_of(jobs_of(file, placed("a", "accelerators: 128, first: 0, every: 2") + "," +
                                  placed("b", "accelerators: 64, first: 8, every: 2")));
  EXPECT_GT(answer.jobs[1].slow_down(), 1.01);
  EXPECT_LT(answer.jobs[1].slow_down(), 1.3);
}

// Two sites as one cluster and told apart, with jobs in one of them and over both.
TEST(SharedFabric, OfEqualSitesToldApartIsThatOfTheEvenCase) {
  const std::string jobs = job("a", "first: 0, every: 3") + "," + job("b", "first: 8, every: 3") +
                           "," + job("c", "first: 16, every: 3");
  const std::string inside = job("a", "first: 0") + "," + job("b", "first: 96");
  for (const std::string& placed : {jobs, inside}) {
    const std::string sites = "h100-sxm:96+h100-sxm:96@metro-pair";
    const SharedFabric even = shared_of(jobs_of(sites, placed));
    const std::string file = testing::TempDir() + "told-apart.yaml";
    std::ofstream(file) << to_yaml(
        Codec<Cluster>::write(told_apart(*parse_cluster(sites, catalog()))));
    const SharedFabric apart = shared_of(jobs_of(file, placed));
    ASSERT_EQ(apart.pairs.size(), even.pairs.size());
    for (std::size_t j = 0; j < even.jobs.size(); ++j) {
      EXPECT_EQ(apart.jobs[j].closed, even.jobs[j].closed);
      EXPECT_NEAR(apart.jobs[j].alone / even.jobs[j].alone, 1, 1e-9);
      EXPECT_NEAR(apart.jobs[j].shared / even.jobs[j].shared, 1, 1e-9);
    }
    for (std::size_t p = 0; p < even.pairs.size(); ++p) {
      EXPECT_EQ(apart.pairs[p].level, even.pairs[p].level);
    }
  }
}

TEST(SharedFabric, RefusesWhatIsNotAListOfJobs) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{fabric: 'h100-sxm:64'}", "no list of jobs on a fabric"},
      {jobs_on("h100-sxm:64", ""), "0 jobs"},
      {jobs_on("h100-sxm:48+gb200:64@metro-pair", job("a", "first: 40, every: 7")),
       "job 'a' needs 64 accelerators, but only 16 are left from `first` on"},
      {jobs_on("h100-sxm:64",
               "{name: a, model: llama-3.1-8b, accelerators: 8, cluster: 'h100-sxm:8'}"),
       "job 'a' has a cluster of its own"},
      {jobs_on("h100-sxm:64", "7"), "a job that is no map"},
      {jobs_on("h100-sxm:64", "{model: llama-3.1-8b, accelerators: 8}"),
       "missing field 'name' in job"},
      {jobs_on("h100-sxm:64", "{name: a, accelerators: 8}"), "job 'a' has no model"},
      {jobs_on("h100-sxm:64", job("a", "first: 64")),
       "job 'a' does not lie on the 64 accelerators of h100-sxm:64"},
      {jobs_on("h100-sxm:64", job("a", "first: 8")),
       "job 'a' needs 64 accelerators, but only 56 are left from `first` on"},
      {jobs_on("h100-sxm:128", job("a", "first: 4")), "job 'a' begins inside a node"},
      {jobs_on("h100-sxm:128", job("a", "first: 0") + "," + job("a", "first: 64")),
       "two jobs are called 'a'"},
      {jobs_on("h100-sxm:128", job("a", "first: 0") + "," + job("b", "first: 56")),
       "jobs 'a' and 'b' both have accelerator 56"},
      {jobs_on("h100-sxm:64", job("a", "frist: 0")), "unknown field 'frist' in job"},
  };
  for (const auto& [text, message] : cases) {
    const auto answer = shared(text);
    ASSERT_FALSE(answer) << text;
    EXPECT_EQ(answer.error().message, message);
    EXPECT_FALSE(answer.error().hint.empty()) << message;
  }
}

}  // namespace
}  // namespace orrery
