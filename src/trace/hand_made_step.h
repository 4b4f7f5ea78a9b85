// A recording made by hand: for tests of what reads recordings.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recorded_trace.h"

namespace orrery {

class HandMadeStep {
 public:
  void window(std::int64_t number, std::int64_t start, std::int64_t duration) {
    add(EventKind::annotation, "ProfilerStep#" + std::to_string(number), start, duration, kHost);
  }

  std::uint32_t host_operator(std::string_view name, std::string_view shapes, std::int64_t start,
                              std::int64_t duration) {
    Event& event = add(EventKind::cpu_operator, std::string(name), start, duration, kHost);
    event.shapes = shapes;
    return static_cast<std::uint32_t>(events_.size() - 1);
  }

  // An operator of 5 ns with its launch call of 3 ns at `called`, and its kernel on a stream; times
  // in nanoseconds.
  void launch(std::string_view name, std::string_view shapes, std::string_view kernel,
              std::int64_t called, std::int64_t start, std::int64_t duration,
              std::int64_t stream = 7) {
    host_operator(name, shapes, called, 5);
    const auto correlation = static_cast<std::int64_t>(events_.size());
    add(EventKind::runtime_call, "cudaLaunchKernel", called, 3, kHost).correlation = correlation;
    add(EventKind::kernel, std::string(kernel), start, duration, stream).correlation = correlation;
  }

  // The host waits for all of the device.
  void synchronize(std::int64_t start, std::int64_t end) {
    add(EventKind::runtime_call, "cudaDeviceSynchronize", start, end - start, kHost);
  }

  [[nodiscard]] RecordedTrace trace() const {
    RecordedTrace out;
    out.file = "made.json";
    std::vector<std::size_t> order(events_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      if (events_[a].start != events_[b].start) return events_[a].start < events_[b].start;
      return events_[a].duration > events_[b].duration;
    });
    for (const std::size_t index : order) {
      const Event& event = events_[index];
      out.append(event.kind, event.name, lane(out, event.stream), event.start, event.duration);
      out.correlation.back() = event.correlation;
      out.place.back() = static_cast<std::uint32_t>(index);
      if (event.kind == EventKind::cpu_operator) {
        out.details.back() = static_cast<std::uint32_t>(out.operators.size());
        OperatorDetails details;
        details.input_shapes = out.texts.intern(event.shapes);
        out.operators.push_back(details);
      }
    }
    return out;
  }

 private:
  static constexpr std::int64_t kHost = -1;
  struct Event {
    EventKind kind = EventKind::other;
    std::string name;
    std::int64_t start = 0;
    std::int64_t duration = 0;
    std::int64_t stream = kHost;
    std::int64_t correlation = kNotRecorded;
    std::string shapes;
  };

  Event& add(EventKind kind, std::string name, std::int64_t start, std::int64_t duration,
             std::int64_t stream) {
    events_.push_back({kind, std::move(name), start, duration, stream, kNotRecorded, ""});
    return events_.back();
  }

  static std::uint32_t lane(RecordedTrace& trace, std::int64_t stream) {
    for (std::uint32_t i = 0; i < trace.lanes.size(); ++i) {
      const Lane& known = trace.lanes[i];
      if (known.device == (stream != kHost) && (stream == kHost || known.thread == stream)) {
        return i;
      }
    }
    trace.lanes.push_back({stream != kHost, 0, stream == kHost ? 100 : stream, "", ""});
    return static_cast<std::uint32_t>(trace.lanes.size() - 1);
  }

  std::vector<Event> events_;
};

}  // namespace orrery
