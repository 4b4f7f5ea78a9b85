#include "trace/chakra/astra_sim_run.h"

#include <gmock/gmock.h>

#include "trace/chakra/chakra_conversion.h"
#include "trace/chakra/chakra_file.h"
#include "trace/chakra/communicators.h"
#include "trace/kineto/kineto.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using ::testing::ElementsAre;

ChakraNode work(std::uint64_t id, std::uint64_t micros, std::vector<std::uint64_t> after = {}) {
  ChakraNode out;
  out.id = id;
  out.type = ChakraNodeType::compute;
  out.duration_micros = micros;
  out.data_dependencies = std::move(after);
  return out;
}

ChakraNode in_group(std::uint64_t id, std::string_view group, std::vector<std::uint64_t> after = {},
                    std::int64_t bytes = 64, ChakraCollective kind = ChakraCollective::all_reduce) {
  ChakraNode out = work(id, 1, std::move(after));
  out.type = ChakraNodeType::collective;
  out.attributes = {chakra_int64("comm_size", bytes),
                    chakra_int64("comm_type", static_cast<std::int64_t>(kind))};
  if (!group.empty()) out.attributes.push_back(chakra_text("pg_name", group));
  return out;
}

ChakraNode message(std::uint64_t id, ChakraNodeType type, std::int64_t from, std::int64_t to,
                   std::vector<std::uint64_t> after = {}, std::int64_t bytes = 64) {
  ChakraNode out = work(id, 1, std::move(after));
  out.type = type;
  out.attributes = {chakra_int64("comm_size", bytes), chakra_int64("comm_src", from),
                    chakra_int64("comm_dst", to)};
  return out;
}

// What each rank hangs at, of traces that all define these groups.
std::vector<std::string> stops(const std::vector<std::vector<ChakraNode>>& ranks,
                               const std::vector<NamedGroup>& groups = {}) {
  ChakraRun run;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    run.push_back({static_cast<std::int64_t>(r), "", {}});
    run.back().trace.nodes = ranks[r];
    define_groups(run.back().trace, groups);
  }
  const auto found = astra_sim_run(run);
  EXPECT_TRUE(found);
  std::vector<std::string> out;
  for (const AstraSimStop& stop : *found) {
    out.push_back("rank " + std::to_string(stop.rank) + " node " +
                  std::to_string(stop.finding.node) + ": " +
                  stop.finding.message.substr(stop.finding.message.find(": ") + 2));
  }
  return out;
}

TEST(AstraSimRun, MatchesCollectivesOfAGroupByTheirOrder) {
  const std::vector<NamedGroup> pair = {{"1", {0, 1}}};
  EXPECT_THAT(
      stops({{in_group(1, "1"), in_group(2, "1", {1})}, {in_group(7, "1"), in_group(8, "1")}},
            pair),
      ElementsAre());
  EXPECT_THAT(stops({{in_group(1, "1"), in_group(2, "1", {1})}, {in_group(7, "1")}}, pair),
              ElementsAre("rank 0 node 2: rank 1 of its group does not come"));
  EXPECT_THAT(
      stops({{in_group(1, "1", {}, 64, ChakraCollective::all_to_all)},
             {in_group(7, "1", {}, 32, ChakraCollective::all_to_all)}},
            pair),
      ElementsAre(
          "rank 0 node 1: node 7 of rank 1 has another comm_type or comm_size than node 1 of rank "
          "0",
          "rank 1 node 7: node 7 of rank 1 has another comm_type or comm_size than node 1 of rank "
          "0"));
}

// Rank 1 does not stand in for rank 2, whose group it is.
TEST(AstraSimRun, LetsNobodyIntoAGroupOfOthers) {
  EXPECT_THAT(stops({{in_group(1, "1")}, {in_group(7, "1")}, {work(1, 1)}}, {{"1", {0, 2}}}),
              ElementsAre("rank 0 node 1: rank 2 of its group does not come",
                          "rank 1 node 7: rank 1 is not in its group"));
}

