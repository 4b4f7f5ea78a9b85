#include "trace/trace_contents.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "document/value.h"
#include "trace/published_traces.h"

namespace orrery {
namespace {

TraceContents contents_of(const std::string& file, const TraceFormat& format) {
  auto contents = read_contents(kTraces + file, format);
  EXPECT_TRUE(contents.has_value()) << (contents ? "" : contents.error().text());
  return contents ? *std::move(contents) : TraceContents();
}

std::int64_t number(const TraceContents& contents, const std::string& key) {
  for (const TraceFact& fact : contents.facts) {
    if (fact.key == key) return std::get<std::int64_t>(fact.value);
  }
  return -1;
}

TraceWork work(const TraceContents& contents, const std::string& kind) {
  const auto it = std::find_if(contents.work.begin(), contents.work.end(),
                               [&](const TraceWork& w) { return w.kind == kind; });
  return it == contents.work.end() ? TraceWork() : *it;
}

// ResNet-50 on two GPUs: 15 steps' all-reduces of its gradients, 25.6 M parameters of 4 bytes in
// three steps.
TEST(TraceContents, OfAHostExecutionTrace) {
  const TraceContents c = contents_of("param/resnet_2gpu_et_1.1.0.json.gz", kHostExecution);
  EXPECT_EQ(number(c, "nodes"), 14'392);
  EXPECT_EQ(number(c, "threads"), 2);
  const TraceWork reduced = work(c, "allreduce");
  EXPECT_EQ(reduced.count, 15);
  EXPECT_EQ(reduced.group, "0");
  EXPECT_NEAR(static_cast<double>(*reduced.bytes), 3 * 25'557'032 * 4.0, 1e6);
}

// The rank's 13 all-reduces; 26 more nodes of collectives are calls of the host.
TEST(TraceContents, OfAChakraTrace) {
  const TraceContents c = contents_of("megatron-lm-fork/tp2/final.0.et", kChakra);
  EXPECT_EQ(number(c, "nodes"), 2128);
  EXPECT_EQ(number(c, "COMM_COLL_NODE"), 39);
  EXPECT_EQ(number(c, "start_times"), 0);
  EXPECT_EQ(work(c, "ALL_REDUCE").count, 13);
}

// 2 data-parallel ranks x 4 stages (validation/traces/StragglerAnalysis): a step takes 2.2144 s.
TEST(TraceContents, OfAnOperationTimeline) {
  const TraceContents c = contents_of("StragglerAnalysis/timeline-ST.json.gz", kOperationTimeline);
  EXPECT_EQ(number(c, "data_parallel_ranks"), 2);
  EXPECT_EQ(number(c, "stages"), 4);
  EXPECT_EQ(work(c, "forward-compute").count, work(c, "backward-compute").count);
  for (const TraceFact& fact : c.facts) {
    if (fact.key == "median_step") {
      EXPECT_NEAR(std::get<Seconds>(fact.value).value(), 2.2144, 0.05);
    }
  }
}

TEST(TraceContents, OfATextWorkload) {
  const std::string file = ::testing::TempDir() + "contents_w.txt";
  ASSERT_TRUE(write_file(file, "DATA\n1\nlayer -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 1024 2\n"));
  const auto read = read_contents(file, kWorkloadText);
  ASSERT_TRUE(read) << read.error().text();
  const TraceContents& c = *read;
  EXPECT_EQ(number(c, "layers"), 1);
  EXPECT_EQ(work(c, "weight gradient ALL_REDUCE").bytes, 1024);
  EXPECT_DOUBLE_EQ(work(c, "forward").time->value(), 10e-6);
  EXPECT_FALSE(work(c, "forward").bytes);
}

TEST(TraceContents, AreNotOfEveryFormat) {
  EXPECT_EQ(read_contents("x.json", kChakraJson).error().text(),
            "x.json: is a Chakra execution trace in JSON (orrery trace info reads traces of the "
            "PyTorch profiler, host execution traces of PyTorch, Chakra execution traces, "
            "timelines of operations, text workloads of ASTRA-sim or SimAI and graphs of Orrery)");
}

}  // namespace
}  // namespace orrery
