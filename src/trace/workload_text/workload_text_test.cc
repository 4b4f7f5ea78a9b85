#include "trace/workload_text/workload_text.h"

#include <gmock/gmock.h>

#include "trace/chakra/chakra_check.h"
#include "trace/chakra/communicators.h"
#include "trace/workload_text/workload_chakra.h"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two layers of a data-parallel model, as ASTRA-sim 1.0 reads them.
const std::string kData =
    "DATA\n"
    "2\n"
    "embedding -1 5 NONE 0 0 NONE 0 6 ALLREDUCE 2048 1\n"
    "layer -1 10\tNONE 0 20 NONE 0 30 ALLREDUCE 1024 2\n";

// In the form of SimAI's published sample: T 2, ep 2, pp 2, 16 GPUs.
const std::string kSimAi =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 1 ga: 4 "
    "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0\n"
    "2\n"
    "grad_gather -1 1 NONE 0 1 NONE 0 1 ALLGATHER 2807758848 100\n"
    "moelayer -1 2500 ALLTOALL_EP 4096 2500 ALLTOALL_EP 4096 1 REDUCESCATTER_DP_EP 8192 100\n";

std::string workload_error(const std::string& text) {
  const auto workload = parse_workload(text, "w.txt");
  return workload ? "no error" : workload.error().text();
}

TEST(WorkloadText, ReadsTheFormatOfAstraSim) {
  const auto workload = parse_workload(kData, "w.txt");
  ASSERT_TRUE(workload) << workload.error().text();
  EXPECT_EQ(workload->policy, "DATA");
  ASSERT_EQ(workload->layers.size(), 2U);
  const WorkloadLayer& layer = workload->layers[1];
  EXPECT_EQ(layer.name, "layer");
  EXPECT_EQ(layer.forward.time_ns, 10'000);
  EXPECT_EQ(layer.input_gradient.time_ns, 20'000);
  EXPECT_FALSE(layer.forward.collective);
  EXPECT_EQ(layer.weight_gradient.collective, ChakraCollective::all_reduce);
  EXPECT_EQ(layer.weight_gradient.bytes, 1024);
  EXPECT_EQ(layer.update_ns, 2000);
}

TEST(WorkloadText, ReadsTheFormatOfSimAi) {
  const auto workload = parse_workload(kSimAi, "w.txt");
  ASSERT_TRUE(workload) << workload.error().text();
  EXPECT_EQ(workload->accelerators, 16);
  EXPECT_EQ(workload->tensor, 2);
  EXPECT_EQ(workload->expert, 2);
  EXPECT_EQ(workload->pipeline, 2);
  EXPECT_EQ(workload->layers[0].weight_gradient.bytes, 2'807'758'848);
  EXPECT_EQ(workload->layers[0].weight_gradient.group, WorkloadGroup::data);
  EXPECT_EQ(workload->layers[1].forward.time_ns, 2500);
  EXPECT_EQ(workload->layers[1].forward.group, WorkloadGroup::expert);
  EXPECT_EQ(workload->layers[1].weight_gradient.group, WorkloadGroup::expert_data);
}

TEST(WorkloadText, SaysWhatIsWrongAndOnWhichLine) {
  EXPECT_EQ(workload_error(""), "w.txt:0: the file ends where the policy was expected");
  EXPECT_THAT(workload_error("DATE\n1\n"), HasSubstr("w.txt:1: unknown policy 'DATE'"));
  EXPECT_EQ(workload_error("DATA\nmany\n"),
            "w.txt:2: no number of layers (line 2 of a workload says how many layers follow)");
  EXPECT_EQ(workload_error("DATA\n1\n"), "w.txt:2: the file ends where layer 1 of 1 was expected");
  EXPECT_THAT(workload_error("DATA\n1\na -1 5 NONE 0\n"),
              HasSubstr("w.txt:3: a layer of 5 columns"));
  EXPECT_EQ(workload_error("DATA\n1\na -1 -5 NONE 0 0 NONE 0 6 NONE 0 1\n"),
            "w.txt:3: '-5' is not a time (whole microseconds)");
  EXPECT_EQ(workload_error("DATA\n1\na -1 5 GOSSIP 0 0 NONE 0 6 NONE 0 1\n"),
            "w.txt:3: unknown collective 'GOSSIP' (NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or "
            "ALLTOALL)");
  EXPECT_EQ(workload_error("DATA\n1\na -1 5 NONE -1 0 NONE 0 6 NONE 0 1\n"),
            "w.txt:3: '-1' is not a number of bytes");
  EXPECT_EQ(workload_error(kData + "another -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n"),
            "w.txt:5: a layer more than the 2 that line 2 says");
  EXPECT_THAT(
      workload_error("HYBRID_TRANSFORMER model_parallel_NPU_group: 3 pp: 1 all_gpus: 16\n0\n"),
      HasSubstr("3 tensor-parallel ranks x 1 stages do not divide 16 GPUs"));
}

std::vector<std::string> lines(const ChakraTrace& trace) {
  std::vector<std::string> out;
  for (const ChakraNode& node : trace.nodes) {
    std::string line = std::to_string(node.id) + " " + node.name;
    for (const std::uint64_t id : node.data_dependencies) line += " <" + std::to_string(id);
    out.push_back(line);
  }
  return out;
}

TEST(WorkloadChakra, ReducesGradientsBesideTheLayersBefore) {
  const ChakraTrace trace = chakra_from(*parse_workload(kData, "w.txt"), 0);
  EXPECT_THAT(lines(trace),
              ElementsAre("1 embedding forward", "2 layer forward <1", "3 layer input gradient <2",
                          "4 layer weight gradient <3", "5 layer weight gradient ALL_REDUCE <4",
                          "6 layer update <5", "7 embedding weight gradient <3",
                          "8 embedding weight gradient ALL_REDUCE <7", "9 embedding update <8"));
  EXPECT_EQ(trace.nodes[1].duration_micros, 10U);
  EXPECT_EQ(trace.nodes[4].integer("comm_size"), 1024);
  EXPECT_TRUE(check_chakra(trace).accepted());
}

TEST(WorkloadChakra, LaysOutTheGroupsOfSimAi) {
  const auto workload = parse_workload(kSimAi, "w.txt");
  ASSERT_TRUE(workload);
  // 16 ranks: 2 stages of 4 data-parallel pairs. Rank 13: stage 1, third pair, second of it.
  const ChakraTrace trace = chakra_from(*workload, 13);
  // Behind 8 groups of tensor parallelism, which nothing uses, 4 of data, 8 of expert and 8 of
  // expert-data parallelism.
  EXPECT_EQ(defined_groups(trace).groups,
            (std::vector<NamedGroup>{{"20", {13, 15}}, {"27", {9, 13}}, {"12", {9, 11, 13, 15}}}));
  Communicators communicators;
  for (std::int64_t rank = 0; rank < 16; ++rank) {
    const ChakraTrace of_rank = chakra_from(*workload, rank);
    const ChakraReport report = check_chakra(of_rank);
    EXPECT_TRUE(report.accepted()) << report.findings[0].message;
    for (const NamedGroup& group : defined_groups(of_rank).groups) {
      const auto [at, fresh] = communicators.emplace(std::stoll(group.name), group.ranks);
      EXPECT_EQ(at->second, group.ranks);
    }
  }
  EXPECT_EQ(communicators.size(), 20U);
}

}  // namespace
}  // namespace orrery
