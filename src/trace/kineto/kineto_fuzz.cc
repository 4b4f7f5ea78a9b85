// Any bytes as a trace of the PyTorch profiler: an error, or columns that hold together; and what
// is used of a whole file never grows when it is cut.
// seeds: tests/seeds/kineto
// parser: src/trace/kineto/kineto.cc src/trace/kineto/event_reader.cc src/trace/kineto/header.cc
// parser: src/trace/kineto/raw_event.cc src/trace/kineto/open_events.cc
// parser: src/trace/repeated_events.cc
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "outcome/invariant.h"
#include "trace/kineto/kineto.h"

namespace {

std::int64_t entries(const std::vector<orrery::RecordedTrace>& ranks) {
  std::int64_t sum = 0;
  for (const orrery::RecordedTrace& trace : ranks) sum += trace.entries;
  return sum;
}

void check(const orrery::RecordedTrace& trace) {
  const std::size_t n = trace.size();
  ORRERY_INVARIANT(trace.entries >= static_cast<std::int64_t>(n) + trace.left_out);
  for (std::size_t i = 0; i < n; ++i) {
    ORRERY_INVARIANT(trace.duration_ns[i] >= 0);
    ORRERY_INVARIANT(trace.end_ns(i) >= trace.start_ns[i]);
    ORRERY_INVARIANT(i == 0 || trace.start_ns[i - 1] <= trace.start_ns[i]);
    ORRERY_INVARIANT(trace.name[i] < trace.texts.size());
    ORRERY_INVARIANT(trace.lane[i] < trace.lanes.size());
    ORRERY_INVARIANT(trace.place[i] < trace.entries);
    ORRERY_INVARIANT(trace.communication[i] == orrery::kNoDetails ||
                     trace.communication[i] < trace.communications.size());
  }
  for (const auto& [from, to] : trace.forward_to_backward) {
    ORRERY_INVARIANT(from < n && to < n);
  }
}

void check(const std::vector<orrery::RecordedTrace>& ranks) {
  ORRERY_INVARIANT(!ranks.empty());
  for (const orrery::RecordedTrace& trace : ranks) check(trace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = orrery::read_kineto_ranks(*orrery::ByteStream::of(bytes, "fuzz"));
  orrery::KinetoOptions partial;
  partial.incomplete = orrery::Incomplete::use_what_is_whole;
  const auto part = orrery::read_kineto_ranks(*orrery::ByteStream::of(bytes, "fuzz"), partial);
  if (part) check(*part);
  if (!whole) {
    ORRERY_INVARIANT(!whole.error().message.empty());
    return 0;
  }
  check(*whole);
  ORRERY_INVARIANT(part.has_value() && part->size() == whole->size());
  for (std::size_t r = 0; r < whole->size(); ++r) {
    ORRERY_INVARIANT((*part)[r].size() == (*whole)[r].size() && !(*part)[r].truncated);
  }
  const auto shorter = orrery::read_kineto_ranks(
      *orrery::ByteStream::of(bytes.substr(0, size / 2), "fuzz"), partial);
  ORRERY_INVARIANT(!shorter || entries(*shorter) <= entries(*whole));
  return 0;
}
