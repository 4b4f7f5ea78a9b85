#include "replay/stream_waits.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "replay/run_graph.h"

namespace orrery {
namespace {

// Times of one device are compared to this (whole microseconds in older recordings), times of host
// and device to what is left of the error of their clocks.
constexpr std::int64_t kDeviceToleranceNs = 2'000;
constexpr std::int64_t kHostToleranceNs = 20'000;

bool names(std::string_view call, std::string_view what) {
  const std::string_view bare = call.starts_with("cuda")  ? call.substr(4)
                                : call.starts_with("hip") ? call.substr(3)
                                : call.starts_with("cu")  ? call.substr(2)
                                                          : call;
  return bare.starts_with(what);
}

bool is_stream_wait(std::string_view call) { return names(call, "StreamWaitEvent"); }

bool waits_for_all_streams(std::string_view call) {
  return names(call, "DeviceSynchronize") || names(call, "CtxSynchronize") || call == "cudaFree" ||
         call == "hipFree" || call == "cudaFreeHost" || call == "hipHostFree" ||
         call == "cudaMemcpy" || call == "hipMemcpy";
}

class Deduction {
 public:
  Deduction(const RecordedTrace& trace, const std::vector<HostThread>& threads,
            const LaunchedWork& work)
      : trace_(trace), threads_(threads), work_(work) {
    for (std::uint32_t l = 0; l < work.streams.size(); ++l) {
      const std::vector<std::uint32_t>& list = work.streams[l];
      if (!list.empty()) lanes_.push_back(l);
      std::vector<std::size_t>& launched =
          next_launched_.emplace_back(list.size() + 1, list.size());
      for (std::size_t i = list.size(); i-- > 0;) {
        launched[i] = work.launch_of[list[i]] != kNoEvent ? i : launched[i + 1];
      }
    }
    for (const HostThread& thread : threads) {
      for (const std::uint32_t call : thread.calls) {
        records_waits_ = records_waits_ || is_stream_wait(trace.name_of(call));
      }
    }
  }

  DeviceWaits deduced() {
    for (const HostThread& thread : threads_) deduce(thread);
    if (!records_waits_) {
      for (const std::uint32_t lane : lanes_)
        add_late_starts(lane, kSoonAfterNs, [](std::uint32_t) { return true; });
    }
    add_graph_waits();
    return std::move(waits_);
  }

  // Of recorded synchronisation events.
  DeviceWaits recorded() {
    std::unordered_map<std::int64_t, std::uint32_t> calls;
    for (const HostThread& thread : threads_) {
      for (const std::uint32_t call : thread.calls) {
        if (trace_.correlation[call] != kNotRecorded) calls[trace_.correlation[call]] = call;
      }
    }
    for (std::uint32_t e = 0; e < trace_.size(); ++e) {
      if (trace_.kind[e] != EventKind::synchronization || trace_.details[e] == kNoDetails) continue;
      const auto call = calls.find(trace_.correlation[e]);
      if (call == calls.end()) continue;
      add_recorded(e, call->second, calls);
    }
    for (const HostThread& thread : threads_) {
      for (const std::uint32_t call : thread.calls) add_blocking_copy(call);
    }
    add_graph_waits();
    return std::move(waits_);
  }

 private:
  void deduce(const HostThread& thread) {
    std::optional<std::int64_t> waiting_since;
    std::uint32_t last_lane = kNoLane;
    for (const std::uint32_t call : thread.calls) {
      const std::string_view name = trace_.name_of(call);
      if (is_stream_wait(name)) {
        waiting_since = trace_.start_ns[call];
        continue;
      }
      const std::uint32_t first = work_.first_work[call];
      if (first != kNoEvent) {
        const std::uint32_t lane = trace_.lane[first];
        if (!records_waits_ && lane != last_lane) waiting_since = trace_.start_ns[call];
        if (waiting_since) add_stream_waits(first, *std::exchange(waiting_since, std::nullopt));
        last_lane = lane;
        add_blocking_copy(call);
        continue;
      }
      if (waits_for_all_streams(name)) {
        add_synchronization(call, lanes_);
      } else if (names(name, "StreamSynchronize")) {
        add_stream_synchronization(call, last_lane);
      } else if (names(name, "EventSynchronize")) {
        add_event_synchronization(call);
      }
    }
  }

