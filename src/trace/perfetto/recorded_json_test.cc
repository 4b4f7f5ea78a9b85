#include "trace/perfetto/recorded_json.h"

#include <gmock/gmock.h>

#include "trace/kineto/kineto.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;

const std::string kTraces = ORRERY_SOURCE_DIR "/validation/traces/";

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

class RecordedJsonOfEveryEra : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedJsonOfEveryEra, ReadsBackAsItWas) {
  const auto trace = read_kineto(kTraces + GetParam());
  ASSERT_TRUE(trace) << trace.error().text();
  const auto again = read_kineto_bytes(recorded_json(std::span(&*trace, 1)), "written");
  ASSERT_TRUE(again) << again.error().text();
  ASSERT_EQ(again->size(), trace->size());
  EXPECT_EQ(again->base_ns, trace->base_ns);
  EXPECT_EQ(again->rank, trace->rank);
  EXPECT_EQ(again->world_size, trace->world_size);
  EXPECT_EQ(again->start_ns, trace->start_ns);
  EXPECT_EQ(again->duration_ns, trace->duration_ns);
  EXPECT_EQ(again->correlation, trace->correlation);
  EXPECT_EQ(again->external_id, trace->external_id);
  EXPECT_EQ(again->kind, trace->kind);
  EXPECT_EQ(again->forward_to_backward, trace->forward_to_backward);
  EXPECT_EQ(again->memory.size(), trace->memory.size());
  EXPECT_EQ(again->groups.size(), trace->groups.size());
  EXPECT_EQ(again->devices.size(), trace->devices.size());
  for (std::size_t e = 0; e < trace->size(); ++e) {
    ASSERT_EQ(again->name_of(e), trace->name_of(e)) << e;
    ASSERT_EQ(operator_text(*again, e), operator_text(*trace, e)) << e << trace->name_of(e);
    ASSERT_EQ(communication_text(*again, e), communication_text(*trace, e)) << e;
    const Lane& a = again->lanes[again->lane[e]];
    const Lane& b = trace->lanes[trace->lane[e]];
    ASSERT_EQ(a.device, b.device) << e;
    ASSERT_EQ(a.process, b.process) << e;
    ASSERT_EQ(a.thread, b.thread) << e;
  }
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

TEST(RecordedJson, PutsSeveralRanksOnOneClockWithRowsOfTheirOwn) {
  std::vector<RecordedTrace> ranks;
  for (const char* rank : {"0", "1"}) {
    auto trace =
        read_kineto(kTraces + "megatron-lm-fork/tp2/kineto_rank" + std::string(rank) + ".json.gz");
    ASSERT_TRUE(trace);
    ranks.push_back(std::move(*trace));
  }
  const std::string json = recorded_json(ranks);
  EXPECT_THAT(json, HasSubstr("\"name\": \"rank 1 python"));
  const auto both = read_kineto_bytes(json, "written");
  ASSERT_TRUE(both) << both.error().text();
  EXPECT_EQ(both->size(), ranks[0].size() + ranks[1].size());
  EXPECT_EQ(both->start_ns.front(), std::min(ranks[0].start_ns.front(), ranks[1].start_ns.front()));
}

TEST(RecordedJson, EscapesNames) {
  RecordedTrace trace;
  trace.lanes.push_back(Lane{.process = 1, .thread = 2, .process_name = "", .thread_name = ""});
  trace.start_ns = {-1};
  trace.duration_ns = {1500};
  trace.correlation = {kNotRecorded};
  trace.external_id = {kNotRecorded};
  trace.name = {trace.texts.intern("a \"b\" \\ \n \xff")};
  trace.lane = {0};
  trace.details = {kNoDetails};
  trace.communication = {kNoDetails};
  trace.place = {0};
  trace.kind = {EventKind::cpu_operator};
  const std::string json = recorded_json(std::span(&trace, 1));
  EXPECT_THAT(json, HasSubstr(R"("name": "a \"b\" \\ \u000a ?")"));
  EXPECT_THAT(json, HasSubstr(R"("ts": -0.001, "dur": 1.500})"));
}

}  // namespace
}  // namespace orrery
