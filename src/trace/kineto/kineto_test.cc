#include "trace/kineto/kineto.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "document/value.h"
#include "trace/byte_stream.h"
#include "trace/gzip.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

RecordedTrace read_published(const std::string& file) {
  auto trace = read_kineto(kTraces + file);
  EXPECT_TRUE(trace.has_value()) << file << ": " << (trace ? "" : trace.error().text());
  return trace ? *std::move(trace) : RecordedTrace();
}

RecordedTrace read_text(const std::string& text, const KinetoOptions& options = {}) {
  auto trace = read_kineto_bytes(text, "trace.json", options);
  EXPECT_TRUE(trace.has_value()) << (trace ? "" : trace.error().text());
  return trace ? *std::move(trace) : RecordedTrace();
}

std::string kineto_error(const std::string& text, const KinetoOptions& options = {}) {
  const auto trace = read_kineto_bytes(text, "trace.json", options);
  return trace ? "no error" : trace.error().text();
}

std::string with_events(const std::string& events) {
  return R"({"schemaVersion": 1, "traceEvents": [)" + events + R"(], "traceName": "t"})";
}

std::string operator_at(std::int64_t start, std::int64_t duration, const std::string& name) {
  return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "pid": 1, "tid": 1, "ts": )" +
         std::to_string(start) + R"(, "dur": )" + std::to_string(duration) + "}";
}

std::size_t find(const RecordedTrace& trace, std::string_view name) {
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace.name_of(i) == name) return i;
  }
  ADD_FAILURE() << "no event " << name;
  return 0;
}

// MTIA: a category of their own, or among the kernels.
TEST(Kineto, RequestsToTheDmaEngineMoveMemory) {
  const auto event = [](const char* category, const char* name) {
    return std::string(R"({"ph": "X", "cat": ")") + category + R"(", "name": ")" + name +
           R"(", "pid": 0, "tid": 7, "ts": 5, "dur": 2, "args": {"device": 0, "stream": 7}})";
  };
  const RecordedTrace trace = read_text(with_events(event("dma_request", "write") + "," +
                                                    event("mtia_ccp_events", "dma_request") + "," +
                                                    event("mtia_ccp_events", "job_exe")));
  ASSERT_EQ(trace.size(), 3U);
  EXPECT_EQ(trace.kind[find(trace, "write")], EventKind::copy);
  EXPECT_EQ(trace.kind[find(trace, "dma_request")], EventKind::copy);
  EXPECT_EQ(trace.kind[find(trace, "job_exe")], EventKind::kernel);
}

// Figures of validation/traces/metrics.json, which come from another program.
struct Figures {
  std::int64_t kernels = 0;
  std::int64_t communication = 0;
  std::int64_t copies = 0;
  std::int64_t with_arguments = 0;
  std::int64_t kernel_sum_ns = 0;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  std::set<std::uint32_t> streams;
  std::map<std::string, double> step_ms;
};

Figures figures_of(const RecordedTrace& trace) {
  Figures f;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    f.first_ns = std::min(f.first_ns, trace.start_ns[i]);
    f.last_ns = std::max(f.last_ns, trace.end_ns(i));
    if (is_device_work(trace.kind[i])) f.streams.insert(trace.lane[i]);
    if (trace.kind[i] == EventKind::kernel) {
      ++f.kernels;
      f.kernel_sum_ns += trace.duration_ns[i];
      if (is_communication_kernel(trace.name_of(i))) ++f.communication;
      if (trace.communication[i] != kNoDetails) ++f.with_arguments;
    } else if (is_device_work(trace.kind[i])) {
      ++f.copies;
    } else if (trace.kind[i] == EventKind::annotation &&
               trace.name_of(i).starts_with("ProfilerStep#")) {
      f.step_ms[std::string(trace.name_of(i).substr(12))] =
          static_cast<double>(trace.duration_ns[i]) / 1e6;
    }
  }
  return f;
}

double number(const Value& row, const char* key) { return std::stod(row.find(key)->scalar_text()); }

