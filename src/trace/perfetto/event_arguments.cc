#include "trace/perfetto/event_arguments.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "document/json_quoted.h"

namespace orrery {
namespace {

void details_of(const RecordedTrace& trace, std::size_t e, MembersText& arguments) {
  const std::uint32_t details = trace.details[e];
  if (details == kNoDetails) return;
  switch (trace.kind[e]) {
    case EventKind::cpu_operator:
    case EventKind::annotation: {
      const OperatorDetails& d = trace.operators[details];
      arguments.number("Record function id", d.record_function_id);
      arguments.number("Sequence number", d.sequence_number);
      arguments.number("Fwd thread id", d.forward_thread);
      arguments.list("Input Dims", trace.texts[d.input_shapes]);
      arguments.list("Input type", trace.texts[d.input_types]);
      arguments.list("Input Strides", trace.texts[d.input_strides]);
      arguments.list("Concrete Inputs", trace.texts[d.concrete_inputs]);
      return;
    }
    case EventKind::kernel: {
      const KernelDetails& d = trace.kernels[details];
      arguments.raw("grid", fmt::format("[{}, {}, {}]", d.grid[0], d.grid[1], d.grid[2]));
      arguments.raw("block", fmt::format("[{}, {}, {}]", d.block[0], d.block[1], d.block[2]));
      if (d.registers_per_thread >= 0) {
        arguments.number("registers per thread", d.registers_per_thread);
      }
      if (d.shared_memory_bytes >= 0) arguments.number("shared memory", d.shared_memory_bytes);
      if (d.achieved_occupancy >= 0) {
        arguments.number("est. achieved occupancy %", std::lround(d.achieved_occupancy * 100));
      }
      arguments.number("graph id", d.graph);
      return;
    }
    case EventKind::copy:
    case EventKind::fill:
      arguments.number("bytes", trace.copies[details].bytes);
      return;
    case EventKind::synchronization:
    case EventKind::event_record: {
      const SynchronizationDetails& d = trace.synchronizations[details];
      arguments.number("stream", d.stream);
      arguments.number("wait_on_stream", d.awaited_stream);
      arguments.number("wait_on_cuda_event_record_corr_id", d.record_correlation);
      arguments.number(
          trace.kind[e] == EventKind::event_record ? "cuda_event_id" : "wait_on_cuda_event_id",
          d.event);
      return;
    }
    default:
      return;
  }
}

void communication_of(const RecordedTrace& trace, const CommunicationDetails& d,
                      MembersText& arguments) {
  // The collective's name tells that there are such arguments, so it is always there.
  std::string name;
  append_quoted(trace.texts[d.collective], name);
  arguments.raw("Collective name", name);
  arguments.text("dtype", trace.texts[d.data_type]);
  arguments.number("In msg nelems", d.input_elements);
  arguments.number("Out msg nelems", d.output_elements);
  arguments.text("In split size", trace.texts[d.input_splits]);
  arguments.text("Out split size", trace.texts[d.output_splits]);
  arguments.number("Group size", d.group_size);
  arguments.text("Process Group Name", trace.texts[d.group]);
  arguments.text("Process Group Description", trace.texts[d.group_description]);
  arguments.text("Process Group Ranks", trace.texts[d.group_ranks]);
  arguments.number("Global rank start", d.rank_start);
  arguments.number("Global rank stride", d.rank_stride);
  arguments.number("Src Rank", d.source);
  arguments.number("Dst Rank", d.destination);
  arguments.number("Seq", d.sequence);
  if (d.asynchronous) arguments.raw("Is asynchronized op", "true");
}

}  // namespace

void MembersText::number(std::string_view key, std::int64_t value) {
  if (value == kNotRecorded) return;
  begin(key);
  fmt::format_to(std::back_inserter(out_), "{}", value);
}

void MembersText::text(std::string_view key, std::string_view value) {
  if (value.empty()) return;
  begin(key);
  append_quoted(value, out_);
}

void MembersText::list(std::string_view key, std::string_view value) {
  if (value.empty()) return;
  begin(key);
  if (value.starts_with('[')) {
    out_ += value;
  } else {
    append_quoted(value, out_);
  }
}

void MembersText::raw(std::string_view key, std::string_view value) {
  begin(key);
  out_ += value;
}

void MembersText::begin(std::string_view key) {
  out_ += out_.size() > first_ ? ", \"" : "\"";
  out_ += key;
  out_ += "\": ";
}

void append_event_arguments(const RecordedTrace& trace, std::size_t event, std::string& out) {
  MembersText arguments(out);
  arguments.number("External id", trace.external_id[event]);
  arguments.number("correlation", trace.correlation[event]);
  if (is_device_work(trace.kind[event])) {
    const Lane& lane = trace.lanes[trace.lane[event]];
    arguments.number("device", lane.process);
    arguments.number("stream", lane.thread);
  }
  details_of(trace, event, arguments);
  if (trace.communication[event] != kNoDetails) {
    communication_of(trace, trace.communications[trace.communication[event]], arguments);
  }
}

}  // namespace orrery
