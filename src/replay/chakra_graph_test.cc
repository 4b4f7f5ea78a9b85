#include "replay/chakra_graph.h"

#include <gmock/gmock.h>

#include "replay/chakra_prices.h"
#include "replay/graph_replay.h"
#include "simulate/simulate.h"
#include "trace/chakra/chakra_file.h"
#include "trace/published_traces.h"

namespace orrery {
namespace {

ChakraNode node(std::uint64_t id, bool host, std::uint64_t micros,
                std::vector<std::uint64_t> after = {}) {
  ChakraNode out;
  out.id = id;
  out.name = "n" + std::to_string(id);
  out.type = ChakraNodeType::compute;
  out.duration_micros = micros;
  out.data_dependencies = std::move(after);
  out.attributes = {chakra_boolean("is_cpu_op", host)};
  return out;
}

ChakraNode collective(std::uint64_t id, std::uint64_t micros, std::int64_t bytes,
                      std::vector<std::uint64_t> after = {},
                      ChakraCollective kind = ChakraCollective::all_reduce) {
  ChakraNode out = node(id, false, micros, std::move(after));
  out.type = ChakraNodeType::collective;
  out.attributes.push_back(chakra_int64("comm_type", static_cast<std::int64_t>(kind)));
  out.attributes.push_back(chakra_int64("comm_size", bytes));
  return out;
}

ChakraNode transfer(std::uint64_t id, ChakraNodeType type, std::uint64_t micros, int peer, int tag,
                    std::vector<std::uint64_t> after = {}) {
  ChakraNode out = node(id, false, micros, std::move(after));
  out.type = type;
  const bool sends = type == ChakraNodeType::send;
  out.attributes.push_back(chakra_int64("comm_size", 1 << 20));
  out.attributes.push_back(chakra_int32(sends ? "comm_dst" : "comm_src", peer));
  out.attributes.push_back(chakra_int32("comm_tag", tag));
  return out;
}

ChakraRun run_of(std::vector<std::vector<ChakraNode>> ranks) {
  ChakraRun run;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    run.push_back({static_cast<std::int64_t>(r), "x." + std::to_string(r) + ".et", {}});
    run.back().trace.nodes = std::move(ranks[r]);
  }
  return run;
}

double makespan_us(const ChakraRun& run) {
  const auto graph = chakra_graph(run);
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? simulate(graph->graph).makespan.count() / 1e6 : 0;
}

ChakraPrices prices(const char* cluster) {
  const Catalog& catalog = Catalog::built_in();
  return *ChakraPrices::create(*parse_cluster(cluster, catalog), catalog);
}

ChakraRun files(const std::string& folder, const std::string& prefix, int ranks) {
  std::vector<std::string> names;
  for (int r = 0; r < ranks; ++r) {
    names.push_back(kTraces + folder + "/" + prefix + "." + std::to_string(r) + ".et");
  }
  auto run = read_chakra_run(names);
  EXPECT_TRUE(run) << run.error().text();
  return run ? std::move(*run) : ChakraRun();
}

TEST(ChakraGraph, RunsHostAndDeviceBesideEachOther) {
  // The host launches two kernels of 10 us after 2 us each; a third operator waits for the first.
  const ChakraRun run = run_of({{node(1, true, 2), node(2, false, 10, {1}), node(3, true, 2, {1}),
                                 node(4, false, 10, {3}), node(5, true, 1, {2})}});
  const auto graph = chakra_graph(run);
  ASSERT_TRUE(graph) << graph.error().text();
  const Timeline timeline = simulate(graph->graph);
  EXPECT_EQ(timeline.makespan, Picoseconds(22e6));  // 2 + 10 + 10: kernels one at a time
  const auto spans = chakra_spans(run, *graph);
  ASSERT_EQ(spans.size(), 5U);
  EXPECT_EQ(spans[0].stream, "compute");
  EXPECT_EQ(spans[0].start, Picoseconds(2e6));
  EXPECT_EQ(spans[4].name, "n5");
  EXPECT_EQ(spans[4].start, Picoseconds(12e6));
}

TEST(ChakraGraph, RunsStreamsBesideEachOther) {
  ChakraNode a = node(1, false, 10);
  ChakraNode b = node(2, false, 10);
  EXPECT_EQ(makespan_us(run_of({{a, b}})), 20);
  a.attributes.push_back(chakra_int64("stream", 7));
  b.attributes.push_back(chakra_int64("stream", 20));
  EXPECT_EQ(makespan_us(run_of({{a, b}})), 10);
}

// Ranks arrive after 5 and 30 us; the second waited for nobody, so that 4 us are the transfer.
TEST(ChakraGraph, LetsNobodyLeaveACollectiveBeforeTheLastHasCome) {
  const ChakraRun run =
      run_of({{node(1, false, 5), collective(2, 29, 64, {1}), node(3, false, 1, {2})},
              {node(1, false, 30), collective(2, 4, 64, {1}), node(3, false, 2, {2})}});
  const auto graph = chakra_graph(run);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->rendezvous, 1U);
  const GraphReplay result = replay(run, *graph);
  EXPECT_DOUBLE_EQ(result.step.value(), 36e-6);
  const ReplayedParts& first = result.ranks[0].parts;
  EXPECT_DOUBLE_EQ(first.computing.value(), 6e-6);
  EXPECT_DOUBLE_EQ(first.communicating.value(), 4e-6);
  EXPECT_DOUBLE_EQ(first.waiting.value(), 25e-6);
  EXPECT_DOUBLE_EQ(first.idle.value(), 1e-6);
  EXPECT_DOUBLE_EQ(result.ranks[1].parts.waiting.value(), 0);
}