TEST(Kineto, AgreesWithTheFiguresOfEveryRecordedTrace) {
  const auto metrics = read_document(kTraces + "metrics.json");
  ASSERT_TRUE(metrics.has_value());
  int files = 0;
  for (const auto& [file, row] : metrics->root.members()) {
    if (row.find("n_kernels") == nullptr || row.find("span_ms") == nullptr) continue;
    SCOPED_TRACE(file);
    ++files;
    const RecordedTrace trace = read_published(file);
    const Figures f = figures_of(trace);
    EXPECT_EQ(trace.entries, number(row, "n_events"));
    EXPECT_EQ(f.kernels, number(row, "n_kernels"));
    EXPECT_EQ(f.communication, number(row, "n_comm"));
    EXPECT_EQ(f.copies, number(row, "n_mem"));
    EXPECT_EQ(f.streams.size(), number(row, "n_streams"));
    EXPECT_EQ(f.with_arguments, number(row, "nccl_args"));
    EXPECT_NEAR(static_cast<double>(f.kernel_sum_ns) / 1e6, number(row, "kernel_sum_ms"), 6e-4);
    EXPECT_NEAR(static_cast<double>(f.last_ns - f.first_ns) / 1e6, number(row, "span_ms"), 6e-4);
    for (const Value& step : row.find("per_step")->items()) {
      const std::string name = step.find("step")->scalar_text();
      EXPECT_NEAR(f.step_ms.at(name), number(step, "wall_ms"), 6e-4) << name;
    }
    EXPECT_EQ(trace.left_out, 0);
    EXPECT_FALSE(trace.truncated);
  }
  EXPECT_GE(files, 45);
}

TEST(Kineto, SortsEventsSoThatTheOuterComesFirst) {
  for (const char* file : {"HolisticTraceAnalysis/nccl_parser_config/nccl_data.json.gz",
                           "HolisticTraceAnalysis/trace_filter/sampled_rank-0.json.gz"}) {
    const RecordedTrace trace = read_published(file);
    for (std::size_t i = 1; i < trace.size(); ++i) {
      const auto key = [&](std::size_t e) {
        return std::tuple(trace.start_ns[e], -trace.duration_ns[e], trace.place[e]);
      };
      ASSERT_LT(key(i - 1), key(i));
    }
  }
}

TEST(Kineto, TakesLessThan200BytesAnEvent) {
  for (const char* file : {"TraceLens/inference/xdit_sd_3.5/profile_trace_rank_0.json.gz",
                           "HolisticTraceAnalysis/df_index_resolver/df_index_resolver.json.gz",
                           "ao/ref_ep_moe_fwd.json.gz"}) {
    const RecordedTrace trace = read_published(file);
    std::size_t bytes = trace.size() * (4 * 8 + 5 * 4 + 1);
    bytes += trace.operators.capacity() * sizeof(OperatorDetails);
    bytes += trace.kernels.capacity() * sizeof(KernelDetails);
    bytes += trace.copies.capacity() * sizeof(CopyDetails);
    bytes += trace.communications.capacity() * sizeof(CommunicationDetails);
    bytes += trace.memory.capacity() * sizeof(MemoryEvent);
    bytes += trace.forward_to_backward.capacity() * sizeof(trace.forward_to_backward[0]);
    for (std::size_t i = 0; i < trace.texts.size(); ++i) {
      bytes +=
          trace.texts[static_cast<std::uint32_t>(i)].size() + 80;  // and its place in the table
    }
    EXPECT_LT(bytes, 200 * trace.size()) << file << ": " << bytes / trace.size();
  }
}