  void add_stream_waits(std::uint32_t to, std::int64_t since) {
    for (const std::uint32_t lane : lanes_) {
      if (lane == trace_.lane[to]) continue;
      const std::uint32_t last = last_before(lane, since, trace_.start_ns[to] + kDeviceToleranceNs);
      if (last == kNoEvent) continue;
      if (trace_.end_ns(last) <= trace_.start_ns[to] + kDeviceToleranceNs) {
        waits_.streams.push_back({last, to});
        continue;
      }
      const std::uint32_t ended = last_ended(lane, trace_.start_ns[to]);
      if (ended != kNoEvent && trace_.start_ns[to] - trace_.end_ns(ended) <= kSoonAfterNs) {
        waits_.streams.push_back({ended, to});
      }
    }
  }

  // Without a call that says so: work of a lane that its launch and its stream let begin earlier by
  // `least_ns`, and that began just after another stream's ended. `counts(call)`: of those
  // launches.
  template <class Counts>
  void add_late_starts(std::uint32_t lane, std::int64_t least_ns, const Counts& counts) {
    std::int64_t free_ns = std::numeric_limits<std::int64_t>::min() / 2;
    for (const std::uint32_t e : work_.streams[lane]) {
      const std::int64_t start = trace_.start_ns[e];
      const std::uint32_t call = work_.launch_of[e];
      const std::int64_t stream_free = free_ns;
      free_ns = std::max(free_ns, trace_.end_ns(e));
      if (call == kNoEvent || !counts(call)) continue;
      const std::int64_t ready = std::max(stream_free, trace_.end_ns(call) - work_.clock_ns);
      if (start - ready < least_ns) continue;
      const std::uint32_t awaited = work_.just_ended(trace_, lane, start);
      if (awaited != kNoEvent) waits_.streams.push_back({awaited, e});
    }
  }

  // Calls that launched work on several streams at once.
  [[nodiscard]] std::unordered_set<std::uint32_t> graph_launches() const {
    std::unordered_set<std::uint32_t> graphs;
    for (const std::uint32_t lane : lanes_) {
      for (const Launch& launch : work_.launches[lane]) {
        if (trace_.lane[work_.first_work[launch.call]] != lane) graphs.insert(launch.call);
      }
    }
    return graphs;
  }

  void add_graph_waits() {
    const std::unordered_set<std::uint32_t> graphs = graph_launches();
    if (graphs.empty()) return;
    for (const std::uint32_t lane : lanes_) {
      add_late_starts(lane, kDeviceToleranceNs,
                      [&](std::uint32_t call) { return graphs.contains(call); });
    }
  }

  // The last work of a lane that ended by a time (streams run in order: by start is by end).
  [[nodiscard]] std::uint32_t last_ended(std::uint32_t lane, std::int64_t by) const {
    const auto& list = work_.streams[lane];
    const auto after = std::ranges::upper_bound(list, by + kDeviceToleranceNs, {},
                                                [&](std::uint32_t e) { return trace_.end_ns(e); });
    return after == list.begin() ? kNoEvent : *std::prev(after);
  }

