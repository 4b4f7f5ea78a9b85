#include "trace/perfetto/recorded_json.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "document/utf8.h"
#include "trace/kineto/rank_process.h"
#include "trace/piece_writer.h"

namespace orrery {
namespace {

// Arrows of several ranks in one file keep apart.
constexpr std::int64_t kArrowsOfRank = 1'000'000'000;

void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const std::size_t whole = first_invalid_utf8(text).value_or(text.size());
    for (const char c : text.substr(0, whole)) {
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        out += fmt::format("\\u{:04x}", static_cast<int>(c));
      } else {
        out += c;
      }
    }
    text.remove_prefix(whole);
    if (!text.empty()) {
      out += '?';
      text.remove_prefix(1);
    }
  }
  out += '"';
}

void append_microseconds(std::int64_t ns, std::string& out) {
  const bool negative = ns < 0;
  const auto size = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  fmt::format_to(std::back_inserter(out), "{}{}.{:03}", negative ? "-" : "", size / 1000,
                 size % 1000);
}

// As the profiler of today names them.
std::string_view category(EventKind kind) {
  static constexpr std::array<std::string_view, kEventKinds> kNames = {
      "cpu_op",     "user_annotation",     "cuda_runtime", "python_function",
      "kernel",     "gpu_memcpy",          "gpu_memset",   "cuda_sync",
      "cuda_event", "gpu_user_annotation", "overhead",     "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

// The arguments of an event: commas between those that are there.
class Arguments {
 public:
  explicit Arguments(std::string& out) : out_(out) {}

  void number(std::string_view key, std::int64_t value) {
    if (value == kNotRecorded) return;
    begin(key);
    fmt::format_to(std::back_inserter(out_), "{}", value);
  }
  void text(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    begin(key);
    append_quoted(value, out_);
  }
  // A text that is JSON itself where it begins like a list.
  void list(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    begin(key);
    if (value.starts_with('[')) {
      out_ += value;
    } else {
      append_quoted(value, out_);
    }
  }
  void raw(std::string_view key, std::string_view value) {
    begin(key);
    out_ += value;
  }
  void end() { out_ += any_ ? "}" : ""; }

 private:
  void begin(std::string_view key) {
    out_ += any_ ? ", \"" : ", \"args\": {\"";
    out_ += key;
    out_ += "\": ";
    any_ = true;
  }

  std::string& out_;
  bool any_ = false;
};

std::int64_t rank_in_file(const RecordedTrace& trace, std::int64_t place) {
  return trace.rank == kNotRecorded ? place : trace.rank;
}

// The text, or the end of it that is not in the file yet.
struct JsonText {
  std::string text;
  PieceWriter* file = nullptr;
  bool any_event = false;

  void drain() {
    constexpr std::size_t kPiece = std::size_t{1} << 20U;
    if (file == nullptr || text.size() < kPiece) return;
    file->append(text);
    text.clear();
  }
};

class RankWriter {
 public:
  // `place` among the ranks that share the file, from 0; kNotRecorded: it has the file for itself.
  RankWriter(const RecordedTrace& trace, std::int64_t shift_ns, std::int64_t place, JsonText& out)
      : trace_(trace),
        shift_ns_(shift_ns),
        shared_(place != kNotRecorded),
        place_(place),
        json_(out),
        out_(out.text) {}

  void write() {
    for (std::size_t e = 0; e < trace_.size(); ++e) event(e);
    launches();
    forward_to_backward();
    allocations();
    names();
  }

 private:
  void next() {
    json_.drain();
    out_ += json_.any_event ? ",\n  " : "\n  ";
    json_.any_event = true;
  }

  void row(const Lane& lane) {
    out_ += ", \"pid\": ";
    process(lane.process, lane.process_name);
    out_ += ", \"tid\": ";
    number_or_name(lane.thread, lane.thread_name);
  }

  void process(std::int64_t number, std::string_view name) {
    if (!shared_) return number_or_name(number, name);
    const std::int64_t rank = rank_in_file(trace_, place_);
    if (const auto shared = shared_process(rank, number)) return number_or_name(*shared, "");
    append_quoted(shared_process_text(rank, number, name), out_);
  }

  void number_or_name(std::int64_t number, std::string_view name) {
    if (number == kNotRecorded) {
      append_quoted(name, out_);
    } else {
      fmt::format_to(std::back_inserter(out_), "{}", number);
    }
  }

  void time(std::int64_t ns) {
    out_ += ", \"ts\": ";
    append_microseconds(ns + shift_ns_, out_);
  }

  void event(std::size_t e) {
    next();
    const EventKind kind = trace_.kind[e];
    out_ += R"({"ph": "X", "cat": ")";
    out_ += category(kind);
    out_ += R"(", "name": )";
    append_quoted(trace_.name_of(e), out_);
    row(trace_.lanes[trace_.lane[e]]);
    time(trace_.start_ns[e]);
    out_ += ", \"dur\": ";
    append_microseconds(trace_.duration_ns[e], out_);
    Arguments arguments(out_);
    arguments.number("External id", trace_.external_id[e]);
    arguments.number("correlation", trace_.correlation[e]);
    if (is_device_work(kind)) {
      const Lane& lane = trace_.lanes[trace_.lane[e]];
      arguments.number("device", lane.process);
      arguments.number("stream", lane.thread);
    }
    details(e, arguments);
    if (trace_.communication[e] != kNoDetails) {
      communication(trace_.communications[trace_.communication[e]], arguments);
    }
    arguments.end();
    out_ += '}';
  }

  void details(std::size_t e, Arguments& arguments) {
    const std::uint32_t details = trace_.details[e];
    if (details == kNoDetails) return;
    switch (trace_.kind[e]) {
      case EventKind::cpu_operator:
      case EventKind::annotation: {
        const OperatorDetails& d = trace_.operators[details];
        arguments.number("Record function id", d.record_function_id);
        arguments.number("Sequence number", d.sequence_number);
        arguments.number("Fwd thread id", d.forward_thread);
        arguments.list("Input Dims", trace_.texts[d.input_shapes]);
        arguments.list("Input type", trace_.texts[d.input_types]);
        arguments.list("Input Strides", trace_.texts[d.input_strides]);
        arguments.list("Concrete Inputs", trace_.texts[d.concrete_inputs]);
        return;
      }
      case EventKind::kernel: {
        const KernelDetails& d = trace_.kernels[details];
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
        arguments.number("bytes", trace_.copies[details].bytes);
        return;
      case EventKind::synchronization:
      case EventKind::event_record: {
        const SynchronizationDetails& d = trace_.synchronizations[details];
        arguments.number("stream", d.stream);
        arguments.number("wait_on_stream", d.awaited_stream);
        arguments.number("wait_on_cuda_event_record_corr_id", d.record_correlation);
        arguments.number(
            trace_.kind[e] == EventKind::event_record ? "cuda_event_id" : "wait_on_cuda_event_id",
            d.event);
        return;
      }
      default:
        return;
    }
  }

  void communication(const CommunicationDetails& d, Arguments& arguments) {
    // The collective's name tells that there are such arguments, so it is always there.
    std::string name;
    append_quoted(trace_.texts[d.collective], name);
    arguments.raw("Collective name", name);
    arguments.text("dtype", trace_.texts[d.data_type]);
    arguments.number("In msg nelems", d.input_elements);
    arguments.number("Out msg nelems", d.output_elements);
    arguments.text("In split size", trace_.texts[d.input_splits]);
    arguments.text("Out split size", trace_.texts[d.output_splits]);
    arguments.number("Group size", d.group_size);
    arguments.text("Process Group Name", trace_.texts[d.group]);
    arguments.text("Process Group Description", trace_.texts[d.group_description]);
    arguments.text("Process Group Ranks", trace_.texts[d.group_ranks]);
    arguments.number("Global rank start", d.rank_start);
    arguments.number("Global rank stride", d.rank_stride);
    arguments.number("Src Rank", d.source);
    arguments.number("Dst Rank", d.destination);
    arguments.number("Seq", d.sequence);
    if (d.asynchronous) arguments.raw("Is asynchronized op", "true");
  }

  void arrow(std::string_view flow, bool start, std::int64_t id, std::size_t e) {
    next();
    fmt::format_to(std::back_inserter(out_), R"({{"ph": "{}", "cat": "{}", "name": "{}", "id": {})",
                   start ? "s" : "f", flow, flow, arrow_id(id));
    row(trace_.lanes[trace_.lane[e]]);
    time(trace_.start_ns[e]);
    out_ += start ? "}" : R"(, "bp": "e"})";
  }

  [[nodiscard]] std::int64_t arrow_id(std::int64_t id) const {
    return shared_ ? place_ * kArrowsOfRank + (id & 0xFFFFFFF) : id;
  }

  void launches() {
    std::unordered_map<std::int64_t, std::size_t> calls;
    for (std::size_t e = 0; e < trace_.size(); ++e) {
      if (trace_.correlation[e] == kNotRecorded) continue;
      if (trace_.kind[e] == EventKind::runtime_call) {
        calls.emplace(trace_.correlation[e], e);
      }
    }
    for (std::size_t e = 0; e < trace_.size(); ++e) {
      if (!is_device_work(trace_.kind[e])) continue;
      const auto call = calls.find(trace_.correlation[e]);
      if (call == calls.end()) continue;
      arrow("ac2g", true, trace_.correlation[e], call->second);
      arrow("ac2g", false, trace_.correlation[e], e);
    }
  }

  void forward_to_backward() {
    std::int64_t id = 0;
    for (const auto& [from, to] : trace_.forward_to_backward) {
      ++id;
      arrow("fwdbwd", true, id, from);
      arrow("fwdbwd", false, id, to);
    }
  }

  void allocations() {
    for (const MemoryEvent& m : trace_.memory) {
      next();
      fmt::format_to(std::back_inserter(out_),
                     R"({{"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", )"
                     R"("pid": )");
      process(0, "");
      out_ += ", \"tid\": 0";
      time(m.time_ns);
      Arguments arguments(out_);
      arguments.number("Bytes", m.bytes);
      arguments.number("Addr", m.address);
      arguments.number("Device Type", m.device < 0 ? 0 : 1);
      arguments.number("Device Id", m.device);
      arguments.number("Total Allocated", m.allocated_bytes);
      arguments.number("Total Reserved", m.reserved_bytes);
      arguments.end();
      out_ += '}';
    }
  }

  void names() {
    std::unordered_map<std::int64_t, bool> named;
    for (const Lane& lane : trace_.lanes) {
      if (lane.process == kNotRecorded) continue;
      if ((shared_ || !lane.process_name.empty()) && named.emplace(lane.process, true).second) {
        label("process_name", lane,
              shared_ ? shared_process_name(rank_in_file(trace_, place_), lane.process,
                                            lane.process_name, lane.device)
                      : lane.process_name);
      }
      if (!lane.thread_name.empty() && lane.thread != kNotRecorded) {
        label("thread_name", lane, lane.thread_name);
      }
    }
  }

  void label(std::string_view what, const Lane& lane, std::string_view name) {
    next();
    fmt::format_to(std::back_inserter(out_), R"({{"ph": "M", "name": "{}", "pid": )", what);
    process(lane.process, lane.process_name);
    fmt::format_to(std::back_inserter(out_), R"(, "tid": {}, "args": {{"name": )",
                   lane.thread == kNotRecorded ? 0 : lane.thread);
    append_quoted(name, out_);
    out_ += "}}";
  }

  const RecordedTrace& trace_;
  std::int64_t shift_ns_;
  bool shared_;
  std::int64_t place_;
  JsonText& json_;
  std::string& out_;  // of json_
};

void append_header(const RecordedTrace& trace, std::string& out) {
  if (!trace.devices.empty()) {
    out += "\"deviceProperties\": [";
    for (std::size_t i = 0; i < trace.devices.size(); ++i) {
      const RecordedDevice& d = trace.devices[i];
      fmt::format_to(std::back_inserter(out), "{}{{\"id\": {}, \"name\": ", i == 0 ? "" : ", ", i);
      append_quoted(d.name, out);
      fmt::format_to(std::back_inserter(out), ", \"totalGlobalMem\": {}, \"numSms\": {}}}",
                     d.memory_bytes, d.multiprocessors);
    }
    out += "],\n";
  }
  if (trace.rank == kNotRecorded && trace.world_size == kNotRecorded) return;
  out += "\"distributedInfo\": {\"backend\": ";
  append_quoted(trace.backend, out);
  if (trace.rank != kNotRecorded) {
    fmt::format_to(std::back_inserter(out), ", \"rank\": {}", trace.rank);
  }
  if (trace.world_size != kNotRecorded) {
    fmt::format_to(std::back_inserter(out), ", \"world_size\": {}", trace.world_size);
  }
  if (!trace.groups.empty()) {
    fmt::format_to(std::back_inserter(out), ", \"pg_count\": {}, \"pg_config\": [",
                   trace.groups.size());
    for (std::size_t i = 0; i < trace.groups.size(); ++i) {
      const ProcessGroup& g = trace.groups[i];
      out += i == 0 ? "{\"pg_name\": " : ", {\"pg_name\": ";
      append_quoted(g.name, out);
      out += ", \"pg_desc\": ";
      append_quoted(g.description, out);
      fmt::format_to(std::back_inserter(out), ", \"pg_size\": {}, \"ranks\": [{}]}}", g.size,
                     fmt::join(g.ranks, ", "));
    }
    out += "]";
  }
  out += "},\n";
}

// The headers of all ranks, before the events, as their readers need it.
void append_ranks(std::span<const RecordedTrace> ranks, std::string& out) {
  fmt::format_to(std::back_inserter(out), "\"{}\": [", kRanksKey);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    out += i == 0 ? "{" : ",\n{";
    append_header(ranks[i], out);
    fmt::format_to(std::back_inserter(out), "\"rank\": {}}}",
                   rank_in_file(ranks[i], static_cast<std::int64_t>(i)));
  }
  out += "],\n";
}

void append_run(std::span<const RecordedTrace> ranks, JsonText& out) {
  out.text += "{\n\"schemaVersion\": 1,\n";
  if (ranks.size() == 1) append_header(ranks[0], out.text);
  if (ranks.size() > 1) append_ranks(ranks, out.text);
  const std::int64_t base = ranks.empty() ? 0 : ranks[0].base_ns;
  fmt::format_to(std::back_inserter(out.text),
                 "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": {},\n\"traceEvents\": [",
                 base);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::int64_t place = ranks.size() > 1 ? static_cast<std::int64_t>(i) : kNotRecorded;
    RankWriter(ranks[i], ranks[i].base_ns - base, place, out).write();
  }
  out.text += "\n]}\n";
}

}  // namespace

std::string recorded_json(std::span<const RecordedTrace> ranks) {
  JsonText out;
  append_run(ranks, out);
  return std::move(out.text);
}

Result<std::monostate> write_recorded_json(const std::string& file,
                                           std::span<const RecordedTrace> ranks) {
  ORRERY_TRY(PieceWriter writer, PieceWriter::create(file));
  JsonText out;
  out.file = &writer;
  append_run(ranks, out);
  writer.append(out.text);
  return writer.finish();
}

}  // namespace orrery
