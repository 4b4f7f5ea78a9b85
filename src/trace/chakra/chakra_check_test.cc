#include "trace/chakra/chakra_check.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "trace/chakra/chakra_conversion.h"
#include "trace/chakra/chakra_file.h"
#include "trace/chakra/process_groups.h"
#include "trace/kineto/kineto.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ChakraNode node(std::uint64_t id, ChakraNodeType type, std::vector<std::uint64_t> after = {}) {
  ChakraNode out;
  out.id = id;
  out.name = "n" + std::to_string(id);
  out.type = type;
  out.data_dependencies = std::move(after);
  return out;
}

std::vector<std::string> findings(const std::vector<ChakraNode>& nodes) {
  ChakraTrace trace;
  trace.nodes = nodes;
  std::vector<std::string> out;
  for (const ChakraFinding& f : check_chakra(trace).findings) {
    out.push_back(std::to_string(f.node) + ": " + f.message);
  }
  return out;
}

TEST(ChakraCheck, AcceptsWhatAstraSimShips) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kTraces + "astra-sim")) {
    if (entry.path().extension() != ".et") continue;
    const auto trace = read_chakra(entry.path().string());
    ASSERT_TRUE(trace);
    const ChakraReport report = check_chakra(*trace);
    EXPECT_TRUE(report.accepted()) << entry.path() << ": " << report.findings[0].message;
    ++files;
  }
  EXPECT_EQ(files, 120);
}

TEST(ChakraCheck, AcceptsConvertedTraces) {
  for (const char* rank : {"0", "1"}) {
    const std::string folder = kTraces + "megatron-lm-fork/tp2/";
    const auto recorded = read_kineto(folder + "kineto_rank" + rank + ".json.gz");
    const auto host = read_host_trace(folder + "pytorch_et_rank" + rank + ".json.gz");
    ASSERT_TRUE(recorded && host);
    const auto both =
        chakra_from(*recorded, *host,
                    {.stream_order = StreamOrder::as_dependencies, .work = WorkAttributes::write});
    const auto alone = chakra_from(*recorded);
    ASSERT_TRUE(both && alone);
    for (const ChakraConversion* conversion : {&*both, &*alone}) {
      const ChakraReport report = check_chakra(conversion->trace);
      EXPECT_TRUE(report.accepted()) << report.total << ": " << report.findings[0].message;
    }
  }
}

// The quirks of the converter of 2024 that ours corrects.
TEST(ChakraCheck, FindsWhatIsWrongInTheGoldenConversion) {
  const auto golden = read_chakra(kTraces + "megatron-lm-fork/tp2/final.0.et");
  ASSERT_TRUE(golden);
  const ChakraReport report =
      check_chakra(*golden, {.absent = AbsentDependencies::count_as_done, .most = 1000});
  // 26 collectives on the host, each without type and size; two threads name the absent process.
  EXPECT_EQ(report.total, 3 * 26U);
  EXPECT_EQ(check_chakra(*golden).total, 3 * 26U + 2);
}

TEST(ChakraCheck, ChecksTheStructure) {
  using enum ChakraNodeType;
  EXPECT_THAT(findings({node(1, compute), node(1, compute)}),
              ElementsAre("1: another node has this identifier"));
  EXPECT_THAT(findings({node(1, compute, {7})}),
              ElementsAre("1: depends on node 7, which is absent"));
  EXPECT_THAT(findings({node(1, compute, {1})}),
              ElementsAre("1: depends on itself",
                          "1: the dependencies form a cycle through, or before, node 1"));
  EXPECT_THAT(findings({node(1, compute, {2}), node(2, compute, {1}), node(3, compute)}),
              ElementsAre("1: the dependencies form a cycle through, or before, node 1"));
}

TEST(ChakraCheck, ChecksTimes) {
  ChakraNode timed = node(1, ChakraNodeType::compute);
  timed.start_micros = 1'700'000'000'000'000;
  timed.duration_micros = kLongestNodeMicros;
  EXPECT_THAT(findings({timed}), testing::IsEmpty());
  timed.duration_micros = static_cast<std::uint64_t>(-5);
  EXPECT_THAT(findings({timed}), ElementsAre("1: takes -5 microseconds"));
  timed.duration_micros = 5;
  timed.start_micros = std::uint64_t{1} << 62U;
  EXPECT_THAT(findings({timed}), ElementsAre("1: starts at 4611686018427387904 microseconds"));
}