  // The last work launched on a lane by calls that began before a time. Work behind it whose launch
  // is lost may have been launched by then, too, if it ended by `ended_by`, on the device's clock.
  [[nodiscard]] std::uint32_t last_before(std::uint32_t lane, std::int64_t launched,
                                          std::int64_t ended_by) const {
    std::uint32_t last = work_.last_launched(trace_, lane, launched);
    if (last == kNoEvent) return last;  // what was launched before the recording is no loss
    const auto& list = work_.streams[lane];
    auto next = std::ranges::lower_bound(list, trace_.start_ns[last], {},
                                         [&](std::uint32_t e) { return trace_.start_ns[e]; });
    next = std::next(std::find(next, list.end(), last));
    const auto from = static_cast<std::size_t>(next - list.begin());
    const auto until = list.begin() + static_cast<std::ptrdiff_t>(next_launched_[lane][from]);
    const auto after = std::upper_bound(
        next, until, ended_by,
        [&](std::int64_t time, std::uint32_t e) { return time < trace_.end_ns(e); });
    return after == next ? last : *std::prev(after);
  }

  // What was launched on a lane before the call and had ended when it returned; kNoEvent if the
  // last had not: then the call did not wait for this lane.
  [[nodiscard]] std::uint32_t awaitable(std::uint32_t lane, std::uint32_t call) const {
    const std::uint32_t last =
        last_before(lane, trace_.start_ns[call], trace_.end_ns(call) - work_.clock_ns);
    if (last == kNoEvent || work_.ended(trace_, last) > trace_.end_ns(call) + kHostToleranceNs) {
      return kNoEvent;
    }
    return last;
  }

  void add_synchronization(std::uint32_t call, const std::vector<std::uint32_t>& lanes) {
    Synchronization s{call, {}, false};
    for (const std::uint32_t lane : lanes) {
      const std::uint32_t work = awaitable(lane, call);
      if (work != kNoEvent) s.awaited.push_back(work);
    }
    if (!s.awaited.empty()) waits_.synchronizations.push_back(std::move(s));
  }

  void add_stream_synchronization(std::uint32_t call, std::uint32_t last_lane) {
    if (last_lane != kNoLane && awaitable(last_lane, call) != kNoEvent) {
      const std::uint32_t work = awaitable(last_lane, call);
      // Where it ended before the call began, another stream may be what was waited for.
      if (work_.ended(trace_, work) >= trace_.start_ns[call] ||
          trace_.duration_ns[call] < kSoonAfterNs) {
        waits_.synchronizations.push_back({call, {work}, false});
        return;
      }
    }
    std::uint32_t best = kNoEvent;
    for (const std::uint32_t lane : lanes_) {
      const std::uint32_t work = awaitable(lane, call);
      if (work != kNoEvent && (best == kNoEvent || trace_.end_ns(work) > trace_.end_ns(best))) {
        best = work;
      }
    }
    if (best != kNoEvent) waits_.synchronizations.push_back({call, {best}, false});
  }

  void add_event_synchronization(std::uint32_t call) {
    std::uint32_t best = kNoEvent;
    for (const std::uint32_t lane : lanes_) {
      const std::uint32_t work = last_ended(lane, trace_.end_ns(call) - work_.clock_ns);
      if (work == kNoEvent || work_.ended(trace_, work) < trace_.start_ns[call]) continue;
      const std::uint32_t launch = work_.launch_of[work];
      if (launch != kNoEvent && trace_.start_ns[launch] > trace_.start_ns[call]) continue;
      if (best == kNoEvent || trace_.end_ns(work) > trace_.end_ns(best)) best = work;
    }
    if (best != kNoEvent) waits_.synchronizations.push_back({call, {best}, false});
  }

  void add_blocking_copy(std::uint32_t call) {
    const std::uint32_t work = work_.first_work[call];
    if (work == kNoEvent) return;
    if (trace_.kind[work] == EventKind::copy && work_.ended(trace_, work) <= trace_.end_ns(call)) {
      waits_.synchronizations.push_back({call, {work}, true});
    }
  }

  [[nodiscard]] std::uint32_t lane_of_stream(std::int64_t stream, std::int64_t device) const {
    for (const std::uint32_t lane : lanes_) {
      if (trace_.lanes[lane].thread == stream && trace_.lanes[lane].process == device) return lane;
    }
    return kNoLane;
  }