TEST(Kineto, ReadsTheFormatOf2021) {
  const RecordedTrace trace =
      read_published("kineto/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz");
  EXPECT_EQ(trace.devices.at(0).name, "Tesla V100-DGXS-32GB");
  EXPECT_EQ(trace.devices.at(0).multiprocessors, 80);
  EXPECT_EQ(trace.devices.at(0).memory_bytes, 34084028416);
  const std::size_t kernel =
      find(trace, "cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)");
  EXPECT_EQ(trace.kind[kernel], EventKind::kernel);
  EXPECT_EQ(trace.base_ns + trace.start_ns[kernel], 1623212388476227000);
  EXPECT_EQ(trace.duration_ns[kernel], 2000);
  EXPECT_EQ(trace.correlation[kernel], 34510);
  EXPECT_EQ(trace.external_id[kernel], 50);
  const Lane& lane = trace.lanes[trace.lane[kernel]];
  EXPECT_TRUE(lane.device);
  EXPECT_EQ(lane.process, 0);
  EXPECT_EQ(lane.thread, 7);
  const KernelDetails& details = trace.kernels[trace.details[kernel]];
  EXPECT_THAT(details.grid, ElementsAre(50, 1, 1));
  EXPECT_THAT(details.block, ElementsAre(256, 1, 1));
  EXPECT_EQ(details.registers_per_thread, 38);
  EXPECT_FLOAT_EQ(details.achieved_occupancy, 0.08F);
  const std::size_t empty = find(trace, "aten::empty");
  EXPECT_EQ(trace.lanes[trace.lane[empty]].thread, 5555);
  EXPECT_EQ(trace.lanes[trace.lane[empty]].process_name, "python");
  EXPECT_EQ(trace.memory.size(), 10980);
}

TEST(Kineto, ReadsTheFormatOf2026) {
  const RecordedTrace trace = read_published("ao/ref_ep_moe_fwd.json.gz");
  EXPECT_EQ(trace.rank, 0);
  EXPECT_EQ(trace.world_size, 2);
  EXPECT_EQ(trace.backend, "nccl");
  EXPECT_EQ(trace.base_ns, 1775078550000000000);
  ASSERT_EQ(trace.groups.size(), 1U);
  EXPECT_EQ(trace.groups[0].description, "default_pg");
  EXPECT_THAT(trace.groups[0].ranks, ElementsAre(0, 1));
  const std::size_t event = find(trace, "record_param_comms");
  EXPECT_EQ(trace.start_ns[event], 973473393685561);
  const CommunicationDetails& details = trace.communications[trace.communication[event]];
  EXPECT_EQ(trace.texts[details.collective], "all_to_allv");
  EXPECT_EQ(trace.texts[details.data_type], "Long");
  EXPECT_EQ(trace.texts[details.group], "0");
  EXPECT_EQ(trace.texts[details.input_splits], "[4, 4]");
  EXPECT_EQ(details.input_elements, 8);
  EXPECT_EQ(details.group_size, 2);
  EXPECT_EQ(details.sequence, 178);
  EXPECT_TRUE(details.asynchronous);
  const OperatorDetails& of_view = trace.operators[trace.details[find(trace, "aten::view")]];
  EXPECT_EQ(trace.texts[of_view.input_shapes], "[[1, 8192, 7168], []]");
  EXPECT_EQ(trace.texts[of_view.input_types], R"(["c10::BFloat16", "ScalarList"])");
  EXPECT_EQ(trace.texts[of_view.input_strides], "[[58720256, 7168, 1], []]");
  EXPECT_EQ(trace.texts[of_view.concrete_inputs], R"(["", "[-1, 7168]"])");
  EXPECT_EQ(of_view.sequence_number, 1746);
  EXPECT_EQ(of_view.record_function_id, 0);
}

TEST(Kineto, ReadsSynchronizations) {
  const RecordedTrace trace = read_published(
      "HolisticTraceAnalysis/critical_path/cuda_event_sync_multi_stream/event_sync_trace.json.gz");
  const std::size_t wait = find(trace, "Stream Wait Event");
  EXPECT_EQ(trace.kind[wait], EventKind::synchronization);
  const SynchronizationDetails& details = trace.synchronizations[trace.details[wait]];
  EXPECT_EQ(details.stream, 24);
  EXPECT_EQ(details.awaited_stream, 20);
  EXPECT_EQ(details.record_correlation, 1385);
  EXPECT_EQ(details.event, 19);
  EXPECT_EQ(trace.synchronizations[trace.details[find(trace, "Context Sync")]].stream, -1);
}

