#include "estimate/step_chakra.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "estimate/built_in_scenario.h"
#include "estimate/spec.h"
#include "trace/chakra/astra_sim_run.h"
#include "trace/chakra/chakra_check.h"
#include "trace/chakra/chakra_file.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

std::vector<ChakraTrace> all_ranks(const Scenario& s) {
  const auto predicted = predict(s, catalog());
  EXPECT_TRUE(predicted) << predicted.error().text();
  const auto expanded = simulated(predicted->costs, Folding::expanded);
  StepChakra step(*predicted, *expanded);
  std::vector<ChakraTrace> out;
  for (std::int64_t rank = 0; rank < step.ranks(); ++rank) out.push_back(step.trace(rank));
  return out;
}

class StepChakraOfPlans : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(StepChakraOfPlans, IsWhatAstraSimTakes) {
  const auto& [model, plan] = GetParam();
  for (const ChakraTrace& trace : all_ranks(scenario(model, "h100-sxm:16", plan, 4096, 16))) {
    const ChakraReport report = check_chakra(trace);
    EXPECT_TRUE(report.accepted()) << report.total << ": " << report.findings[0].message;
  }
}

// Whatever is sent is received, with the same size and tag, and by the rank that was meant.
TEST_P(StepChakraOfPlans, ReceivesWhatIsSent) {
  const auto& [model, plan] = GetParam();
  const auto ranks = all_ranks(scenario(model, "h100-sxm:16", plan, 4096, 16));
  using Message = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::multiset<Message> sent;
  std::multiset<Message> received;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const ChakraNode& node : ranks[rank].nodes) {
      const bool sends = node.type == ChakraNodeType::send;
      if (!sends && node.type != ChakraNodeType::receive) continue;
      EXPECT_EQ(*node.integer(sends ? "comm_src" : "comm_dst"), static_cast<std::int64_t>(rank));
      (sends ? sent : received)
          .emplace(*node.integer("comm_src"), *node.integer("comm_dst"), *node.integer("comm_tag"),
                   *node.integer("comm_size"));
    }
  }
  EXPECT_EQ(sent, received);
}

