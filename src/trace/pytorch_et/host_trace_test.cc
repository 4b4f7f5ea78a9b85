#include "trace/pytorch_et/host_trace.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "trace/byte_stream.h"
#include "trace/gzip.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;

struct Golden {
  const char* file;
  const char* schema;
  std::size_t nodes;
  int communications;  // record_param_comms
  int groups;          // process_group:init
};

class HostTraceOfEverySchema : public ::testing::TestWithParam<Golden> {};

// Figures: the tables in the README.md beside the files.
TEST_P(HostTraceOfEverySchema, IsReadWhole) {
  const Golden& golden = GetParam();
  const auto trace = read_host_trace(kTraces + golden.file);
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->schema, golden.schema);
  EXPECT_EQ(trace->nodes.size(), golden.nodes);
  const auto count = [&](std::string_view part) {
    return std::count_if(trace->nodes.begin(), trace->nodes.end(),
                         [&](const HostNode& n) { return n.name.find(part) != std::string::npos; });
  };
  EXPECT_EQ(count("record_param_comms"), golden.communications);
  EXPECT_EQ(count("process_group:init"), golden.groups);
  EXPECT_EQ(std::count_if(trace->nodes.begin(), trace->nodes.end(),
                          [](const HostNode& n) { return n.is_process(); }),
            1);
  EXPECT_GT(trace->process, 0);
  EXPECT_GT(trace->finish_ms, trace->start_ms);
}

INSTANTIATE_TEST_SUITE_P(
    , HostTraceOfEverySchema,
    ::testing::Values(
        Golden{"HolisticTraceAnalysis/execution_trace/benchmark_simple_add_et.json.gz", "1.0.1", 38,
               0, 0},
        Golden{"param/linear_et_1.0.1.json.gz", "1.0.1", 931, 0, 0},
        Golden{"astra-sim/megatron-tp8/et_rank3.json.gz", "1.0.1", 5424, 170, 0},
        Golden{"chakra/1.0.2-chakra.0.0.4.json.gz", "1.0.2-chakra.0.0.4", 263, 20, 1},
        Golden{"astra-sim/resnet50-2gpu-et/et_rank0.json.gz", "1.0.2-chakra.0.0.4", 4801, 9, 0},
        Golden{"param/resnet_1gpu_et_1.0.3.json.gz", "1.0.3-chakra.0.0.4", 14391, 27, 0},
        Golden{"param/resnet_2gpu_et_1.1.0.json.gz", "1.1.0-chakra.0.0.4", 14392, 27, 1},
        Golden{"megatron-lm-fork/tp2/pytorch_et_rank0.json.gz", "1.1.0-chakra.0.0.4", 1884, 26, 1},
        Golden{"param/resnet_1gpu_et_1.1.1.json.gz", "1.1.1-chakra.0.0.4", 14392, 27, 1},
        Golden{"param/pt2_et_1.1.1.json.gz", "1.1.1-chakra.0.0.4", 20, 0, 0}));

const HostNode& node_of(const HostTrace& trace, std::uint64_t id) {
  return *std::find_if(trace.nodes.begin(), trace.nodes.end(),
                       [&](const HostNode& n) { return n.id == id; });
}

TEST(HostTrace, ReadsAnOperatorOfTheFlatSchema) {
  const auto trace = read_host_trace(kTraces + "astra-sim/megatron-tp8/et_rank0.json.gz");
  ASSERT_TRUE(trace) << trace.error().text();
  const HostNode& node = node_of(*trace, 150);
  EXPECT_EQ(node.name, "record_param_comms");
  EXPECT_EQ(node.parent, 149U);
  EXPECT_EQ(node.record_function_id, 92);
  EXPECT_EQ(node.inputs.shapes, "[[[4,2048,4096]],[],[],[],[],[],[],[]]");
  EXPECT_EQ(tensor_bytes(node.inputs), 67'108'864);  // 4 x 2048 x 4096 fp16
  EXPECT_EQ(node.inputs.strides, "");
}

TEST(HostTrace, ReadsTheCommunicationOfNewerSchemas) {
  const auto trace = read_host_trace(kTraces + "megatron-lm-fork/tp2/pytorch_et_rank0.json.gz");
  ASSERT_TRUE(trace) << trace.error().text();
  int all_reduces = 0;
  for (const HostNode& node : trace->nodes) {
    if (node.name != "record_param_comms") {
      EXPECT_EQ(node.communication, kNoCommunication);
      continue;
    }
    const HostCommunication& c = trace->communications.at(node.communication);
    if (c.collective != "allreduce") continue;
    ++all_reduces;
    EXPECT_EQ(c.group, "13");
    EXPECT_EQ(c.group_size, 2);
    EXPECT_EQ(c.data_type, "Float");
    EXPECT_EQ(tensor_bytes(node.inputs), 4 * c.input_elements);
  }
  EXPECT_EQ(all_reduces, 13);
}

