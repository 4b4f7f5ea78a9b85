#include "trace/chakra/synchronization_edges.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "trace/pytorch_et/host_link.h"

namespace orrery {
namespace {

constexpr std::int64_t kClockSlackNs = 10'000;
constexpr std::int64_t kBeforeAll = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kAllStreams = -1;
constexpr std::int64_t kAllStreamsUnsigned = 4'294'967'295;

enum class Waits : std::uint8_t { no, for_stream, for_device, for_event };

Waits waits(std::string_view call) {
  if (call == "cudaStreamSynchronize" || call == "hipStreamSynchronize") return Waits::for_stream;
  if (call == "cudaDeviceSynchronize" || call == "hipDeviceSynchronize") return Waits::for_device;
  if (call == "cudaEventSynchronize" || call == "hipEventSynchronize") return Waits::for_event;
  return Waits::no;
}

// Work of one stream in the order of its launches.
struct StreamWork {
  std::vector<std::int64_t> launched_ns;
  std::vector<std::uint32_t> events;

  // The last work launched before `when`, or kNoEvent.
  [[nodiscard]] std::uint32_t last_before(std::int64_t when) const {
    const auto it = std::lower_bound(launched_ns.begin(), launched_ns.end(), when);
    return it == launched_ns.begin()
               ? kNoEvent
               : events[static_cast<std::size_t>(it - launched_ns.begin()) - 1];
  }
};

class Finder {
 public:
  Finder(const RecordedTrace& recorded, UnlaunchedWork unlaunched)
      : recorded_(recorded),
        streams_(recorded.lanes.size()),
        operators_(recorded.lanes.size()),
        last_launched_lane_(recorded.lanes.size(), kNoEvent) {
    for (std::uint32_t e = 0; e < recorded.size(); ++e) {
      const std::int64_t correlation = recorded.correlation[e];
      if (recorded.kind[e] == EventKind::runtime_call && correlation != kNotRecorded) {
        calls_.emplace(correlation, e);
      }
      if (recorded.kind[e] == EventKind::synchronization && correlation != kNotRecorded) {
        synchronizations_.emplace(correlation, e);
      }
      if (is_host_operator(recorded, e)) operators_[recorded.lane[e]].push_back(e);
    }
    // In the order of launches, which is also that of each stream.
    std::vector<std::pair<std::int64_t, std::uint32_t>> launched;
    std::vector<std::int64_t> last_launch(recorded.lanes.size(), kBeforeAll);  // of each stream
    for (std::uint32_t e = 0; e < recorded.size(); ++e) {
      if (!is_device_work(recorded.kind[e])) continue;
      const auto call = recorded.correlation[e] == kNotRecorded
                            ? calls_.end()
                            : calls_.find(recorded.correlation[e]);
      if (call != calls_.end()) {
        last_launch[recorded.lane[e]] = recorded.start_ns[call->second];
        work_of_call_[call->second].push_back(e);
      } else if (unlaunched == UnlaunchedWork::leave_out) {
        continue;
      }
      launched.emplace_back(last_launch[recorded.lane[e]], e);
    }
    std::ranges::sort(launched);  // of one call in their order
    for (const auto& [when, e] : launched) {
      streams_[recorded.lane[e]].launched_ns.push_back(when);
      streams_[recorded.lane[e]].events.push_back(e);
    }
  }

  std::vector<SynchronizationEdge> find() {
    for (std::uint32_t e = 0; e < recorded_.size(); ++e) {
      if (recorded_.kind[e] != EventKind::runtime_call) continue;
      if (const auto own = work_of_call_.find(e); own != work_of_call_.end()) {
        for (const std::uint32_t work : own->second) {
          last_launched_lane_[recorded_.lane[e]] = recorded_.lane[work];
          if (recorded_.end_ns(work) <= recorded_.end_ns(e)) add(work, e);
        }
      }
      const Waits kind = waits(recorded_.name_of(e));
      if (kind != Waits::no) wait(e, kind);
    }
    return std::move(edges_);
  }