// The gradient norm of a pipeline, in the default group: ranks whose stages have other groups, with
// other numbers of collectives, do not meet.
TEST(AstraSimRun, CountsCollectivesWithoutAGroupOverAllGroups) {
  const std::vector<NamedGroup> groups = {{"1", {0, 1}}, {"2", {2, 3}}, {"3", {0, 1, 2, 3}}};
  const auto rank = [](const char* own, bool twice, const char* all) {
    std::vector<ChakraNode> out = {in_group(1, own)};
    if (twice) out.push_back(in_group(2, own, {1}));
    out.push_back(in_group(3, all, {out.back().id}));
    return out;
  };
  const auto job = [&](const char* all) {
    return std::vector{rank("1", true, all), rank("1", true, all), rank("2", false, all),
                       rank("2", false, all)};
  };
  EXPECT_THAT(stops(job("3"), groups), ElementsAre());
  EXPECT_THAT(stops(job(""), groups),
              ElementsAre("rank 0 node 3: rank 2 of its group does not come",
                          "rank 1 node 3: rank 2 of its group does not come",
                          "rank 2 node 3: rank 0 of its group does not come",
                          "rank 3 node 3: rank 0 of its group does not come"));
}

// Two groups of the same two ranks, begun in different orders: one lane for both.
TEST(AstraSimRun, HasOneLaneForCommunication) {
  const std::vector<NamedGroup> groups = {{"1", {0, 1}}, {"2", {0, 1}}};
  EXPECT_THAT(
      stops({{in_group(1, "1"), in_group(2, "2")}, {in_group(1, "1"), in_group(2, "2")}}, groups),
      ElementsAre());
  EXPECT_THAT(
      stops({{in_group(1, "1"), in_group(2, "2")}, {in_group(1, "2"), in_group(2, "1")}}, groups),
      ElementsAre("rank 0 node 1: rank 1 of its group does not come",
                  "rank 1 node 1: rank 0 of its group does not come"));
}

TEST(AstraSimRun, PassesMessagesBesideEverything) {
  using enum ChakraNodeType;
  EXPECT_THAT(stops({{work(1, 5), message(2, send, 0, 1, {1})},
                     {message(1, receive, 0, 1), work(2, 3, {1}), work(3, 9)}}),
              ElementsAre());
  EXPECT_THAT(stops({{message(2, send, 0, 1, {}, 32)}, {message(1, receive, 0, 1)}}),
              ElementsAre("rank 1 node 1: rank 0 sends nothing of 64 bytes with tag 0"));
  // Rank 4 was not given.
  EXPECT_THAT(stops({{message(1, receive, 4, 0), in_group(2, "1")}}, {{"1", {0, 4}}}),
              ElementsAre());
}

TEST(AstraSimRun, ReplaysBroadcasts) {
  EXPECT_THAT(stops({{in_group(1, "", {}, 64, ChakraCollective::broadcast)}, {work(1, 1)}}),
              ElementsAre());
}

// Runs of two and eight GPUs, and one that Chakra's converter made of two, as `trace convert`
// writes and our reader reads them.
ChakraRun written_and_read(ChakraRun run) {
  number_groups(run);
  for (ChakraRank& rank : run) {
    auto read = read_chakra_bytes(chakra_bytes(rank.trace), rank.file);
    EXPECT_TRUE(read);
    rank.trace = std::move(*read);
  }
  return run;
}

ChakraRun recording(const std::string& folder, int ranks, const std::string& execution_trace,
                    Pauses pauses) {
  ChakraRun out;
  for (int r = 0; r < ranks; ++r) {
    const std::string n = std::to_string(r);
    const auto recorded = read_kineto(kTraces + folder + "/kineto_rank" + n + ".json.gz");
    EXPECT_TRUE(recorded);
    auto converted = [&] {
      if (execution_trace.empty()) return chakra_from(*recorded, {.pauses = pauses});
      const auto host = read_host_trace(kTraces + folder + "/" + execution_trace + n + ".json.gz");
      EXPECT_TRUE(host);
      return chakra_from(*recorded, *host, {.pauses = pauses});
    }();
    EXPECT_TRUE(converted);
    out.push_back({r, n, std::move(converted->trace)});
  }
  return written_and_read(std::move(out));
}

