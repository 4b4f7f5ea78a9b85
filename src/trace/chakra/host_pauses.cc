#include "trace/chakra/host_pauses.h"

#include <algorithm>
#include <limits>

#include "trace/pytorch_et/host_link.h"

namespace orrery {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kShortestInnerPauseNs = 5'000;
constexpr std::int64_t kShortestOverlapNs = 20'000;

bool is_operator(const RecordedTrace& recorded, std::uint32_t e) {
  return is_host_operator(recorded, e) &&
         recorded.name_of(e).find("ProfilerStep") == std::string_view::npos;
}

// What a call waits for: the work that ends last.
struct Wait {
  std::int64_t begin = 0;  // of the call
  std::int64_t end = 0;    // of the work, as the file has it; at most that of the call
};

// The blocking calls of each thread that wait, by start.
std::vector<std::vector<Wait>> waits_of(const RecordedTrace& recorded, const DeviceOrder& devices,
                                        std::span<const SynchronizationEdge> edges) {
  std::vector<std::int64_t> until(recorded.size(), kNever);
  for (const SynchronizationEdge& edge : edges) {
    const std::int64_t end = std::min(devices.end_ns[edge.work], recorded.end_ns(edge.call));
    until[edge.call] = std::max(until[edge.call], end);
  }
  std::vector<std::vector<Wait>> out(recorded.lanes.size());
  for (std::uint32_t e = 0; e < recorded.size(); ++e) {
    if (until[e] > recorded.start_ns[e]) {
      out[recorded.lane[e]].push_back({recorded.start_ns[e], until[e]});
    }
  }
  return out;
}

// Calls that launched work, and when that began; of each thread by start.
struct LaunchCall {
  std::int64_t begin = 0;
  std::int64_t work = 0;
};

std::vector<std::vector<LaunchCall>> launches_of(const RecordedTrace& recorded,
                                                 const DeviceOrder& devices) {
  std::vector<std::vector<LaunchCall>> out(recorded.lanes.size());
  for (std::uint32_t e = 0; e < recorded.size(); ++e) {
    const std::uint32_t call = devices.launch[e];
    if (call == kNoEvent) continue;
    const std::int64_t begin = recorded.start_ns[call];
    out[recorded.lane[call]].push_back({begin, std::max(begin, recorded.start_ns[e])});
  }
  for (std::vector<LaunchCall>& calls : out) {
    std::ranges::stable_sort(calls, {}, &LaunchCall::begin);
  }
  return out;
}

// The operators of one thread, one after the other.
class ThreadPauses {
 public:
  ThreadPauses(const RecordedTrace& recorded, const HostOrder& order,
               const std::vector<Wait>& waits, const std::vector<LaunchCall>& launches,
               HostPauses& out)
      : recorded_(recorded), order_(order), waits_(waits), launches_(launches), out_(out) {}

  void add(std::uint32_t e) {
    if (last_ != kNoEvent) {
      end_of_last(recorded_.start_ns[e]);
      pause_before(e);
    }
    // What begins a thread and follows nothing begins at its recorded start.
    if (last_ == kNoEvent && order_.after_event[e] != kNoDetails) {
      const std::int64_t other = recorded_.end_ns(order_.after_event[e]);
      out_.before_ns[e] = std::max<std::int64_t>(0, recorded_.start_ns[e] - other);
    }
    previous_end_ = recorded_.end_ns(e);
    covered_ = std::max(covered_, recorded_.end_ns(e));
    last_ = e;
  }

  void finish() {
    if (last_ != kNoEvent) end_of_last(covered_);
    if (last_ != kNoEvent)
      out_.spent_ns[last_] += std::max<std::int64_t>(0, covered_ - busy_until_);
  }

 private:
  // The time of the last operator, less its waits, until the next one begins at `next`.
  void end_of_last(std::int64_t next) {
    const std::int64_t start = recorded_.start_ns[last_];
    busy_until_ = std::min(recorded_.end_ns(last_), next);
    overlaps_ = false;
    for (; launch_ < launches_.size() && launches_[launch_].begin < busy_until_; ++launch_) {
      const LaunchCall& launch = launches_[launch_];
      if (launch.begin < start || launch.work > busy_until_ - kShortestOverlapNs) continue;
      busy_until_ = launch.work;
      overlaps_ = true;
    }
    std::int64_t spent = busy_until_ - start;
    for (; wait_ < waits_.size() && waits_[wait_].begin < busy_until_; ++wait_) {
      const std::int64_t from = std::max(start, waits_[wait_].begin);
      spent -= std::max<std::int64_t>(0, std::min(busy_until_, waits_[wait_].end) - from);
      // A call may last beyond the operator that made it.
      busy_until_ = std::max(busy_until_, std::min(next, waits_[wait_].end));
    }
    out_.spent_ns[last_] = std::max<std::int64_t>(0, spent);
    for (; wait_ < waits_.size() && waits_[wait_].begin < next; ++wait_) {
      busy_until_ = std::max(busy_until_, std::min(next, waits_[wait_].end));
    }
  }

  void pause_before(std::uint32_t e) {
    const std::int64_t start = recorded_.start_ns[e];
    std::int64_t from = busy_until_;
    if (order_.after_event[e] != kNoDetails && start > previous_end_) {
      from = std::max(from, std::min(start, recorded_.end_ns(order_.after_event[e])));
    }
    const std::int64_t pause = std::max<std::int64_t>(0, start - from);
    const bool inside = start < covered_ && from == busy_until_ && !overlaps_;
    if (inside && pause < kShortestInnerPauseNs) {
      out_.spent_ns[last_] += pause;
    } else {
      out_.before_ns[e] = pause;
    }
  }

  const RecordedTrace& recorded_;
  const HostOrder& order_;
  const std::vector<Wait>& waits_;
  const std::vector<LaunchCall>& launches_;
  HostPauses& out_;
  std::size_t wait_ = 0;
  std::size_t launch_ = 0;
  bool overlaps_ = false;  // the last operator goes on beside what it launched
  std::uint32_t last_ = kNoEvent;
  std::int64_t busy_until_ = 0;         // the last operator, or what it waited for
  std::int64_t previous_end_ = kNever;  // of the operator that started last
  std::int64_t covered_ = kNever;       // the latest end of all so far
};

}  // namespace

HostPauses host_pauses(const RecordedTrace& recorded, const HostOrder& order,
                       const DeviceOrder& devices, std::span<const SynchronizationEdge> edges) {
  HostPauses out;
  out.before_ns.assign(recorded.size(), 0);
  out.spent_ns.assign(recorded.size(), 0);
  const std::vector<std::vector<Wait>> waits = waits_of(recorded, devices, edges);
  const std::vector<std::vector<LaunchCall>> launches = launches_of(recorded, devices);
  std::vector<ThreadPauses> threads;
  threads.reserve(recorded.lanes.size());
  for (std::size_t lane = 0; lane < recorded.lanes.size(); ++lane) {
    threads.emplace_back(recorded, order, waits[lane], launches[lane], out);
  }
  for (std::uint32_t e = 0; e < recorded.size(); ++e) {
    if (is_operator(recorded, e)) threads[recorded.lane[e]].add(e);
  }
  for (ThreadPauses& thread : threads) thread.finish();
  return out;
}

}  // namespace orrery