TEST(ChakraCheck, ChecksCommunication) {
  ChakraNode collective = node(4, ChakraNodeType::collective);
  EXPECT_THAT(findings({collective}), ElementsAre("4: has no comm_size", "4: has no comm_type"));
  collective.attributes = {chakra_boolean("is_cpu_op", true), chakra_int64("comm_size", 8),
                           chakra_int64("comm_type", 9), chakra_text("pg_name", "7")};
  EXPECT_THAT(findings({collective}),
              ElementsAre("4: communicates, but is_cpu_op says that it runs on the host",
                          "4: its group '7' is not defined", "4: BARRIER is not simulated"));
  collective.attributes = {chakra_int64("comm_size", -1), chakra_text("comm_type", "0")};
  EXPECT_THAT(findings({collective}),
              ElementsAre("4: comm_size is negative", "4: comm_type is not a whole number"));

  ChakraNode send = node(5, ChakraNodeType::send);
  send.attributes = {chakra_uint64("comm_size", 8)};
  EXPECT_THAT(findings({send}), ElementsAre("5: has no comm_dst"));
  send.attributes.push_back(chakra_int64("comm_dst", 1LL << 40));
  EXPECT_THAT(
      findings({send}),
      ElementsAre("5: comm_dst is 1099511627776, which is not a rank or tag from 0 to 2147483647"));
}

ChakraNode call(std::uint64_t id, std::string_view group, std::int64_t bytes = 8,
                ChakraCollective kind = ChakraCollective::all_reduce) {
  ChakraNode out = node(id, ChakraNodeType::collective);
  out.attributes = {chakra_int64("comm_size", bytes),
                    chakra_int64("comm_type", static_cast<std::int64_t>(kind))};
  if (!group.empty()) out.attributes.push_back(chakra_text("pg_name", group));
  return out;
}

std::vector<std::string> findings_in_groups(const std::vector<ChakraNode>& nodes,
                                            const std::vector<NamedGroup>& groups) {
  ChakraTrace trace;
  trace.nodes = nodes;
  define_groups(trace, groups);
  std::vector<std::string> out;
  for (const ChakraFinding& f : check_chakra(trace).findings) {
    out.push_back(std::to_string(f.node) + ": " + f.message);
  }
  return out;
}

TEST(ChakraCheck, ReadsGroupsFromTheirNode) {
  ChakraNode groups = node(1, ChakraNodeType::metadata);
  groups.name = "## process_group:init ##";
  groups.inputs = ChakraValues{R"(['[{"pg_name": "7", "ranks": [0, 1]}]'])", "", ""};
  const std::string metadata = "1: is METADATA, at which ASTRA-sim aborts";
  EXPECT_THAT(findings({call(2, "7"), groups}), ElementsAre(metadata));
  groups.inputs->values = "not groups";
  EXPECT_THAT(findings({call(2, "7"), groups}),
              ElementsAre("1: its process groups are not a JSON list between two characters at "
                          "each end",
                          "2: its group '7' is not defined", metadata));
}

TEST(ChakraCheck, WantsGroupsWithNumbers) {
  const std::vector<NamedGroup> groups = {{"1", {0, 1}}, {"tp", {0, 1}}, {"-1", {0, 1}},
                                          {"3", {}},     {"4", {5}},     {"0", {0, 1}}};
  EXPECT_THAT(findings_in_groups({call(1, "1"), call(2, "3")}, groups), ElementsAre());
  EXPECT_THAT(findings_in_groups({call(1, ""), call(2, "0")}, groups), ElementsAre());
  EXPECT_THAT(
      findings_in_groups({call(1, ""), call(2, "1")}, groups),
      ElementsAre("1: is in no numbered group, while others are: ASTRA-sim may match it with "
                  "another"));
  EXPECT_THAT(findings_in_groups({call(1, "tp"), call(2, "-1"), call(3, "4")}, groups),
              ElementsAre("1: its group 'tp' is not a number from 1",
                          "2: its group '-1' is not a number from 1",
                          "3: its group '4' has one rank, at which ASTRA-sim hangs"));
}