void expect_finishes(const ChakraRun& run) {
  for (const ChakraRank& rank : run) {
    const ChakraReport report = check_chakra(rank.trace);
    EXPECT_TRUE(report.accepted()) << report.findings[0].message;
  }
  const auto stops = astra_sim_run(run);
  ASSERT_TRUE(stops) << stops.error().text();
  EXPECT_TRUE(stops->empty()) << stops->front().finding.message;
}

TEST(AstraSimRun, FinishesRecordings) {
  for (const Pauses pauses : {Pauses::leave_out, Pauses::write}) {
    expect_finishes(recording("megatron-lm-fork/tp2", 2, "pytorch_et_rank", pauses));
    expect_finishes(recording("astra-sim/megatron-tp8", 8, "et_rank", pauses));
  }
  const std::string folder = kTraces + "chakra/comm-group-2gpu/chakra_trace.";
  auto converted = read_chakra_run({folder + "0.et", folder + "1.et"});
  ASSERT_TRUE(converted);
  expect_finishes(written_and_read(std::move(*converted)));
}

// Profiles without shapes: no communication has a size.
TEST(AstraSimRun, IsWarnedOfWhatWasRecordedWithoutSizes) {
  const ChakraRun run = recording("torchrec/sst_long_a2a_optimizer", 4, "", Pauses::write);
  for (const ChakraRank& rank : run) EXPECT_EQ(check_chakra(rank.trace).without_size, 12);
  expect_finishes(run);
}

TEST(Communicators, NumberGroupsOverAllRanks) {
  ChakraRun run(3);
  for (std::int64_t r = 0; r < 3; ++r) run[static_cast<std::size_t>(r)].rank = r;
  ChakraNode groups = work(9, 4);
  groups.type = ChakraNodeType::metadata;
  groups.name = "## process_group:init ##";
  groups.inputs = ChakraValues{R"(['[{"pg_name": "0", "ranks": []},)"
                               R"( {"pg_name": "mp", "ranks": [1, 0]}]'])",
                               "", ""};
  run[0].trace.nodes = {groups, in_group(1, "mp"), in_group(2, ""), in_group(3, "0")};
  groups.inputs->values = R"(['[{"pg_name": "mp", "ranks": [2]}]'])";
  run[1].trace.nodes = {in_group(1, "unknown")};
  run[2].trace.nodes = {groups, in_group(1, "mp"), in_group(2, "0")};
  const NumberedGroups numbered = number_groups(run);
  EXPECT_EQ(numbered.ranks, 3);
  EXPECT_FALSE(numbered.ranks_are_known);
  EXPECT_THAT(numbered.undefined, ElementsAre("unknown"));
  const auto names = [&](std::size_t rank) {
    std::vector<std::string> out;
    for (const ChakraNode& node : run[rank].trace.nodes) {
      EXPECT_NE(node.type, ChakraNodeType::metadata);
      if (node.type == ChakraNodeType::collective) out.push_back(group_of(node));
    }
    return out;
  };
  EXPECT_THAT(names(0), ElementsAre("1", "2", "2"));
  EXPECT_THAT(names(1), ElementsAre("3"));
  EXPECT_THAT(names(2), ElementsAre("4", "2"));
  EXPECT_TRUE(run[0].trace.nodes[0].is_host());
  const ChakraRun once = run;
  const NumberedGroups twice = number_groups(run);
  for (std::size_t r = 0; r < 3; ++r) EXPECT_EQ(run[r].trace, once[r].trace);
  EXPECT_THAT(twice.undefined, ElementsAre());
  EXPECT_EQ(twice.communicators, numbered.communicators);
  const auto text = communicator_text(numbered.communicators, numbered.ranks);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, R"({
  "1": [0, 1],
  "2": [0, 1, 2],
  "3": [0, 1, 2],
  "4": [2]
}
)");
}

