#include "trace/perfetto/recorded_json.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <limits>

#include "trace/kineto/kineto.h"
#include "trace/perfetto/rewritten_recording.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What must be the same after writing and reading, with texts instead of their numbers.
std::string operator_text(const RecordedTrace& t, std::size_t e) {
  if (t.details[e] == kNoDetails) return "";
  const auto text = [&](std::uint32_t i) { return std::string(t.texts[i]) + "|"; };
  const auto number = [](std::int64_t v) { return std::to_string(v) + "|"; };
  switch (t.kind[e]) {
    case EventKind::cpu_operator:
    case EventKind::annotation: {
      const OperatorDetails& d = t.operators[t.details[e]];
      return text(d.input_shapes) + text(d.input_types) + text(d.input_strides) +
             text(d.concrete_inputs) + number(d.sequence_number) + number(d.forward_thread) +
             number(d.record_function_id);
    }
    case EventKind::kernel: {
      const KernelDetails& d = t.kernels[t.details[e]];
      return number(d.grid[0]) + number(d.grid[1]) + number(d.grid[2]) + number(d.block[0]) +
             number(d.block[1]) + number(d.block[2]) + number(d.registers_per_thread) +
             number(d.shared_memory_bytes) + std::to_string(d.achieved_occupancy) + "|" +
             number(d.graph);
    }
    case EventKind::copy:
    case EventKind::fill:
      return number(t.copies[t.details[e]].bytes);
    case EventKind::synchronization:
    case EventKind::event_record: {
      const SynchronizationDetails& d = t.synchronizations[t.details[e]];
      return number(d.stream) + number(d.awaited_stream) + number(d.record_correlation) +
             number(d.event);
    }
    default:
      return "";
  }
}

std::string communication_text(const RecordedTrace& t, std::size_t e) {
  if (t.communication[e] == kNoDetails) return "";
  const CommunicationDetails& d = t.communications[t.communication[e]];
  std::string out;
  for (const std::uint32_t text : {d.collective, d.data_type, d.group, d.group_description,
                                   d.group_ranks, d.input_splits, d.output_splits}) {
    out += std::string(t.texts[text]) + "|";
  }
  for (const std::int64_t v : {d.input_elements, d.output_elements, d.group_size, d.rank_start,
                               d.rank_stride, d.source, d.destination, d.sequence}) {
    out += std::to_string(v) + "|";
  }
  return out + (d.asynchronous ? "asynchronous" : "");
}

void expect_same(const RecordedTrace& again, const RecordedTrace& trace) {
  ASSERT_EQ(again.size(), trace.size());
  EXPECT_EQ(again.base_ns, trace.base_ns);
  EXPECT_EQ(again.rank, trace.rank);
  EXPECT_EQ(again.world_size, trace.world_size);
  EXPECT_EQ(again.backend, trace.backend);
  EXPECT_EQ(again.start_ns, trace.start_ns);
  EXPECT_EQ(again.duration_ns, trace.duration_ns);
  EXPECT_EQ(again.correlation, trace.correlation);
  EXPECT_EQ(again.external_id, trace.external_id);
  EXPECT_EQ(again.kind, trace.kind);
  EXPECT_EQ(again.forward_to_backward, trace.forward_to_backward);
  EXPECT_EQ(again.memory.size(), trace.memory.size());
  EXPECT_EQ(again.groups.size(), trace.groups.size());
  EXPECT_EQ(again.devices.size(), trace.devices.size());
  for (std::size_t e = 0; e < trace.size(); ++e) {
    ASSERT_EQ(again.name_of(e), trace.name_of(e)) << e;
    ASSERT_EQ(operator_text(again, e), operator_text(trace, e)) << e << trace.name_of(e);
    ASSERT_EQ(communication_text(again, e), communication_text(trace, e)) << e;
    const Lane& a = again.lanes[again.lane[e]];
    const Lane& b = trace.lanes[trace.lane[e]];
    ASSERT_EQ(a.device, b.device) << e;
    ASSERT_EQ(a.process, b.process) << e;
    ASSERT_EQ(a.thread, b.thread) << e;
    ASSERT_EQ(a.process_name, b.process_name) << e;
    ASSERT_EQ(a.thread_name, b.thread_name) << e;
  }
}