// All ranks of a group call the same collectives in the same order.
TEST_P(StepChakraOfPlans, CallsCollectivesTogether) {
  const auto& [model, plan] = GetParam();
  const auto ranks = all_ranks(scenario(model, "h100-sxm:16", plan, 4096, 16));
  using Call = std::pair<std::int64_t, std::int64_t>;
  // By the group, for each rank that calls it.
  std::map<std::string, std::vector<std::vector<Call>>> calls;
  for (const ChakraTrace& trace : ranks) {
    std::map<std::string, std::vector<Call>> own;
    for (const ChakraNode& node : trace.nodes) {
      if (node.type != ChakraNodeType::collective) continue;
      own[group_of(node)].emplace_back(*node.integer("comm_type"), *node.integer("comm_size"));
    }
    for (auto& [group, list] : own) calls[group].push_back(std::move(list));
  }
  EXPECT_FALSE(calls.empty());
  for (const auto& [group, lists] : calls) {
    EXPECT_GT(lists.size(), 1U) << group;
    for (const auto& list : lists) EXPECT_EQ(list, lists[0]) << group;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , StepChakraOfPlans,
    ::testing::Values(std::tuple("llama-3-8b", "tp=2,pp=4"),
                      std::tuple("llama-3-8b", "tp=2,pp=4,chunks=2,zero=2"),
                      std::tuple("llama-3-8b", "tp=2,cp=2,pp=2,placement=tp+cp+pp+dp"),
                      std::tuple("llama-3-8b", "tp=2,cp=4,pp=2,context_parallel=all-to-all"),
                      std::tuple("mixtral-8x7b", "tp=2,ep=4,pp=2")));

struct Job {
  const char* cluster;
  const char* plan;
  std::int64_t batch;
};

class StepChakraInAstraSim : public ::testing::TestWithParam<Job> {};

// As our reader reads what is written: every file is accepted, every group has a number of its own
// over the job, and by ASTRA-sim's rules every rank finishes.
TEST_P(StepChakraInAstraSim, Finishes) {
  const Job job = GetParam();
  const auto predicted =
      predict(scenario("llama-3-8b", job.cluster, job.plan, 4096, job.batch), catalog());
  ASSERT_TRUE(predicted) << predicted.error().text();
  const auto expanded = simulated(predicted->costs, Folding::expanded);
  StepChakra step(*predicted, *expanded);
  ChakraRun run;
  Communicators found;
  for (std::int64_t rank = 0; rank < step.ranks(); ++rank) {
    auto trace = read_chakra_bytes(chakra_bytes(step.trace(rank)), "step.et");
    ASSERT_TRUE(trace);
    const ChakraReport report = check_chakra(*trace);
    ASSERT_TRUE(report.accepted()) << report.findings[0].message;
    EXPECT_EQ(world_size(*trace), step.ranks());
    std::set<std::int64_t> named;
    for (const ChakraNode& node : trace->nodes) {
      EXPECT_NE(node.type, ChakraNodeType::metadata);
      if (node.type == ChakraNodeType::collective) named.insert(std::stoll(group_of(node)));
    }
    Communicators own;
    add_communicators(*trace, own);
    for (const std::int64_t number : named) EXPECT_TRUE(own.contains(number)) << number;
    for (const auto& [number, ranks] : own) {
      EXPECT_EQ(ranks, step.communicators().at(number));
      EXPECT_THAT(ranks, ::testing::AnyOf(::testing::IsEmpty(), ::testing::Contains(rank)));
    }
    found.merge(own);
    run.push_back({rank, "step." + std::to_string(rank) + ".et", std::move(*trace)});
  }
  EXPECT_EQ(found, step.communicators());
  EXPECT_EQ(found.begin()->first, 1);
  EXPECT_EQ(found.rbegin()->first, static_cast<std::int64_t>(found.size()));
  EXPECT_TRUE(found.at(1).empty());  // the gradient norm's, of all ranks
  const auto stops = astra_sim_run(run);
  ASSERT_TRUE(stops) << stops.error().text();
  EXPECT_TRUE(stops->empty()) << stops->front().finding.message;

  // With the group of all ranks left unnamed, its ranks never meet at the gradient norm.
  for (ChakraRank& rank : run) {
    for (ChakraNode& node : rank.trace.nodes) {
      if (node.type != ChakraNodeType::collective || group_of(node) != "1") continue;
      const auto type = *node.integer("comm_type");
      const auto size = *node.integer("comm_size");
      node.attributes = {chakra_int64("comm_type", type), chakra_int64("comm_size", size)};
    }
  }
  EXPECT_FALSE(check_chakra(run[0].trace).accepted());
  EXPECT_FALSE(astra_sim_run(run)->empty());
}

INSTANTIATE_TEST_SUITE_P(, StepChakraInAstraSim,
                         ::testing::Values(Job{"h100-sxm:8", "tp=2,pp=4", 8},
                                           Job{"h100-sxm:16", "tp=2,pp=4", 16},
                                           Job{"h100-sxm:64", "tp=4,pp=4", 32}));

TEST(StepChakra, EndsWhenTheStepEnds) {
  const Scenario s = scenario("llama-3-8b", "h100-sxm:16", "tp=2,pp=4", 4096, 16);
  const Picoseconds end = predict(s, catalog())->folded.time;
  std::uint64_t last = 0;
  for (const ChakraTrace& trace : all_ranks(s)) {
    for (const ChakraNode& node : trace.nodes) {
      last = std::max(last, node.start_micros + node.duration_micros);
    }
  }
  EXPECT_NEAR(static_cast<double>(last), end.count() / 1e6, 1);
}

TEST(StepChakra, FindsTheBytesOfACollective) {
  const auto ranks = all_ranks(scenario("llama-3-8b", "h100-sxm:16", "tp=2,pp=4", 4096, 16));
  std::map<std::string, std::set<std::int64_t>> sizes;
  for (const ChakraNode& node : ranks[0].nodes) {
    if (const auto size = node.integer("comm_size")) sizes[node.name].insert(*size);
  }
  // One microbatch of 4096 tokens of 4096 values in two bytes, halved between two ranks.
  constexpr std::int64_t kWhole = std::int64_t{4096} * 4096 * 2;
  EXPECT_THAT(sizes["all-gather of inputs"], ::testing::Contains(kWhole / 2));
  EXPECT_THAT(sizes["reduce-scatter of outputs"], ::testing::ElementsAre(kWhole));
  EXPECT_THAT(sizes["send activations"], ::testing::ElementsAre(kWhole / 2));
}

// b (s/c) {h, hkv, hkv, h} / tp values of two bytes: 32 heads and 8 of keys and values, 128 wide.
TEST(StepChakra, FindsTheBytesThatAttentionExchanges) {
  const auto ranks = all_ranks(
      scenario("llama-3-8b", "h100-sxm:16", "tp=2,cp=4,context_parallel=all-to-all", 32768, 16));
  std::map<std::string, std::set<std::int64_t>> sizes;
  for (const ChakraNode& node : ranks[0].nodes) {
    if (!node.name.starts_with("all-to-all of ")) continue;
    EXPECT_EQ(*node.integer("comm_type"), static_cast<std::int64_t>(ChakraCollective::all_to_all));
    sizes[node.name].insert(*node.integer("comm_size"));
  }
  constexpr std::int64_t kHead = std::int64_t{32768} / 4 * 128 * 2 / 2;
  const auto heads = [](std::int64_t n) { return std::set{n * kHead}; };
  EXPECT_EQ(sizes, (std::map<std::string, std::set<std::int64_t>>{
                       {"all-to-all of queries", heads(32)},
                       {"all-to-all of keys", heads(8)},
                       {"all-to-all of values", heads(8)},
                       {"all-to-all of attention outputs", heads(32)},
                       {"all-to-all of output gradients", heads(32)},
                       {"all-to-all of query gradients", heads(32)},
                       {"all-to-all of key gradients", heads(8)},
                       {"all-to-all of value gradients", heads(8)}}));
}

}  // namespace
}  // namespace orrery