TEST(HostTrace, ReadsStridesSinceTheyAreRecorded) {
  const auto trace = read_host_trace(kTraces + "param/resnet_1gpu_et_1.1.1.json.gz");
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(node_of(*trace, 437).inputs.strides, "[[[1]],[],[[],[]],[],[],[],[],[],[],[]]");
}

std::string trace_text(const std::string& nodes, const std::string& schema = "1.1.1-chakra.0.0.4") {
  return R"({"schema": ")" + schema + R"(", "pid": 1, "nodes": [)" + nodes + "]}";
}

std::string host_trace_error(const std::string& text) {
  const auto trace = read_host_trace_bytes(text, "et.json");
  return trace ? "no error" : trace.error().text();
}

TEST(HostTrace, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(host_trace_error(""), "et.json: is empty");
  EXPECT_EQ(host_trace_error("hello}"),
            "et.json: is not a JSON object (an execution trace begins with {)");
  EXPECT_THAT(host_trace_error("{\"schema\" 3}"), HasSubstr("is not JSON"));
  EXPECT_EQ(host_trace_error(R"({"traceEvents": []})"),
            "et.json: is not an execution trace of PyTorch: it has no \"schema\"");
  EXPECT_EQ(host_trace_error(trace_text("", "2.0.0")),
            "et.json: unknown schema '2.0.0' (known: 1.0.1 to 1.0.4, 1.1.0, 1.1.1)");
  EXPECT_EQ(host_trace_error(R"({"schema": "1.0.1"})"), "et.json: has no \"nodes\"");
  const std::string whole = trace_text(R"({"id": 1, "name": "a", "ctrl_deps": 1})");
  EXPECT_EQ(host_trace_error(whole), "no error");
  EXPECT_EQ(host_trace_error(whole.substr(0, 70)),
            "et.json: byte 70: the JSON is cut: it ends in the middle");
  EXPECT_THAT(host_trace_error(trace_text(R"({"name": "a", "ctrl_deps": 1})")),
              HasSubstr("node 0 of the list has no \"id\""));
  EXPECT_THAT(host_trace_error(trace_text(R"({"id": 4, "name": "a"})")),
              HasSubstr("node 4 names no parent"));
  EXPECT_THAT(host_trace_error(trace_text(R"({"id": 4, "ctrl_deps": 4})")),
              HasSubstr("node 4 has no name"));
  EXPECT_EQ(host_trace_error(trace_text(R"({"id": 4, "name": "a", "ctrl_deps": 9})")),
            "et.json: node 4: its parent 9 is absent");
  EXPECT_EQ(host_trace_error(trace_text(R"({"id": 4, "name": "a", "ctrl_deps": 4},)"
                                        R"({"id": 4, "name": "b", "ctrl_deps": 4})")),
            "et.json: node 4: two nodes have this id");
  EXPECT_EQ(host_trace_error(trace_text(R"({"id": 4, "name": "a", "ctrl_deps": 5},)"
                                        R"({"id": 5, "name": "b", "ctrl_deps": 4})")),
            "et.json: node 5: is its own ancestor");
  EXPECT_THAT(host_trace_error(trace_text(
                  R"({"id": 1, "name": "a", "ctrl_deps": 1, "inputs": {"values": [1 2]}})")),
              HasSubstr("a list of values is not JSON"));
  EXPECT_THAT(host_trace_error(trace_text(R"({"id": "x", "name": "a", "ctrl_deps": 1})")),
              HasSubstr("a value has another type than execution traces have here"));
  EXPECT_THAT(host_trace_error(gzip(whole).substr(0, 40)), HasSubstr("gzip"));
}

TEST(HostTrace, RefusesBytesThatNoJsonHolds) {
  std::string broken = trace_text(R"({"id": 1, "name": "a", "ctrl_deps": 1})");
  broken[broken.find("name") + 1] = '\xdb';
  EXPECT_THAT(host_trace_error(broken), HasSubstr("is not JSON"));
  broken[broken.find('\xdb')] = '\x01';
  EXPECT_THAT(host_trace_error(broken), HasSubstr("is not JSON"));
}

TEST(HostTrace, SurvivesDeepNesting) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_NE(host_trace_error(trace_text(
                R"({"id": 1, "name": "a", "ctrl_deps": 1, "inputs": {"values": )" + deep + "}}")),
            "no error");
  EXPECT_NE(host_trace_error(deep), "no error");
}

}  // namespace
}  // namespace orrery
