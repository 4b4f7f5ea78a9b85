// A recording that is written twice into one file is analyzed as if it stood there once.
#include <gmock/gmock.h>

#include <stdexcept>
#include <string>

#include "analyze/run_analysis.h"
#include "report/traces/trace_reports.h"
#include "trace/kineto/kineto_text.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The file with its list of events `times` times.
std::string repeated(const std::string& file, int times) {
  auto stream = ByteStream::open(kTraces + file);
  EXPECT_TRUE(stream) << file;
  KinetoText text(std::move(*stream), Incomplete::refuse);
  std::string members;
  std::string events;
  while (true) {
    const auto piece = text.next();
    EXPECT_TRUE(piece);
    if (!piece || piece->kind == KinetoText::Kind::end) break;
    if (piece->kind == KinetoText::Kind::member) {
      members += '"' + piece->key + "\": " + std::string(piece->text) + ",\n";
    } else if (piece->kind == KinetoText::Kind::event) {
      events += (events.empty() ? "" : ",\n") + std::string(piece->text);
    }
  }
  std::string out = "{" + members + "\"traceEvents\": [" + events;
  for (int i = 1; i < times; ++i) out += ",\n" + events;
  return out + "]}";
}

struct AnalyzedRepeats {
  RecordedRun run;
  RunAnalysis analysis;
};

AnalyzedRepeats analyzed(const std::string& text) {
  auto traces = read_kineto_ranks_bytes(text, "trace.json");
  if (!traces) throw std::runtime_error(traces.error().text());
  auto run = make_run(std::move(*traces));
  if (!run) throw std::runtime_error(run.error().text());
  auto analysis = analyze(*run, Catalog::built_in());
  if (!analysis) throw std::runtime_error(analysis.error().text());
  return {std::move(*run), std::move(*analysis)};
}

class RepeatedRecording : public ::testing::TestWithParam<const char*> {};

TEST_P(RepeatedRecording, IsAnalyzedAsOnce) {
  const AnalyzedRepeats once = analyzed(repeated(GetParam(), 1));
  const AnalyzedRepeats twice = analyzed(repeated(GetParam(), 2));
  const RecordedTrace& one = once.run.ranks[0];
  const RecordedTrace& two = twice.run.ranks[0];
  EXPECT_EQ(one.repeated, 0);
  EXPECT_EQ(two.repeated, static_cast<std::int64_t>(one.size() + one.memory.size()));
  EXPECT_EQ(two.size(), one.size());
  EXPECT_EQ(two.forward_to_backward, one.forward_to_backward);
  EXPECT_EQ(two.overlapping_kernels, one.overlapping_kernels);
  EXPECT_EQ(to_json(analysis_json(twice.run, twice.analysis)),
            to_json(analysis_json(once.run, once.analysis)));
  const auto text = [](const AnalyzedRepeats& of) {
    return analysis_text(of.run, of.analysis, AnalysisView(), TextStyle());
  };
  EXPECT_THAT(text(twice), HasSubstr(" left out: what stands"));
  EXPECT_THAT(text(once), Not(HasSubstr(" left out: what stands")));
  EXPECT_THAT(trace_info_text(twice.run, TextStyle()), HasSubstr(" left out: what stands"));
}

// One of every era and writer: 2021, whole microseconds of 2022, nanoseconds, ROCm, Python stacks.
INSTANTIATE_TEST_SUITE_P(
    , RepeatedRecording,
    ::testing::Values(
        "torchrec/sst_long_a2a_optimizer_2/kineto_rank0.json.gz",
        "HolisticTraceAnalysis/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
        "TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
        "TraceLens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
        "megatron-lm-fork/tp2/kineto_rank0.json.gz",
        "HolisticTraceAnalysis/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
        "kineto/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz",
        "HolisticTraceAnalysis/call_stack/backward_thread.json.gz", "ao/ref_ep_moe_fwd.json.gz"));

}  // namespace
}  // namespace orrery
