// Recordings written by hand, for tests: events of a profiler in microseconds.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "outcome/invariant.h"
#include "trace/kineto/kineto.h"

namespace orrery {

class SampleRecording {
 public:
  explicit SampleRecording(int rank = 0) : rank_(rank) {}

  SampleRecording& op(int thread, std::string_view name, double start, double duration) {
    return event("cpu_op", name, 100, thread, start, duration, "");
  }
  SampleRecording& step(int number, double start, double duration) {
    return event("user_annotation", fmt::format("ProfilerStep#{}", number), 100, 1, start, duration,
                 "");
  }
  SampleRecording& call(int thread, std::string_view name, double start, double duration,
                        int correlation) {
    return event("cuda_runtime", name, 100, thread, start, duration,
                 fmt::format(R"("correlation":{})", correlation));
  }
  SampleRecording& kernel(int stream, std::string_view name, double start, double duration,
                          int correlation) {
    return event("kernel", name, 0, stream, start, duration,
                 fmt::format(R"("device":0,"stream":{},"correlation":{})", stream, correlation));
  }
  // A send or receive of a group of two, issued and not yet launched.
  SampleRecording& message(int thread, std::string_view collective, int peer, double start) {
    return event(
        "cpu_op", "record_param_comms", 100, thread, start, 3,
        fmt::format(
            R"("Collective name":"{}","In msg nelems":64,"Process Group Name":"pp","Process Group Ranks":"[0, 1]","{} Rank":{})",
            collective, collective == "send" ? "Dst" : "Src", peer));
  }
  SampleRecording& copy(int stream, double start, double duration, int correlation) {
    return event(
        "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, stream, start, duration,
        fmt::format(R"("device":0,"stream":{},"correlation":{},"bytes":4)", stream, correlation));
  }

  [[nodiscard]] RecordedTrace trace() const {
    const std::string json = fmt::format(
        R"({{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank":{},"world_size":2}},"baseTimeNanoseconds":1759410000000000000,"traceEvents":[{}]}})",
        rank_, events_);
    auto read = read_kineto_bytes(json, "sample");
    ORRERY_INVARIANT(read.has_value());
    return std::move(*read);
  }

 private:
  SampleRecording& event(std::string_view category, std::string_view name, int process, int thread,
                         double start, double duration, const std::string& arguments) {
    events_ += fmt::format(
        R"({}{{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}}}}})",
        events_.empty() ? "" : ",\n", category, name, process, thread, start, duration, arguments);
    return *this;
  }

  int rank_;
  std::string events_;
};

inline std::vector<RecordedTrace> one(const SampleRecording& recording) {
  std::vector<RecordedTrace> traces;
  traces.push_back(recording.trace());
  return traces;
}

}  // namespace orrery
