#include "trace/chakra/chakra_conversion.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "trace/chakra/chakra_file.h"
#include "trace/chakra/process_groups.h"
#include "trace/kineto/kineto.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

struct Rank {
  RecordedTrace recorded;
  HostTrace host;
  ChakraTrace golden;
};

Rank megatron_tp2(int rank) {
  const std::string n = std::to_string(rank);
  const std::string folder = kTraces + "megatron-lm-fork/tp2/";
  auto recorded = read_kineto(folder + "kineto_rank" + n + ".json.gz");
  auto host = read_host_trace(folder + "pytorch_et_rank" + n + ".json.gz");
  auto golden = read_chakra(folder + "final." + n + ".et");
  EXPECT_TRUE(recorded && host && golden);
  return {std::move(*recorded), std::move(*host), std::move(*golden)};
}

std::map<std::uint64_t, const ChakraNode*> by_id(const ChakraTrace& trace) {
  std::map<std::uint64_t, const ChakraNode*> out;
  for (const ChakraNode& node : trace.nodes) out[node.id] = &node;
  return out;
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

class GoldenConversion : public ::testing::TestWithParam<int> {};

// The golden files hold the same nodes under the same identifiers with the same dependencies.
TEST_P(GoldenConversion, HasTheSameNodesAndDependencies) {
  const Rank rank = megatron_tp2(GetParam());
  const auto converted = chakra_from(rank.recorded, rank.host,
                                     {.synchronization = SynchronizationDependencies::leave_out});
  ASSERT_TRUE(converted) << converted.error().text();
  const auto ours = by_id(converted->trace);
  const auto golden = by_id(rank.golden);
  ASSERT_EQ(ours.size(), 2128U);
  ASSERT_EQ(golden.size(), 2128U);
  int rounded_down = 0;
  for (const auto& [id, theirs] : golden) {
    ASSERT_TRUE(ours.contains(id)) << id;
    const ChakraNode& node = *ours.at(id);
    EXPECT_EQ(node.name, theirs->name) << id;
    EXPECT_EQ(sorted(node.data_dependencies), sorted(theirs->data_dependencies)) << id;
    // Corrected: threads name the process, 0, which is in no file.
    const bool thread = theirs->control_dependencies == std::vector<std::uint64_t>{0};
    EXPECT_EQ(node.control_dependencies,
              thread ? std::vector<std::uint64_t>{} : theirs->control_dependencies)
        << id;
    // Ours are whole nanoseconds cut to microseconds; there, a binary fraction just below a whole
    // number was cut to the one before (two operators).
    rounded_down += node.duration_micros == theirs->duration_micros + 1 ? 1 : 0;
    EXPECT_LE(node.duration_micros - theirs->duration_micros, 1U) << id << " " << node.name;
    EXPECT_EQ(node.inputs, theirs->inputs) << id;
    EXPECT_EQ(node.outputs, theirs->outputs) << id;
    for (const char* same :
         {"rf_id", "fw_parent", "seq_id", "scope", "tid", "fw_tid", "op_schema"}) {
      ASSERT_TRUE(node.find(same));
      EXPECT_EQ(*node.find(same), *theirs->find(same)) << id << " " << same;
    }
    EXPECT_EQ(node.is_host(), theirs->is_host()) << id;
    EXPECT_EQ(node.find("is_cpu_op")->kind, ChakraKind::boolean);  // corrected: was int32
    EXPECT_EQ(node.integer("comm_type"), theirs->integer("comm_type")) << id;
    EXPECT_EQ(node.integer("comm_size"), theirs->integer("comm_size")) << id;
    if (theirs->integer("pg_id")) {  // corrected: a number under another name
      EXPECT_EQ(node.text("pg_name"), std::to_string(*theirs->integer("pg_id")));
    }
    if (theirs->is_host()) {  // corrected: those named like communication were COMM_COLL
      EXPECT_EQ(node.type, ChakraNodeType::compute) << id;
    } else {
      EXPECT_EQ(node.type, theirs->type) << id;
    }
  }
  EXPECT_LE(rounded_down, 2);
  auto metadata = converted->trace.attributes;
  ASSERT_EQ(metadata.back().name, "process_groups");
  metadata.pop_back();
  EXPECT_EQ(metadata, rank.golden.attributes);
  EXPECT_EQ(converted->without_launch, 0U);
  EXPECT_EQ(converted->linked_by, LinkMethod::record_function_id);
}

TEST_P(GoldenConversion, AddsOnlyEdgesFromDevicesToTheHost) {
  const Rank rank = megatron_tp2(GetParam());
  const auto with = chakra_from(rank.recorded, rank.host);
  const auto without = chakra_from(rank.recorded, rank.host,
                                   {.synchronization = SynchronizationDependencies::leave_out});
  ASSERT_TRUE(with && without);
  EXPECT_GT(with->synchronizations, 0U);
  EXPECT_EQ(without->synchronizations, 0U);
  const auto nodes = by_id(with->trace);
  std::size_t added = 0;
  for (std::size_t i = 0; i < with->trace.nodes.size(); ++i) {
    const ChakraNode& node = with->trace.nodes[i];
    const auto& before = without->trace.nodes[i].data_dependencies;
    const auto& after = node.data_dependencies;
    ASSERT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
    for (std::size_t d = before.size(); d < after.size(); ++d) {
      const ChakraNode& work = *nodes.at(after[d]);
      EXPECT_TRUE(node.is_host());
      EXPECT_FALSE(work.is_host());
      // What was waited for had ended (whole microseconds) when the operator began.
      EXPECT_LE(work.start_micros + work.duration_micros, node.start_micros + 1);
      ++added;
    }
  }
  EXPECT_EQ(added, with->synchronizations);
}

INSTANTIATE_TEST_SUITE_P(MegatronTp2, GoldenConversion, ::testing::Values(0, 1));

TEST(ChakraConversion, OrdersTheWorkOfAStreamOnDemand) {
  const Rank rank = megatron_tp2(0);
  const auto converted =
      chakra_from(rank.recorded, rank.host, {.stream_order = StreamOrder::as_dependencies});
  ASSERT_TRUE(converted);
  std::map<std::int64_t, std::vector<const ChakraNode*>> streams;
  for (const ChakraNode& node : converted->trace.nodes) {
    if (!node.is_host()) streams[*node.integer("stream")].push_back(&node);
  }
  EXPECT_EQ(streams.size(), 2U);
  std::size_t edges = 0;
  for (auto& [stream, nodes] : streams) {
    for (const ChakraNode* node : nodes) {
      for (const std::uint64_t id : node->data_dependencies) {
        edges += std::any_of(nodes.begin(), nodes.end(),
                             [&](const ChakraNode* other) { return other->id == id; });
      }
    }
    EXPECT_LE(nodes.size(), edges + streams.size());
  }
  EXPECT_EQ(edges, 245 - streams.size());  // one edge between each two that follow each other
}

TEST(ChakraConversion, CountsOperationsAndBytesOnDemand) {
  const Rank rank = megatron_tp2(0);
  const auto converted = chakra_from(rank.recorded, rank.host, {.work = WorkAttributes::write});
  ASSERT_TRUE(converted);
  bool seen = false;
  for (const ChakraNode& node : converted->trace.nodes) {
    if (node.is_host() || node.type != ChakraNodeType::compute) {
      EXPECT_FALSE(node.find("num_ops"));
      continue;
    }
    ASSERT_TRUE(node.integer("num_ops"));
    EXPECT_EQ(node.find("tensor_size")->kind, ChakraKind::uint64);
    if (node.inputs->shapes == "[[512, 12], [12, 24]]") {
      // [512, 12] x [12, 24] in float32: 2 x 512 x 12 x 24 operations, three tensors.
      EXPECT_EQ(node.integer("num_ops"), 294'912);
      EXPECT_EQ(node.integer("tensor_size"), 4 * (512 * 12 + 12 * 24 + 512 * 24));
      seen = true;
    }
  }
  EXPECT_TRUE(seen);
}

// Megatron TP8: 81 all-reduces of [2048, 4, 4096] fp16 and three of [4, 2048] float.
TEST(ChakraConversion, FindsTheBytesOfCollectivesWithoutArguments) {
  const auto recorded = read_kineto(kTraces + "astra-sim/megatron-tp8/kineto_rank2.json.gz");
  const auto host = read_host_trace(kTraces + "astra-sim/megatron-tp8/et_rank2.json.gz");
  ASSERT_TRUE(recorded && host);
  const auto linked = chakra_from(*recorded, *host);
  const auto alone = chakra_from(*recorded);
  ASSERT_TRUE(linked) << linked.error().text();
  ASSERT_TRUE(alone);
  for (const ChakraConversion* conversion : {&*linked, &*alone}) {
    std::map<std::int64_t, int> sizes;
    for (const ChakraNode& node : conversion->trace.nodes) {
      if (node.type != ChakraNodeType::collective) continue;
      EXPECT_EQ(node.integer("comm_type"), 0);
      ++sizes[*node.integer("comm_size")];
    }
    EXPECT_EQ(sizes, (std::map<std::int64_t, int>{{32'768, 3}, {67'108'864, 81}}));
    EXPECT_EQ(conversion->without_launch, 0U);
  }
}

TEST(ChakraConversion, MakesGroupsOfTheHeaderWithoutAnExecutionTrace) {
  const Rank rank = megatron_tp2(1);
  const auto converted = chakra_from(rank.recorded);
  ASSERT_TRUE(converted);
  const auto groups = defined_groups(converted->trace).groups;
  EXPECT_EQ(groups.front().name, "0");
  EXPECT_THAT(groups, ::testing::Contains(NamedGroup{"13", {0, 1}}));
  int collectives = 0;
  for (const ChakraNode& node : converted->trace.nodes) {
    if (node.type != ChakraNodeType::collective) continue;
    ++collectives;
    EXPECT_EQ(node.text("pg_name"), "13");
  }
  EXPECT_EQ(collectives, 13);
}

// Expert parallelism: all-to-all of unequal parts runs as send and receive, one kernel a call.
TEST(ChakraConversion, KnowsAllToAllOfSendAndReceiveKernels) {
  const auto recorded = read_kineto(kTraces + "ao/ref_ep_moe_fwd.json.gz");
  ASSERT_TRUE(recorded);
  const auto converted = chakra_from(*recorded);
  ASSERT_TRUE(converted);
  int exchanges = 0;
  for (const ChakraNode& node : converted->trace.nodes) {
    if (node.type != ChakraNodeType::collective) continue;
    exchanges += node.integer("comm_type") == 6 ? 1 : 0;
  }
  EXPECT_GT(exchanges, 0);
  EXPECT_EQ(converted->unknown_communication, 0U);
}

}  // namespace
}  // namespace orrery