TEST(Kineto, LinksForwardToBackwardOperators) {
  const RecordedTrace trace = read_published("megatron-lm-fork/tp2/kineto_rank0.json.gz");
  ASSERT_FALSE(trace.forward_to_backward.empty());
  for (const auto& [from, to] : trace.forward_to_backward) {
    EXPECT_LT(trace.start_ns[from], trace.start_ns[to]);
    EXPECT_EQ(trace.operators[trace.details[from]].sequence_number,
              trace.operators[trace.details[to]].sequence_number);
  }
}

TEST(Kineto, KeepsIntegersAbove53Bits) {
  const RecordedTrace trace = read_text(with_events(
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1712867402348256.789,
          "dur": 1, "args": {"correlation": 9007199254740993,
          "External id": 10159970886766084423, "stream": 4294967295}})"));
  EXPECT_EQ(trace.correlation[0], 9007199254740993);
  EXPECT_EQ(static_cast<std::uint64_t>(trace.external_id[0]), 10159970886766084423U);
  EXPECT_EQ(trace.base_ns + trace.start_ns[0], 1712867402348256789);
  EXPECT_EQ(trace.lanes[trace.lane[0]].thread, -1);
}

TEST(Kineto, TakesKeysInAnyOrderAndEscapedTexts) {
  const RecordedTrace trace = read_text(
      R"({"traceEvents": [{"args": {"Input Dims": [[1,
            2], []], "Input type": ["unsigned char", ""], "External id": 3}, "dur": "2.5",
          "ts": 1e1, "tid": "5786", "pid": 4, "name": "a\"\\\u00e9\ud83d\ude00\/b", "cat": "cpu_op",
          "ph": "X"}], "distributedInfo": {"rank": 3, "world_size": 8, "backend": "undefined"},
          "baseTimeNanoseconds": 1711964646000000000})");
  ASSERT_EQ(trace.size(), 1U);
  EXPECT_EQ(trace.name_of(0), "a\"\\é😀/b");
  EXPECT_EQ(trace.start_ns[0], 10000);
  EXPECT_EQ(trace.duration_ns[0], 2500);
  EXPECT_EQ(trace.base_ns, 1711964646000000000);
  EXPECT_EQ(trace.rank, 3);
  EXPECT_EQ(trace.backend, "");
  EXPECT_EQ(trace.lanes[0].thread, 5786);
  EXPECT_EQ(trace.texts[trace.operators[0].input_shapes], "[[1, 2], []]");
  EXPECT_EQ(trace.texts[trace.operators[0].input_types], R"(["unsigned char", ""])");
}

TEST(Kineto, LeavesOutPythonFunctionsOnRequest) {
  const std::string text = with_events(
      R"({"ph": "X", "cat": "python_function", "name": "f", "pid": 1, "tid": 1, "ts": 1, "dur": 5},)" +
      operator_at(2, 1, "aten::mm"));
  EXPECT_EQ(read_text(text).size(), 2U);
  KinetoOptions options;
  options.python_functions = PythonFunctions::leave_out;
  const RecordedTrace without = read_text(text, options);
  EXPECT_EQ(without.size(), 1U);
  EXPECT_EQ(without.place[0], 1U);
}

// Several megabytes, so that blocks end everywhere, with texts and lists that look like the seam
// between two events.
TEST(Kineto, FindsTheSeamsOfBlocks) {
  std::string events;
  std::int64_t count = 0;
  const std::string decoys[] = {
      R"(, "args": {"a": [{"b": 1}, {"c": [{}, {}]}, {"d": "}, {"}]})",
      R"(, "args": {"Call stack": "}, {\"ph\": \"X\"}, {", "x": {"y": {}}})",
      R"(, "args": {"Concrete Inputs": ["\\", "\\\"}, {", "]}"]})", ""};
  while (events.size() < (std::size_t{5} << 20U)) {
    if (count > 0) events += count % 3 == 0 ? "," : " ,\n ";
    std::string event = operator_at(count, 1, "op" + std::to_string(count));
    event.insert(event.size() - 1, decoys[count % 4]);
    events += event;
    ++count;
  }
  // The last block holds only decoys.
  events += R"(, {"ph": "X", "cat": "cpu_op", "name": "last", "pid": 1, "tid": 1, "ts": )" +
            std::to_string(count) + R"(, "dur": 1, "args": {"list": [)";
  for (int i = 0; i < 400000; ++i) events += "{}, ";
  events += "{}]}}";
  const std::string text = with_events(events);
  for (const std::string& bytes : {text, gzip(text)}) {
    const RecordedTrace trace = read_text(bytes);
    ASSERT_EQ(static_cast<std::int64_t>(trace.size()), count + 1);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto event = static_cast<std::size_t>(i);
      ASSERT_EQ(trace.start_ns[event], i * 1000);
      ASSERT_EQ(trace.place[event], i);
      ASSERT_EQ(trace.name_of(event), "op" + std::to_string(i));
    }
    EXPECT_EQ(trace.name_of(trace.size() - 1), "last");
  }
}