class RecordedJsonOfEveryEra : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedJsonOfEveryEra, ReadsBackAsItWas) {
  const auto trace = read_kineto(kTraces + GetParam());
  ASSERT_TRUE(trace) << trace.error().text();
  const auto again = read_kineto_bytes(recorded_json(std::span(&*trace, 1)), "written");
  ASSERT_TRUE(again) << again.error().text();
  expect_same(*again, *trace);
}

INSTANTIATE_TEST_SUITE_P(
    , RecordedJsonOfEveryEra,
    ::testing::Values("kineto/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz",
                      "astra-sim/megatron-tp8/kineto_rank0.json.gz",
                      "megatron-lm-fork/tp2/kineto_rank1.json.gz", "ao/ref_ep_moe_fwd.json.gz",
                      "HolisticTraceAnalysis/amd_trace/"
                      "mi250_minitoy_train_ROCm6_2_kineto.json.gz",
                      "HolisticTraceAnalysis/critical_path/cuda_event_sync_multi_stream/"
                      "event_sync_trace.json.gz"));

class RecordedJsonOfARun : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedJsonOfARun, ReadsBackRankByRank) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kTraces + GetParam())) {
    const std::string file = entry.path().string();
    if (file.find("rank") != std::string::npos && file.find("pytorch_et") == std::string::npos) {
      files.push_back(file);
    }
  }
  const auto run = read_run(files);
  ASSERT_TRUE(run) << run.error().text();
  ASSERT_GT(run->ranks.size(), 1u);
  const auto again = read_kineto_ranks_bytes(recorded_json(run->ranks), "written");
  ASSERT_TRUE(again) << again.error().text();
  ASSERT_EQ(again->size(), run->ranks.size());
  for (std::size_t r = 0; r < again->size(); ++r) {
    SCOPED_TRACE(r);
    expect_same((*again)[r], run->ranks[r]);
  }
  EXPECT_FALSE(read_kineto_bytes(recorded_json(run->ranks), "written"));  // holds several
}

// With all that the files hold, and what execution traces beside them know.
TEST_P(RecordedJsonOfARun, ReadsBackRankByRankFromTheFilesRewritten) {
  const auto run = read_run({kTraces + GetParam()});
  ASSERT_TRUE(run) << run.error().text();
  const auto json = rewritten_recording(*run);
  ASSERT_TRUE(json) << json.error().text();
  auto ranks = read_kineto_ranks_bytes(*json, "written");
  ASSERT_TRUE(ranks) << ranks.error().text();
  RunOptions options;
  options.clocks = Clocks::as_recorded;
  const auto again = make_run(std::move(*ranks), options);
  ASSERT_TRUE(again) << again.error().text();
  ASSERT_EQ(again->ranks.size(), run->ranks.size());
  for (std::size_t r = 0; r < again->ranks.size(); ++r) {
    SCOPED_TRACE(r);
    expect_same(again->ranks[r], run->ranks[r]);
  }
}

INSTANTIATE_TEST_SUITE_P(, RecordedJsonOfARun,
                         ::testing::Values("torchrec/sst_long_a2a_optimizer_4",
                                           "astra-sim/megatron-tp8", "megatron-lm-fork/tp2",
                                           "HolisticTraceAnalysis/trace_filter"));

// One operator of a process.
RecordedTrace one_event(std::int64_t rank, const Lane& lane) {
  RecordedTrace trace;
  trace.rank = rank;
  trace.base_ns = 1000;
  trace.lanes.push_back(lane);
  trace.start_ns = {-1};
  trace.duration_ns = {1500};
  trace.correlation = {kNotRecorded};
  trace.external_id = {kNotRecorded};
  trace.name = {trace.texts.intern("an operator")};
  trace.lane = {0};
  trace.details = {kNoDetails};
  trace.communication = {kNoDetails};
  trace.place = {0};
  trace.kind = {EventKind::cpu_operator};
  return trace;
}