TEST(ChakraGraph, PairsTransfersBySourceDestinationAndTag) {
  // The receives are named in the other order; tags tell which is which.
  const auto send = ChakraNodeType::send;
  const auto receive = ChakraNodeType::receive;
  const ChakraRun run = run_of(
      {{node(1, false, 10), transfer(2, send, 3, 1, 5, {1}), transfer(3, send, 4, 1, 6, {2})},
       {transfer(1, receive, 4, 0, 6), transfer(2, receive, 3, 0, 5), node(3, false, 1, {2}),
        node(4, false, 1, {1})}});
  const auto graph = chakra_graph(run);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->rendezvous, 2U);
  EXPECT_EQ(graph->alone, 0U);
  EXPECT_EQ(simulate(graph->graph).makespan, Picoseconds(18e6));  // 10 + 3 + 4 + 1
}

// formats.md: 14 transfers of 131,072 bytes around a ring of 8, each behind the one before.
TEST(ChakraGraph, PricesARingOfTransfers) {
  const ChakraRun run = files("astra-sim/et-custom-collectives/custom_ring_allreduce_8npus_1MB",
                              "custom_allreduce", 8);
  ChakraPrices on = prices("h100-sxm:8");
  const auto graph = chakra_graph(run, {.prices = &on});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->rendezvous, 8U * 14);
  EXPECT_EQ(graph->alone, 0U);
  const ChakraMeeting one{.transfer = true, .from = 0, .to = 1, .bytes = 131072};
  const double hop = on.communication(one, {})->count();
  const GraphReplay result = replay(run, *graph);
  EXPECT_NEAR(result.step.value(), (14 * hop + 49e6) * 1e-12, 14e-12);
}

// The collective model itself, at the payload that ASTRA-sim's sizes mean.
TEST(ChakraGraph, PricesACollective) {
  ChakraPrices on = prices("h100-sxm:8");
  for (const char* kind : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"}) {
    const ChakraRun run =
        files(std::string("astra-sim/et-microbenchmarks/") + kind + "/8npus_1MB", kind, 8);
    const auto refused = chakra_graph(run);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text(),
                ::testing::HasSubstr("this communication has no recorded duration"));
    const auto graph = chakra_graph(run, {.prices = &on});
    ASSERT_TRUE(graph) << graph.error().text();
    EXPECT_EQ(graph->priced, 1U);
    const Seconds step = replay(run, *graph).step;
    // Never faster than what each rank must send over its links of 450 GB/s.
    const double bytes = std::string_view(kind) == "all_reduce"   ? 2.0 * 7 / 8
                         : std::string_view(kind) == "all_gather" ? 7.0
                                                                  : 7.0 / 8;
    EXPECT_GT(step.value(), bytes * 1048576 / 450e9) << kind;
    EXPECT_LT(step.value(), 100e-6) << kind;
  }
  const ChakraRun sixteen =
      files("astra-sim/et-microbenchmarks/all_reduce/16npus_1MB", "all_reduce", 16);
  const auto small = chakra_graph(sixteen, {.prices = &on});
  ASSERT_TRUE(small);  // all ranks: the eight of the cluster
}

TEST(ChakraGraph, PricesComputingByItsRoofline) {
  const ChakraPrices on = prices("h100-sxm:8");
  // 1 GB at no more than 3.35 TB/s; 1 PFLOP at no more than 989 TFLOP/s.
  EXPECT_GT(on.computing(Flops(0), Bytes(1e9)).seconds().value(), 1e9 / 3.35e12);
  EXPECT_GT(on.computing(Flops(1e15), Bytes(0)).seconds().value(), 1e15 / 989e12);
  EXPECT_EQ(on.computing(Flops(1e15), Bytes(1e3)), on.computing(Flops(1e15), Bytes(0)));
  ChakraNode bare = node(1, false, 0);
  bare.attributes.push_back(chakra_int64("num_ops", 1'000'000'000'000));
  bare.attributes.push_back(chakra_uint64("tensor_size", 1'000'000));
  const ChakraRun run = run_of({{bare}});
  ChakraPrices charged = prices("h100-sxm:8");
  const auto graph = chakra_graph(run, {.prices = &charged});
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->priced, 1U);
  EXPECT_EQ(simulate(graph->graph).makespan, on.computing(Flops(1e12), Bytes(1e6)));
  EXPECT_EQ(chakra_graph(run)->without_duration, 1U);
}