TEST(Kineto, ReadsTenMillionLevelsOfBrackets) {
  const std::string deep = std::string(10'000'000, '[') + std::string(10'000'000, ']');
  const std::string event =
      R"({"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
          "args": {"x": )" +
      deep + "}}";
  EXPECT_EQ(read_text(with_events(event)).size(), 1U);
  EXPECT_EQ(read_text(R"({"metadata": )" + deep + R"(, "traceEvents": []})").size(), 0U);
  EXPECT_THAT(kineto_error(R"({"distributedInfo": )" + deep + R"(, "traceEvents": []})"),
              HasSubstr("distributedInfo is not JSON"));
}

TEST(Kineto, RefusesWhatIsNoTrace) {
  EXPECT_EQ(kineto_error(""), "trace.json: byte 0: the file ends before it begins");
  EXPECT_EQ(kineto_error("hello"),
            "trace.json: byte 0: not JSON (a trace of the PyTorch profiler begins with {, or is "
            "gzip of that)");
  EXPECT_EQ(kineto_error(R"([{"name": "forward-compute", "ph": "X"}])"),
            "trace.json: byte 0: this is a timeline of operations (a trace of the PyTorch profiler "
            "was expected: an object with a list traceEvents)");
  EXPECT_THAT(read_kineto(kTraces + "chakra/chakra.0.et").error().text(),
              HasSubstr("chakra.0.et: byte 0: this is a Chakra execution trace (a trace of"));
  EXPECT_EQ(kineto_error("{}"), "trace.json: no traceEvents: not a trace of the PyTorch profiler");
  EXPECT_EQ(kineto_error(R"({"schema": "1.1.1", "nodes": []})"),
            "trace.json: no traceEvents: not a trace of the PyTorch profiler (it looks like a host "
            "execution trace of PyTorch)");
  EXPECT_EQ(kineto_error(R"({"traceEvents": 3})"),
            "trace.json: no traceEvents: not a trace of the PyTorch profiler");
}

TEST(Kineto, SaysWhatOtherBytesAre) {
  const auto bytes = [](std::string_view text) { return std::string(text); };
  using namespace std::string_view_literals;
  for (const auto text : {"\xff\xfe{\0"sv, "\xfe\xff\0{"sv, "{\0\"\0"sv, "\0{\0\""sv}) {
    EXPECT_EQ(kineto_error(bytes(text)), "trace.json: byte 0: this is UTF-16 (save it as UTF-8)");
  }
  EXPECT_EQ(kineto_error(std::string(100, '\0')),
            "trace.json: byte 0: it begins with zeros (a crash can leave such a file: record "
            "again)");
  EXPECT_EQ(kineto_error(gzip(gzip(R"({"traceEvents": []})"))),
            "trace.json: byte 0: this is gzip inside gzip (unpack it once)");
  EXPECT_THAT(kineto_error("PK\x03\x04 and more"),
              HasSubstr("this is a zip archive (unpack it first"));
  EXPECT_EQ(kineto_error("\xef\xbb\xbf"), "trace.json: byte 3: the file ends before it begins");
  EXPECT_EQ(read_text("\xef\xbb\xbf{\"traceEvents\": []}").size(), 0U);
}