TEST(ChakraCheck, WantsTheRankAndOthersInItsGroups) {
  ChakraTrace trace;
  trace.nodes = {call(1, "1"), call(2, "2")};
  define_groups(trace, std::vector<NamedGroup>{{"1", {0, 2}}, {"2", {}}});
  const auto first = [&](std::int64_t rank, std::int64_t ranks) {
    const ChakraReport report = check_chakra(trace, {.rank = rank, .ranks = ranks});
    return report.accepted() ? "" : report.findings[0].message;
  };
  EXPECT_EQ(first(2, 3), "");
  EXPECT_EQ(first(1, 3), "its group '1' has no rank 1");
  EXPECT_EQ(first(2, 1), "its group '2' has one rank, at which ASTRA-sim hangs");
}

TEST(ChakraCheck, WantsSizesThatCanBeSent) {
  using enum ChakraCollective;
  EXPECT_THAT(
      findings({call(1, "", 0), call(2, "", 3, all_gather), call(3, "", 3, reduce_scatter)}),
      ElementsAre("2: gathers 3 bytes of each rank, too few for ASTRA-sim to split"));
  ChakraTrace unsized;
  unsized.nodes = {call(1, "", 0), call(2, "", 8), call(3, "", 0, broadcast),
                   call(4, "", 0, reduce_scatter)};
  EXPECT_TRUE(check_chakra(unsized).accepted());
  EXPECT_EQ(check_chakra(unsized).without_size, 2);
  unsized.nodes = {call(1, "", 0, all_gather)};
  EXPECT_EQ(check_chakra(unsized).without_size, 0);
  ChakraNode send = node(5, ChakraNodeType::send);
  send.attributes = {chakra_int64("comm_size", 0), chakra_int64("comm_dst", 1)};
  EXPECT_THAT(findings({send}), ElementsAre("5: comm_size is 0, at which ASTRA-sim aborts"));
}

TEST(ChakraOrder, PutsEachNodeBehindWhatItWaitsFor) {
  using enum ChakraNodeType;
  ChakraTrace trace;
  trace.nodes = {node(5, compute, {9}), node(9, compute), node(2, compute, {5}), node(7, compute)};
  const auto order = chakra_order(trace, "x.et", AbsentDependencies::report);
  ASSERT_TRUE(order);
  EXPECT_THAT(order->nodes, ElementsAre(3, 1, 0, 2));  // 7, 9, 5, 2
  EXPECT_THAT(order->before, ElementsAre(1, 0));
  EXPECT_THAT(order->offsets, ElementsAre(0, 1, 1, 2, 2));
  trace.nodes.push_back(node(3, compute, {4}));
  EXPECT_EQ(chakra_order(trace, "x.et", AbsentDependencies::report).error().text(),
            "x.et: node 3: depends on node 4, which is absent");
  EXPECT_TRUE(chakra_order(trace, "x.et", AbsentDependencies::count_as_done));
}

// 1277 control dependencies of this trace of 2023 name nodes that are not in the file, and with the
// others it has a cycle: it was made for a feeder that ignored them.
TEST(ChakraOrder, TakesATraceOfTheFirstFeederWithoutControlDependencies) {
  const auto trace = read_chakra(kTraces + "chakra/chakra.0.et");
  ASSERT_TRUE(trace);
  EXPECT_FALSE(chakra_order(*trace, "", AbsentDependencies::report));
  EXPECT_THAT(chakra_order(*trace, "x.et", AbsentDependencies::count_as_done).error().text(),
              HasSubstr("x.et: the dependencies form a cycle"));
  const auto order =
      chakra_order(*trace, "", AbsentDependencies::report, ControlDependencies::ignore);
  ASSERT_TRUE(order) << order.error().text();
  EXPECT_EQ(order->nodes.size(), 3664U);
}

}  // namespace
}  // namespace orrery