// A run of ranks that define these groups and are in each of them.
ChakraRun in_groups(const std::vector<std::vector<NamedGroup>>& ranks) {
  ChakraRun out;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    out.push_back({static_cast<std::int64_t>(r), "", {}});
    define_groups(out.back().trace, ranks[r]);
    for (const NamedGroup& group : ranks[r]) {
      out.back().trace.nodes.push_back(in_group(out.back().trace.nodes.size() + 1, group.name));
    }
  }
  return out;
}

TEST(Communicators, AreTheSameUnderOneNumber) {
  ChakraRun one = in_groups({{{"1", {0, 1}}, {"01", {0, 1}}}, {{"1", {0, 1}}}});
  number_groups(one);
  EXPECT_THAT(defined_groups(one[0].trace).groups, ElementsAre(NamedGroup{"1", {0, 1}}));
  ChakraRun two = in_groups({{{"1", {0, 1}}, {"01", {0, 1, 2}}}, {{"1", {0, 1}}}});
  EXPECT_EQ(number_groups(two).communicators, (Communicators{{1, {0, 1}}, {2, {0, 1, 2}}}));
}

TEST(Communicators, OfAllRanksAreTheSameWithAndWithoutAList) {
  ChakraRun named = in_groups({{{"all", {}}}, {{"all", {1, 0}}}, {{"all", {0, 1, 2}}}});
  EXPECT_EQ(number_groups(named).communicators, (Communicators{{1, {}}, {2, {0, 1}}}));
  EXPECT_EQ(group_of(named[2].trace.nodes[0]), "1");
  ChakraRun numbered = in_groups({{{"7", {}}}, {{"7", {0, 1}}}});
  EXPECT_EQ(number_groups(numbered).communicators, (Communicators{{7, {}}}));
}

TEST(Communicators, KeepTheNumberOfRanksOfTheJob) {
  ChakraRun part = in_groups({{{"1", {}}}, {{"1", {}}}});
  EXPECT_FALSE(number_groups(part).ranks_are_known);
  EXPECT_EQ(world_size(part[0].trace), 0);
  EXPECT_EQ(number_groups(part, 16).ranks, 16);
  EXPECT_EQ(world_size(part[1].trace), 16);
  part.pop_back();
  const NumberedGroups again = number_groups(part);
  EXPECT_EQ(again.ranks, 16);
  EXPECT_TRUE(again.ranks_are_known);
  set_world_size(part[0].trace, -1);
  EXPECT_EQ(number_groups(part).ranks, 1);
}

TEST(Communicators, TellWhatIsWrongWithADefinition) {
  ChakraRun run = in_groups({{}, {}});
  run[0].trace.attributes = {chakra_text("process_groups", R"({"1": [0,1)")};
  run[0].trace.nodes = {in_group(1, "1")};
  ChakraNode groups = work(9, 4);
  groups.type = ChakraNodeType::metadata;
  groups.name = "## process_group:init ##";
  groups.inputs = ChakraValues{"not groups", "", ""};
  run[1].trace.nodes = {groups};
  const NumberedGroups found = number_groups(run);
  ASSERT_EQ(found.problems[0].size(), 1U);
  EXPECT_EQ(found.problems[0][0].message, "the metadata's process_groups are not a JSON object");
  ASSERT_EQ(found.problems[1].size(), 1U);
  EXPECT_EQ(found.problems[1][0].node, 9U);
  EXPECT_THAT(found.undefined, ElementsAre("1"));
}

// A file named trace.9999999.et.
TEST(Communicators, ListNoMoreRanksThanFit) {
  EXPECT_EQ(communicator_text({{1, {}}, {2, {}}}, 5'000'001).error().text(),
            "the communicator file of a job of 5000001 ranks would list 10000002 ranks (at most "
            "10,000,000: is a rank in a file's name or in a group damaged?)");
  EXPECT_EQ(*communicator_text({}, 1'000'000'000), "");
}

}  // namespace
}  // namespace orrery