TEST(ChakraGraph, TakesNoLessThanTheDependenciesOfARealTrace) {
  const ChakraRun run = files("megatron-lm-fork/tp2", "final", 2);
  const auto graph = chakra_graph(run, {.absent = AbsentDependencies::count_as_done});
  ASSERT_TRUE(graph) << graph.error().text();
  // 13 all-reduces, each of both ranks; 26 operators of the host that are called so are none.
  EXPECT_EQ(graph->rendezvous, 13U);
  EXPECT_EQ(graph->graph.size(), 2U * 2128 - 13);
  double host = 0;
  for (const ChakraNode& n : run[0].trace.nodes) {
    if (n.is_host()) host += static_cast<double>(n.duration_micros) * 1e6;
  }
  // A step bound by its host: the two threads follow each other, so its time is theirs.
  EXPECT_GE(simulate(graph->graph).makespan.count(), host * 0.99);
  // Rank 1 waited 47 ms in its first all-reduce, which the transfer itself does not take.
  const GraphReplay result = replay(run, *graph);
  EXPECT_LT(result.ranks[1].parts.communicating.value() + result.ranks[1].parts.overlapped.value(),
            1e-3);
}

TEST(ChakraGraph, RefusesRanksThatWaitForEachOther) {
  const ChakraRun run =
      run_of({{collective(1, 1, 8), collective(2, 1, 8, {1}, ChakraCollective::all_gather)},
              {collective(1, 1, 8, {2}, ChakraCollective::all_gather), collective(2, 1, 8)}});
  EXPECT_TRUE(chakra_graph(run)) << "dependencies, not identifiers, order communications";
  const auto send = ChakraNodeType::send;
  const auto receive = ChakraNodeType::receive;
  // Each would receive before it sends.
  EXPECT_EQ(chakra_graph(run_of({{transfer(1, receive, 1, 1, 0), transfer(2, send, 1, 1, 0, {1})},
                                 {transfer(1, receive, 1, 0, 0), transfer(2, send, 1, 0, 0, {1})}}))
                .error()
                .text(),
            "x.0.et: node 1: ranks wait for each other in a circle through, or before, this node "
            "(communications of a group must come in one order on all its ranks)");
  // Sends wait for no receive.
  EXPECT_TRUE(
      chakra_graph(run_of({{transfer(1, send, 1, 1, 0), transfer(2, receive, 1, 1, 0, {1})},
                           {transfer(1, send, 1, 0, 0), transfer(2, receive, 1, 0, 0, {1})}})));
}

TEST(ChakraGraph, RefusesRanksOfDifferentJobs) {
  EXPECT_EQ(chakra_graph(run_of({{collective(7, 1, 8)},
                                 {collective(9, 1, 8, {}, ChakraCollective::all_gather)}}))
                .error()
                .text(),
            "x.1.et: node 9: ALL_GATHER meets ALL_REDUCE of x.0.et: node 7 (the ranks of a group "
            "call the same collectives in the same order: are these files of one job?)");
}

TEST(ChakraGraph, RefusesSizesAndTimesThatCannotBe) {
  EXPECT_EQ(chakra_graph(run_of({{collective(7, 1, -8)}})).error().text(),
            "x.0.et: node 7: comm_size is negative");
  EXPECT_EQ(chakra_graph(run_of({{node(1, true, 1ULL << 60)}})).error().text(),
            "x.0.et: node 1: takes 1152921504606846976 microseconds (at most 9e9, two and a half "
            "hours)");
}

TEST(ChakraGraph, RefusesARankThatItsGroupDoesNotHold) {
  ChakraNode groups = node(1, true, 0);
  groups.name = "## process_group:init ##";
  groups.type = ChakraNodeType::metadata;
  groups.inputs = ChakraValues{R"(['[{"pg_name": "1", "ranks": [2, 3]}]'])", "[]", "[]"};
  ChakraNode call = collective(2, 1, 8);
  call.attributes.push_back(chakra_text("pg_name", "1"));
  EXPECT_EQ(chakra_graph(run_of({{groups, call}})).error().text(),
            "x.0.et: node 2: its group '1' has no rank 0 (a file belongs to the rank in its name: "
            "trace.RANK.et)");
}

}  // namespace
}  // namespace orrery