TEST(RecordedJson, KeepsProcessesThatFitNoNumber) {
  std::vector<RecordedTrace> ranks;
  const auto lane = [](std::int64_t process, const char* name) {
    return Lane{.process = process, .thread = 2, .process_name = name, .thread_name = ""};
  };
  ranks.push_back(one_event(0, lane(kNotRecorded, "Spans")));
  ranks.push_back(one_event(1, lane(-7, "")));
  ranks.push_back(one_event(2, lane(std::numeric_limits<std::int64_t>::max(), "large")));
  ranks.push_back(one_event(3, lane(9'999'999, "python")));
  ranks.push_back(one_event(std::numeric_limits<std::int64_t>::max(), lane(5, "python")));
  const std::string json = recorded_json(ranks);
  const auto again = read_kineto_ranks_bytes(json, "written");
  ASSERT_TRUE(again) << again.error().text() << json;
  ASSERT_EQ(again->size(), ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    SCOPED_TRACE(r);
    expect_same((*again)[r], ranks[r]);
  }
}

// Of one rank and of several; what says something else is a recording.
TEST(RecordedJson, SaysThatTimesAreSimulated) {
  const Lane lane = {.process = 1, .thread = 2, .process_name = "", .thread_name = ""};
  std::vector<RecordedTrace> ranks;
  ranks.push_back(one_event(0, lane));
  EXPECT_THAT(recorded_json(ranks), Not(HasSubstr("orreryTimes")));
  ranks[0].simulated = true;
  const auto alone = read_kineto_ranks_bytes(recorded_json(ranks), "written");
  ASSERT_TRUE(alone) << alone.error().text();
  EXPECT_TRUE(alone->at(0).simulated);
  ranks.push_back(one_event(1, lane));
  auto both = read_kineto_ranks_bytes(recorded_json(ranks), "written");
  ASSERT_TRUE(both) << both.error().text();
  EXPECT_TRUE(both->at(0).simulated);
  EXPECT_FALSE(both->at(1).simulated);
  EXPECT_EQ(make_run(std::move(*both))->source, RunSource::replayed_run);
  for (const char* other : {"\"recorded\"", "7", "{}", "null"}) {
    const auto read = read_kineto_ranks_bytes(
        std::string(R"({"orreryTimes": )") + other + R"(, "traceEvents": []})", "written");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_FALSE(read->at(0).simulated) << other;
  }
}

TEST(RecordedJson, SaysWhatIsWrongWithSharedFiles) {
  const auto error = [](const std::string& ranks, const std::string& events, bool partial = false) {
    KinetoOptions options;
    if (partial) options.incomplete = Incomplete::use_what_is_whole;
    const auto read = read_kineto_ranks_bytes("{" + ranks + "\"traceEvents\": [" + events + "]}",
                                              "shared.json", options);
    return read ? std::string("read") : read.error().text();
  };
  const std::string two = R"("orreryRanks": [{"rank": 0}, {"rank": 1}], )";
  const std::string event = R"({"ph": "X", "name": "a", "ts": 1, "dur": 1, "tid": 1, "pid": )";
  EXPECT_EQ(error(two, event + "10000001}, " + event + "20000001}"), "read");
  EXPECT_THAT(error(two, event + "30000001}"),
              HasSubstr("process 30000001 is of none of the ranks"));
  EXPECT_THAT(error(two, event + "7}"), HasSubstr("shared.json: byte"));
  EXPECT_EQ(error(two, event + "7}", true), "read");
  EXPECT_THAT(error(R"("orreryRanks": [], )", ""), HasSubstr("no list of ranks"));
  EXPECT_THAT(error(R"("orreryRanks": [{"rank": 0}, {"rank": 0}], )", ""),
              HasSubstr("rank 0 stands twice"));
  EXPECT_THAT(error(R"("orreryRanks": [{"rank": -1}], )", ""), HasSubstr("has no number"));
  EXPECT_THAT(error("\"traceEvents\": [], " + two, event + "1}"),
              HasSubstr("stands behind the events"));
}

TEST(RecordedJson, EscapesNames) {
  RecordedTrace trace =
      one_event(0, Lane{.process = 1, .thread = 2, .process_name = "", .thread_name = ""});
  trace.name = {trace.texts.intern("a \"b\" \\ \n \xff")};
  const std::string json = recorded_json(std::span(&trace, 1));
  EXPECT_THAT(json, HasSubstr(R"("name": "a \"b\" \\ \n �")"));
  EXPECT_THAT(json, HasSubstr(R"("ts": -0.001, "dur": 1.500})"));
}

}  // namespace
}  // namespace orrery
