// Any bytes as a trace of the PyTorch profiler, alone and beside another rank, written for viewers:
// what is written is JSON, reads back with as many events at their times, and writing that again
// changes nothing.
// seeds: tests/seeds/kineto
// parser: src/trace/kineto/kineto_text.cc src/trace/kineto/json_members.cc
//   src/trace/perfetto/rewritten_recording.cc
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "document/json_fault.h"
#include "outcome/invariant.h"
#include "trace/kineto/kineto.h"
#include "trace/perfetto/rewritten_recording.h"

namespace {

using orrery::Incomplete;

std::string rewritten(const std::map<std::string, std::string>& texts, Incomplete incomplete,
                      std::vector<std::int64_t>& events) {
  orrery::RunOptions reading;
  reading.kineto.incomplete = incomplete;
  std::vector<orrery::RecordedTrace> traces;
  for (const auto& [file, text] : texts) {
    auto ranks = orrery::read_kineto_ranks(*orrery::ByteStream::of(text, file), reading.kineto);
    if (!ranks) return "";
    for (orrery::RecordedTrace& trace : *ranks) traces.push_back(std::move(trace));
  }
  const auto run = orrery::make_run(std::move(traces), reading);
  if (!run) return "";
  for (const orrery::RecordedTrace& trace : run->ranks) {
    events.push_back(static_cast<std::int64_t>(trace.size()));
    for (std::size_t e = 0; e < trace.size(); ++e) {
      events.push_back(trace.base_ns + trace.start_ns[e]);
      events.push_back(trace.duration_ns[e]);
    }
  }
  orrery::RewriteOptions options;
  options.incomplete = incomplete;
  options.open = [&](const std::string& file) {
    return orrery::ByteStream::of(texts.at(file), file);
  };
  // The reader does not check values that it does not need.
  const auto written = orrery::rewritten_recording(*run, options);
  return written ? *written : "";
}

void check(const std::map<std::string, std::string>& texts, Incomplete incomplete) {
  std::vector<std::int64_t> events;  // of each rank: how many, and their times
  const std::string written = rewritten(texts, incomplete, events);
  if (written.empty()) return;
  ORRERY_INVARIANT(!orrery::json_fault(written));
  std::vector<std::int64_t> again;
  const std::string twice = rewritten({{"written", written}}, Incomplete::refuse, again);
  ORRERY_INVARIANT(events == again);
  ORRERY_INVARIANT(written == twice);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check({{"rank0", bytes}}, Incomplete::refuse);
  check({{"rank0", bytes}}, Incomplete::use_what_is_whole);
  const std::string other =
      R"({"traceEvents": [{"ph": "X", "name": "a", "pid": 7, "tid": 8, "ts": 10, "dur": 5}]})";
  check({{"rank0", bytes}, {"rank77", other}}, Incomplete::refuse);
  return 0;
}
