#include "trace/trace_format.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <string_view>

namespace orrery {
namespace {

constexpr const char* kTraces = ORRERY_SOURCE_DIR "/validation/traces/";

TraceFormat of(const std::string& file) { return format_of_file(kTraces + file).value(); }

TEST(TraceFormat, IsKnownByContent) {
  EXPECT_EQ(of("ao/ref_ep_moe_fwd.json.gz"), TraceFormat::kineto);
  EXPECT_EQ(of("TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"), TraceFormat::kineto);
  EXPECT_EQ(of("HolisticTraceAnalysis/call_stack/backward_thread.json.gz"), TraceFormat::kineto);
  EXPECT_EQ(of("param/linear_et_1.0.1.json.gz"), TraceFormat::host_execution);
  EXPECT_EQ(of("param/resnet_1gpu_et_1.1.1.json.gz"), TraceFormat::host_execution);
  EXPECT_EQ(of("chakra/chakra.0.et"), TraceFormat::chakra);
  EXPECT_EQ(of("megatron-lm-fork/tp2/final.0.et"), TraceFormat::chakra);
  EXPECT_EQ(of("astra-sim/et-microbenchmarks/all_gather/16npus_1MB/all_gather.0.et"),
            TraceFormat::chakra);
  EXPECT_EQ(of("chakra/small_chakra.0.json"), TraceFormat::chakra_json);
  EXPECT_EQ(of("megatron-lm-fork/tp2/comm.json"), TraceFormat::unknown);
  EXPECT_EQ(of("StragglerAnalysis/timeline-ST.json.gz"), TraceFormat::operation_timeline);
}

// The jsonizer writes the name of an attribute as a value: a word that is no key.
TEST(TraceFormat, OfJsonizedChakraFiles) {
  const auto format = format_of_file(
      ORRERY_SOURCE_DIR "/validation/traces/megatron-lm-fork/tp2/final.0.jsonized.json.gz");
  ASSERT_TRUE(format) << format.error().text();
  EXPECT_EQ(*format, TraceFormat::chakra_json);
}

TEST(TraceFormat, OfTextWorkloads) {
  EXPECT_EQ(format_of("DATA\n3\n"), TraceFormat::workload_text);
  EXPECT_EQ(format_of("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 16"),
            TraceFormat::workload_text);
  EXPECT_EQ(format_of("Database of cars"), TraceFormat::unknown);
}

TEST(TraceFormat, OfListsOfEvents) {
  EXPECT_EQ(format_of(R"([{"ph": "X", "cat": "cpu_op", "name": "aten::mm"}])"),
            TraceFormat::kineto);
  EXPECT_EQ(format_of(R"([{"ph": "X", "name": "backward-compute", "pid": 0}])"),
            TraceFormat::operation_timeline);
  EXPECT_EQ(format_of("[]"), TraceFormat::unknown);
}

TEST(TraceFormat, IsUnknownWhereNothingTells) {
  EXPECT_EQ(format_of(""), TraceFormat::unknown);
  EXPECT_EQ(format_of(" \n "), TraceFormat::unknown);
  EXPECT_EQ(format_of("{\"name\": 1}"), TraceFormat::unknown);
  EXPECT_EQ(format_of("\xff\xff\xff\xff\xff\xff"), TraceFormat::unknown);
}

TEST(TraceFormat, HasANameAndAKeyOfItsOwn) {
  std::set<std::string_view> names;
  std::set<std::string_view> keys;
  for (int i = 0; i <= static_cast<int>(TraceFormat::unknown); ++i) {
    names.insert(name(static_cast<TraceFormat>(i)));
    keys.insert(key(static_cast<TraceFormat>(i)));
  }
  EXPECT_EQ(names.size(), 8U);
  EXPECT_EQ(keys.size(), 8U);
  EXPECT_EQ(key(TraceFormat::graph), "graph");
  EXPECT_EQ(key(TraceFormat::unknown), "unknown");
}

TEST(TraceFormat, NeedsAFile) {
  EXPECT_EQ(format_of_file("absent.json").error().text(),
            "absent.json: cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace orrery
