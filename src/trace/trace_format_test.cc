#include "trace/trace_format.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <string_view>

#include "trace/known_formats.h"
#include "trace/published_traces.h"

namespace orrery {
namespace {

const TraceFormat* format_named(const std::string& file) {
  return format_of_file(kTraces + file).value();
}

TEST(TraceFormat, IsKnownByContent) {
  EXPECT_EQ(format_named("ao/ref_ep_moe_fwd.json.gz"), &kKineto);
  EXPECT_EQ(format_named("TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"), &kKineto);
  EXPECT_EQ(format_named("HolisticTraceAnalysis/call_stack/backward_thread.json.gz"), &kKineto);
  EXPECT_EQ(format_named("param/linear_et_1.0.1.json.gz"), &kHostExecution);
  EXPECT_EQ(format_named("param/resnet_1gpu_et_1.1.1.json.gz"), &kHostExecution);
  EXPECT_EQ(format_named("chakra/chakra.0.et"), &kChakra);
  EXPECT_EQ(format_named("megatron-lm-fork/tp2/final.0.et"), &kChakra);
  EXPECT_EQ(format_named("astra-sim/et-microbenchmarks/all_gather/16npus_1MB/all_gather.0.et"),
            &kChakra);
  EXPECT_EQ(format_named("chakra/small_chakra.0.json"), &kChakraJson);
  EXPECT_EQ(format_of("{\n  \"12\": [0, 1]\n}\n"), &kCommunicatorFile);
  EXPECT_EQ(format_of(R"({"12": {"ranks": [0, 1]}})"), &kUnknownFormat);
  EXPECT_EQ(format_named("megatron-lm-fork/tp2/comm.json"), &kUnknownFormat);
  EXPECT_EQ(format_named("StragglerAnalysis/timeline-ST.json.gz"), &kOperationTimeline);
}

// The jsonizer writes the name of an attribute as a value: a word that is no key.
TEST(TraceFormat, OfJsonizedChakraFiles) {
  const auto format = format_of_file(
      ORRERY_SOURCE_DIR "/validation/traces/megatron-lm-fork/tp2/final.0.jsonized.json.gz");
  ASSERT_TRUE(format) << format.error().text();
  EXPECT_EQ(*format, &kChakraJson);
}

TEST(TraceFormat, OfTextWorkloads) {
  EXPECT_EQ(format_of("DATA\n3\n"), &kWorkloadText);
  EXPECT_EQ(format_of("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 16"),
            &kWorkloadText);
  EXPECT_EQ(format_of("Database of cars"), &kUnknownFormat);
}

TEST(TraceFormat, OfListsOfEvents) {
  EXPECT_EQ(format_of(R"([{"ph": "X", "cat": "cpu_op", "name": "aten::mm"}])"), &kKineto);
  EXPECT_EQ(format_of(R"([{"ph": "X", "name": "backward-compute", "pid": 0}])"),
            &kOperationTimeline);
  EXPECT_EQ(format_of("[]"), &kUnknownFormat);
}

TEST(TraceFormat, IsUnknownWhereNothingTells) {
  EXPECT_EQ(format_of(""), &kUnknownFormat);
  EXPECT_EQ(format_of(" \n "), &kUnknownFormat);
  EXPECT_EQ(format_of("{\"name\": 1}"), &kUnknownFormat);
  EXPECT_EQ(format_of("\xff\xff\xff\xff\xff\xff"), &kUnknownFormat);
}

TEST(TraceFormat, HasANameAndAKeyOfItsOwn) {
  std::set<std::string_view> words = {kUnknownFormat.name, kUnknownFormat.key};
  for (const TraceFormat* format : trace_formats()) {
    EXPECT_NE(format->told_at, nullptr) << format->key;
    EXPECT_FALSE(format->plural.empty()) << format->key;
    words.insert(format->name);
    words.insert(format->key);
  }
  EXPECT_EQ(words.size(), 2 * (trace_formats().size() + 1));
}

TEST(TraceFormat, AreListedInWords) {
  EXPECT_EQ(formats_in_words([](const TraceFormat& f) { return f.recording != nullptr; }),
            "traces of the PyTorch profiler");
  EXPECT_EQ(formats_in_words([](const TraceFormat& f) { return f.may_be_cut; }),
            "traces of the PyTorch profiler, Chakra execution traces and timelines of operations");
  EXPECT_EQ(formats_in_words([](const TraceFormat&) { return false; }), "");
}

// The key that stands first decides; "nodes" alone is a key of many files.
TEST(TraceFormat, IsTheOneWhoseKeyStandsFirst) {
  EXPECT_EQ(format_of(R"({"orrery_graph": 1, "traceEvents": []})"), &kGraph);
  EXPECT_EQ(format_of(R"({"traceEvents": [], "orrery_graph": 1})"), &kKineto);
  EXPECT_EQ(format_of(R"({"nodes": [], "traceEvents": []})"), &kUnknownFormat);
  EXPECT_EQ(format_of(R"({"nodes": [{"rf_id": 1}]})"), &kHostExecution);
  EXPECT_EQ(format_of(R"(["traceEvents": 1])"), &kUnknownFormat);
}

TEST(TraceFormat, NeedsAFile) {
  EXPECT_EQ(format_of_file("absent.json").error().text(),
            "absent.json: cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace orrery
