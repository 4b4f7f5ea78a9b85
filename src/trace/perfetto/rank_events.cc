#include "trace/perfetto/rank_events.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <unordered_set>

#include "trace/launch_links.h"
#include "trace/perfetto/event_arguments.h"
#include "trace/perfetto/json_values.h"

namespace orrery {
namespace {

// As the profiler of today names them.
std::string_view category(EventKind kind) {
  static constexpr std::array<std::string_view, kEventKinds> kNames = {
      "cpu_op",     "user_annotation",     "cuda_runtime", "python_function",
      "kernel",     "gpu_memcpy",          "gpu_memset",   "cuda_sync",
      "cuda_event", "gpu_user_annotation", "overhead",     "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

void append_number_or_name(std::int64_t number, std::string_view name, std::string& out) {
  if (number == kNotRecorded) {
    append_quoted(name, out);
  } else {
    fmt::format_to(std::back_inserter(out), "{}", number);
  }
}

}  // namespace

void JsonText::next_event() {
  drain();
  text += any_event ? ",\n  " : "\n  ";
  any_event = true;
}

void JsonText::drain() {
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  if (file == nullptr || text.size() < kPiece) return;
  file->append(text);
  text.clear();
}

void RankEvents::all() {
  for (std::size_t e = 0; e < trace_.size(); ++e) event(e);
  launches();
  forward_to_backward();
  allocations();
  names();
}

void RankEvents::row(const Lane& lane) {
  out_ += ", \"pid\": ";
  process(lane.process, lane.process_name);
  out_ += ", \"tid\": ";
  append_number_or_name(lane.thread, lane.thread_name, out_);
}

void RankEvents::process(std::int64_t number, std::string_view name) {
  if (!place_.shared()) return append_number_or_name(number, name, out_);
  if (const auto shared = shared_process(place_.rank, number)) {
    return append_number_or_name(*shared, "", out_);
  }
  append_quoted(shared_process_text(place_.rank, number, name), out_);
}

void RankEvents::time(std::int64_t ns) {
  out_ += ", \"ts\": ";
  append_microseconds(ns + shift_ns_, out_);
}

void RankEvents::event(std::size_t e) {
  json_.next_event();
  const EventKind kind = trace_.kind[e];
  out_ += R"({"ph": "X", "cat": ")";
  out_ += category(kind);
  out_ += R"(", "name": )";
  append_quoted(trace_.name_of(e), out_);
  row(trace_.lanes[trace_.lane[e]]);
  time(trace_.start_ns[e]);
  out_ += ", \"dur\": ";
  append_microseconds(trace_.duration_ns[e], out_);
  const std::size_t before = out_.size();
  out_ += ", \"args\": {";
  const std::size_t none = out_.size();
  append_event_arguments(trace_, e, out_);
  if (out_.size() == none) {
    out_.resize(before);
  } else {
    out_ += '}';
  }
  out_ += '}';
}

void RankEvents::arrow(std::string_view flow, bool start, std::int64_t id, std::size_t e) {
  json_.next_event();
  fmt::format_to(std::back_inserter(out_), R"({{"ph": "{}", "cat": "{}", "name": "{}", "id": {})",
                 start ? "s" : "f", flow, flow,
                 place_.shared() ? shared_flow(std::to_string(id), place_) : std::to_string(id));
  row(trace_.lanes[trace_.lane[e]]);
  time(trace_.start_ns[e]);
  out_ += start ? "}" : R"(, "bp": "e"})";
}

void RankEvents::launches() {
  const LaunchLinks links = launch_links(trace_);
  for (std::size_t e = 0; e < trace_.size(); ++e) {
    if (!is_device_work(trace_.kind[e]) || links.call[e] == kNoEvent) continue;
    arrow("ac2g", true, trace_.correlation[e], links.call[e]);
    arrow("ac2g", false, trace_.correlation[e], e);
  }
}

void RankEvents::forward_to_backward() {
  std::int64_t id = 0;
  for (const auto& [from, to] : trace_.forward_to_backward) {
    ++id;
    arrow("fwdbwd", true, id, from);
    arrow("fwdbwd", false, id, to);
  }
}

void RankEvents::allocations() {
  for (const MemoryEvent& m : trace_.memory) {
    json_.next_event();
    fmt::format_to(std::back_inserter(out_),
                   R"({{"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", )"
                   R"("pid": )");
    process(0, "");
    out_ += ", \"tid\": 0";
    time(m.time_ns);
    out_ += ", \"args\": {";
    MembersText arguments(out_);
    arguments.number("Bytes", m.bytes);
    arguments.number("Addr", m.address);
    arguments.number("Device Type", m.device < 0 ? 0 : 1);
    arguments.number("Device Id", m.device);
    arguments.number("Total Allocated", m.allocated_bytes);
    arguments.number("Total Reserved", m.reserved_bytes);
    out_ += "}}";
  }
}

void RankEvents::names() {
  std::unordered_set<std::int64_t> named;
  for (const Lane& lane : trace_.lanes) {
    if (lane.process == kNotRecorded) continue;
    if (!lane.process_name.empty() && named.insert(lane.process).second) process_label(lane);
    if (!lane.thread_name.empty() && lane.thread != kNotRecorded) {
      label("thread_name", lane, lane.thread_name);
    }
  }
  nameless_processes();
}

void RankEvents::nameless_processes() {
  if (!place_.shared()) return;
  std::unordered_set<std::int64_t> named;
  for (const Lane& lane : trace_.lanes) {
    if (!lane.process_name.empty()) named.insert(lane.process);
  }
  for (const Lane& lane : trace_.lanes) {
    if (lane.process != kNotRecorded && named.insert(lane.process).second) process_label(lane);
  }
}

void RankEvents::process_label(const Lane& lane) {
  label("process_name", lane,
        place_.shared()
            ? shared_process_name(place_.rank, lane.process, lane.process_name, lane.device)
            : lane.process_name);
}

void RankEvents::label(std::string_view what, const Lane& lane, std::string_view name) {
  json_.next_event();
  fmt::format_to(std::back_inserter(out_), R"({{"ph": "M", "name": "{}", "pid": )", what);
  process(lane.process, lane.process_name);
  fmt::format_to(std::back_inserter(out_), R"(, "tid": {}, "args": {{"name": )",
                 lane.thread == kNotRecorded ? 0 : lane.thread);
  append_quoted(name, out_);
  out_ += "}}";
}

}  // namespace orrery