TEST(Kineto, ReadsAListWithoutAnObjectAroundIt) {
  const std::string events = operator_at(1, 5, "a") + ", " + operator_at(2, 1, "b");
  const RecordedTrace trace = read_text(" [" + events + "]\n");
  ASSERT_EQ(trace.size(), 2U);
  EXPECT_EQ(trace.name_of(1), "b");
  EXPECT_FALSE(trace.truncated);
  EXPECT_EQ(kineto_error("[" + events + "] x"),
            "trace.json: byte " + std::to_string(events.size() + 3) +
                ": something follows the end of the trace (one file holds one trace)");
  EXPECT_THAT(kineto_error("[" + events), HasSubstr("the file ends in the middle of its events"));
  KinetoOptions options;
  options.incomplete = Incomplete::use_what_is_whole;
  const RecordedTrace cut = read_text("[" + events + ",\n", options);
  EXPECT_EQ(cut.size(), 2U);
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(kineto_error("[[1]]"), "trace.json: byte 1: not an event: { is missing");
  EXPECT_EQ(kineto_error(operator_at(1, 5, "a") + "\n" + operator_at(2, 1, "b")),
            "trace.json: byte " + std::to_string(operator_at(1, 5, "a").size() + 1) +
                ": not a trace of the PyTorch profiler: an object without traceEvents ends here, "
                "and more follows");
}