  void add_recorded(std::uint32_t event, std::uint32_t call,
                    const std::unordered_map<std::int64_t, std::uint32_t>& calls) {
    const SynchronizationDetails& details = trace_.synchronizations[trace_.details[event]];
    const std::int64_t device = trace_.lanes[trace_.lane[event]].process;
    const std::string_view name = trace_.name_of(event);
    // What an event recorded that something waited for until a time of the device.
    const auto recorded_work = [&](std::int64_t ended_by) {
      const auto record = calls.find(details.record_correlation);
      if (record == calls.end()) return kNoEvent;
      const std::uint32_t lane = lane_of_stream(details.awaited_stream, device);
      if (lane == kNoLane) return kNoEvent;
      return last_before(lane, trace_.start_ns[record->second], ended_by);
    };
    if (name == "Stream Wait Event") {
      const std::uint32_t lane = lane_of_stream(details.stream, device);
      if (lane == kNoLane) return;
      const auto& launches = work_.launches[lane];
      const auto next = std::ranges::upper_bound(
          launches, trace_.start_ns[call], {},
          [&](const Launch& launch) { return trace_.start_ns[launch.call]; });
      if (next == launches.end()) return;
      const std::int64_t begins = trace_.start_ns[next->work] + kDeviceToleranceNs;
      const std::uint32_t awaited = recorded_work(begins);
      if (awaited == kNoEvent || trace_.end_ns(awaited) > begins) return;
      if (lane != trace_.lane[awaited]) waits_.streams.push_back({awaited, next->work});
    } else if (name == "Event Sync") {
      const std::uint32_t awaited = recorded_work(trace_.end_ns(call) - work_.clock_ns);
      if (awaited == kNoEvent) return;
      if (work_.ended(trace_, awaited) > trace_.end_ns(call) + kHostToleranceNs) return;
      waits_.synchronizations.push_back({call, {awaited}, false});
    } else if (const std::uint32_t lane = lane_of_stream(details.stream, device);
               name == "Stream Sync" && lane != kNoLane) {
      add_synchronization(call, {lane});
    } else if (name == "Context Sync") {
      add_synchronization(call, lanes_);
    }
  }

  const RecordedTrace& trace_;
  const std::vector<HostThread>& threads_;
  const LaunchedWork& work_;
  std::vector<std::uint32_t> lanes_;
  // Of each stream: the first work at or behind each place whose launch was recorded.
  std::vector<std::vector<std::size_t>> next_launched_;
  bool records_waits_ = false;
  DeviceWaits waits_;
};

}  // namespace

DeviceWaits device_waits(const RecordedTrace& trace, const std::vector<HostThread>& threads,
                         const LaunchedWork& work) {
  Deduction deduction(trace, threads, work);
  const bool recorded =
      std::ranges::find(trace.kind, EventKind::synchronization) != trace.kind.end();
  DeviceWaits waits = recorded ? deduction.recorded() : deduction.deduced();
  std::ranges::sort(waits.streams, [](const StreamWait& a, const StreamWait& b) {
    return std::pair(a.to, a.from) < std::pair(b.to, b.from);
  });
  waits.streams.erase(std::unique(waits.streams.begin(), waits.streams.end(),
                                  [](const StreamWait& a, const StreamWait& b) {
                                    return a.to == b.to && a.from == b.from;
                                  }),
                      waits.streams.end());
  // One entry a call: the first found is the call's own reason.
  std::ranges::stable_sort(waits.synchronizations, {}, &Synchronization::call);
  waits.synchronizations.erase(
      std::unique(
          waits.synchronizations.begin(), waits.synchronizations.end(),
          [](const Synchronization& a, const Synchronization& b) { return a.call == b.call; }),
      waits.synchronizations.end());
  return waits;
}

}  // namespace orrery