 private:
  const SynchronizationDetails* details_of(std::uint32_t call) const {
    if (recorded_.correlation[call] == kNotRecorded) return nullptr;
    const auto it = synchronizations_.find(recorded_.correlation[call]);
    if (it == synchronizations_.end()) return nullptr;
    const std::uint32_t details = recorded_.details[it->second];
    return details == kNoDetails ? nullptr : &recorded_.synchronizations[details];
  }

  void wait(std::uint32_t call, Waits kind) {
    const SynchronizationDetails* details = details_of(call);
    const std::int64_t start = recorded_.start_ns[call];
    if (kind == Waits::for_event) {
      wait_for_event(call, details);
      return;
    }
    const bool all = kind == Waits::for_device ||
                     (details != nullptr &&
                      (details->stream == kAllStreams || details->stream == kAllStreamsUnsigned));
    const std::uint32_t guessed = last_launched_lane_[recorded_.lane[call]];
    for (std::uint32_t lane = 0; lane < streams_.size(); ++lane) {
      if (streams_[lane].events.empty()) continue;
      const bool named = details != nullptr && details->stream != kNotRecorded
                             ? recorded_.lanes[lane].thread == details->stream
                             : lane == guessed;
      if (!all && !named) continue;
      const std::uint32_t work = streams_[lane].last_before(start);
      if (work != kNoEvent) add(work, call);
    }
  }

  void wait_for_event(std::uint32_t call, const SynchronizationDetails* details) {
    if (details != nullptr && details->record_correlation > 0 &&
        details->awaited_stream != kNotRecorded) {
      const auto record = calls_.find(details->record_correlation);
      if (record == calls_.end()) return;
      const std::int64_t when = recorded_.start_ns[record->second];
      for (std::uint32_t lane = 0; lane < streams_.size(); ++lane) {
        if (streams_[lane].events.empty()) continue;
        if (recorded_.lanes[lane].thread != details->awaited_stream) continue;
        const std::uint32_t work = streams_[lane].last_before(when);
        if (work != kNoEvent) add(work, call);
      }
      return;
    }
    // Nothing says which event: what the call visibly waited for.
    std::uint32_t best = kNoEvent;
    for (const StreamWork& stream : streams_) {
      const std::uint32_t work = stream.last_before(recorded_.start_ns[call]);
      if (work == kNoEvent || recorded_.end_ns(work) < recorded_.start_ns[call] ||
          recorded_.end_ns(work) > recorded_.end_ns(call)) {
        continue;
      }
      if (best == kNoEvent || recorded_.end_ns(work) > recorded_.end_ns(best)) best = work;
    }
    if (best != kNoEvent) add(best, call);
  }

  void add(std::uint32_t work, std::uint32_t call) {
    const std::int64_t end = recorded_.end_ns(call);
    if (recorded_.end_ns(work) > end + kClockSlackNs) return;
    const std::vector<std::uint32_t>& operators = operators_[recorded_.lane[call]];
    const auto next = std::ranges::lower_bound(
        operators, end, {}, [&](std::uint32_t e) { return recorded_.start_ns[e]; });
    if (next != operators.end()) edges_.push_back({work, *next, call});
  }

  const RecordedTrace& recorded_;
  std::vector<StreamWork> streams_;                        // by lane
  std::vector<std::vector<std::uint32_t>> operators_;      // by lane
  std::vector<std::uint32_t> last_launched_lane_;          // of each thread
  std::unordered_map<std::int64_t, std::uint32_t> calls_;  // by correlation
  std::unordered_map<std::int64_t, std::uint32_t> synchronizations_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> work_of_call_;
  std::vector<SynchronizationEdge> edges_;
};

}  // namespace

std::vector<SynchronizationEdge> synchronization_edges(const RecordedTrace& recorded,
                                                       UnlaunchedWork unlaunched) {
  return Finder(recorded, unlaunched).find();
}

}  // namespace orrery