TEST(Kineto, RefusesEventsThatAreTooFarFromTheOthers) {
  std::string events = operator_at(1, 1, "a");
  for (int i = 2; i < 9; ++i) events += ", " + operator_at(i, 1, "a");
  EXPECT_EQ(kineto_error(with_events(events + ", " + operator_at(90'000'000'000, 1, "late"))),
            "trace.json: event 8, \"late\": begins 1.042 days behind the median of the others (a "
            "recording takes no longer than a day; --partial leaves such events out)");
  EXPECT_THAT(
      kineto_error(with_events(operator_at(-3'999'999'999'999'999, 1, "early") + "," + events)),
      HasSubstr("event 0, \"early\": begins 4.63e+04 days before the median"));
  EXPECT_THAT(kineto_error(with_events(events + ", " + operator_at(9, 90'000'000'000, "long"))),
              HasSubstr("event 8, \"long\": dur is 90000000000 (microseconds; no event takes"));
  const std::string allocation =
      R"({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 3999999999999999,
          "args": {"Bytes": 4, "Device Type": 0}})";
  EXPECT_THAT(kineto_error(with_events(events + ", " + allocation)),
              HasSubstr("event 8, [memory]: more than a day from the other events"));
  KinetoOptions options;
  options.incomplete = Incomplete::use_what_is_whole;
  const RecordedTrace trace =
      read_text(with_events(operator_at(-3'999'999'999'999'999, 1, "early") + "," + events + ", " +
                            operator_at(90'000'000'000, 1, "late") + ", " + allocation),
                options);
  EXPECT_EQ(trace.size(), 8U);
  EXPECT_EQ(trace.left_out, 3);
  EXPECT_EQ(trace.start_ns.front(), 1000);
  EXPECT_EQ(trace.memory.size(), 0U);
}

TEST(Kineto, RefusesDurationsThatAddUpToTooMuch) {
  const std::string day = operator_at(1, 86'400'000'000, "a");
  std::string events = day;
  for (int i = 1; i < 55'000; ++i) events += "," + day;
  EXPECT_EQ(kineto_error(with_events(events)),
            "trace.json: the events take 151 years together (are the times microseconds?)");
}

TEST(Kineto, SaysWhereTheJsonIsBroken) {
  EXPECT_EQ(kineto_error(R"({"a" 1})"),
            "trace.json: byte 5: not JSON: a colon is missing behind \"a\"");
  EXPECT_EQ(kineto_error(R"({"a": })"), "trace.json: byte 6: not JSON: \"a\" has no value");
  EXPECT_EQ(kineto_error(R"({"a": 1 "b": 2})"),
            "trace.json: byte 8: not JSON: a comma or } is missing");
  EXPECT_EQ(kineto_error(R"({1: 2})"), "trace.json: byte 1: not JSON: a key is missing");
  EXPECT_EQ(kineto_error(R"({"traceEvents": []} x)"),
            "trace.json: byte 20: something follows the end of the trace (one file holds one "
            "trace)");
  EXPECT_EQ(kineto_error(R"({"traceEvents": [], "traceEvents": []})"),
            "trace.json: byte 35: a second list traceEvents (one file holds one trace)");
  EXPECT_EQ(kineto_error(with_events("1")), "trace.json: byte 37: not an event: { is missing");
  EXPECT_EQ(kineto_error(with_events("{} {}")),
            "trace.json: byte 40: not JSON: a comma or ] is missing");
  EXPECT_EQ(kineto_error(with_events("{},")), "trace.json: byte 40: not an event: { is missing");
  EXPECT_THAT(kineto_error(with_events(R"({"ph": "X" "cat": 1})")),
              StartsWith("trace.json: byte 48: not JSON"));
  // What an event is does not hang on such words.
  EXPECT_THAT(kineto_error(with_events(R"({"ph": X})")),
              StartsWith("trace.json: byte 44: not JSON"));
  EXPECT_THAT(kineto_error(with_events("{}, {\"name\": \"\xff\"}")),
              StartsWith("trace.json: byte 41: "));
  EXPECT_THAT(kineto_error(R"({"distributedInfo": {"rank" 1}, "traceEvents": []})"),
              StartsWith("trace.json: byte 20: distributedInfo is not JSON"));
  EXPECT_EQ(kineto_error(R"({"baseTimeNanoseconds": "soon", "traceEvents": []})"),
            "trace.json: byte 24: baseTimeNanoseconds is \"soon\" (nanoseconds since 1970, at most "
            "4e18)");
}

TEST(Kineto, RefusesTimesThatCannotBe) {
  const std::string good = operator_at(1, 1, "a") + ", ";
  EXPECT_EQ(kineto_error(with_events(good + operator_at(5, -1, "aten::mm"))),
            "trace.json: byte 119: event 1, \"aten::mm\": dur is -1 (an event ends after it "
            "begins; --partial leaves such events out)");
  EXPECT_THAT(kineto_error(with_events(R"({"ph": "X", "name": "n", "ts": "never", "dur": 1})")),
              HasSubstr("event 0, \"n\": ts is \"never\" (times"));
  EXPECT_THAT(kineto_error(with_events(R"({"ph": "X", "name": "n", "ts": 1e300, "dur": 1})")),
              HasSubstr("ts is 1e300"));
  KinetoOptions options;
  options.incomplete = Incomplete::use_what_is_whole;
  const RecordedTrace trace =
      read_text(with_events(good + operator_at(5, -1, "aten::mm")), options);
  EXPECT_EQ(trace.size(), 1U);
  EXPECT_EQ(trace.left_out, 1);
  EXPECT_EQ(trace.entries, 2);
}

TEST(Kineto, CountsEventsWithoutTimes) {
  const RecordedTrace trace = read_text(
      with_events(R"({"ph": "X", "name": "n", "ts": 5}, {"ph": "X", "name": "n", "dur": 5}, )" +
                  operator_at(1, 1, "a")));
  EXPECT_EQ(trace.size(), 1U);
  EXPECT_EQ(trace.left_out, 2);
}

// Cut anywhere, a file is an error with its length, or as many events as are whole.
TEST(Kineto, UsesWhatIsWholeOfATruncatedFile) {
  const std::string whole = with_events(operator_at(1, 1, "a") + ",\n" +
                                        operator_at(2, 1, "b}, {") + ", " + operator_at(3, 1, "c"));
  const std::size_t list = whole.find('[');
  KinetoOptions options;
  options.incomplete = Incomplete::use_what_is_whole;
  std::size_t before = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    EXPECT_THAT(kineto_error(cut),
                AllOf(HasSubstr("byte " + std::to_string(size) + ":"), HasSubstr("the file ends")));
    if (size <= list) {
      EXPECT_THAT(kineto_error(cut, options), HasSubstr("the file ends"));
      continue;
    }
    const RecordedTrace trace = read_text(cut, options);
    EXPECT_TRUE(trace.truncated);
    EXPECT_GE(trace.size(), before);
    before = trace.size();
  }
  EXPECT_EQ(before, 3U);
  EXPECT_EQ(kineto_error(whole.substr(0, 140)),
            "trace.json: byte 140: the file ends in the middle of an event (a job that is killed "
            "leaves such files; --partial uses what is whole)");
}

TEST(Kineto, UsesWhatIsWholeOfTruncatedGzip) {
  std::string events = operator_at(0, 1, "a");
  for (int i = 1; i < 20000; ++i)
    events += ", " + operator_at(i, 1, "n" + std::to_string(i * 7919));
  const std::string packed = gzip(with_events(events));
  const std::string cut = packed.substr(0, packed.size() / 2);
  EXPECT_THAT(kineto_error(cut), HasSubstr("the gzip stream ends in the middle of an event"));
  KinetoOptions options;
  options.incomplete = Incomplete::use_what_is_whole;
  const RecordedTrace trace = read_text(cut, options);
  EXPECT_TRUE(trace.truncated);
  EXPECT_GT(trace.size(), 5000U);
  EXPECT_LT(trace.size(), 20000U);
  // Without its trailer it is whole, but nobody can know.
  EXPECT_THAT(kineto_error(packed.substr(0, packed.size() - 4)),
              HasSubstr("the gzip stream ends in the middle of the gzip stream"));
}

TEST(Kineto, RefusesDamagedGzip) {
  std::string packed = gzip(with_events(operator_at(1, 1, std::string(5000, 'a'))));
  std::string damaged = packed;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  EXPECT_THAT(kineto_error(damaged), AllOf(HasSubstr("damaged gzip"), HasSubstr("gzip -t")));
  EXPECT_THAT(kineto_error("\x1f\x8b plain text after all"), HasSubstr("damaged gzip"));
  EXPECT_THAT(kineto_error(packed + "garbage"), HasSubstr("something follows its end"));
  EXPECT_EQ(read_text(packed + std::string(512, '\0')).size(), 1U);
}

TEST(Kineto, RefusesAFileThatCannotBeRead) {
  EXPECT_EQ(read_kineto("absent.json").error().text(),
            "absent.json: cannot be opened: No such file or directory");
  EXPECT_EQ(read_kineto(kTraces).error().text(), kTraces + ": cannot be read: Is a directory");
}

// The header of libkineto's files of 2021.
TEST(Kineto, ReadsTheDevicesOf2021) {
  const RecordedTrace trace = read_text(
      R"({"computeProperties":[{"id":0,"name":"Tesla V100-DGXS-32GB","totalGlobalMem":34084028416,
          "multiProcessorCount":80}],"traceEvents":[]})");
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].name, "Tesla V100-DGXS-32GB");
  EXPECT_EQ(trace.devices[0].memory_bytes, 34'084'028'416);
  EXPECT_EQ(trace.devices[0].multiprocessors, 80);
}

// Some writers know no correlation: a launch and its work share an External id.
TEST(Kineto, LinksLaunchesByExternalIdWhereNothingIsCorrelated) {
  const std::string events =
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9,"args":{}},
         {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":3,
          "args":{"External id":100}},
         {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":6,"dur":20,
          "args":{"device":0,"stream":7,"External id":100}})";
  const RecordedTrace trace = read_text(with_events(events));
  ASSERT_EQ(trace.size(), 3U);
  EXPECT_EQ(trace.correlation[1], 100);
  EXPECT_EQ(trace.correlation[2], 100);
  // Two calls: it is the operator's.
  const RecordedTrace shared = read_text(with_events(
      events + R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,
                    "ts":12,"dur":3,"args":{"External id":100}})"));
  EXPECT_EQ(shared.correlation[2], kNotRecorded);
  const RecordedTrace correlated = read_text(with_events(
      events + R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,
                    "ts":12,"dur":3,"args":{"correlation":5}})"));
  EXPECT_EQ(correlated.correlation[1], kNotRecorded);
}

}  // namespace
}  // namespace orrery
