#include "trace/chakra/device_order.h"

#include <algorithm>
#include <utility>

#include "trace/launch_links.h"
#include "trace/pytorch_et/host_link.h"

namespace orrery {
namespace {

constexpr std::int64_t kLateNs = 20'000;
constexpr std::int64_t kSlackNs = 2'000;

// Events by their ends.
struct ByEnd {
  std::vector<std::pair<std::int64_t, std::uint32_t>> ends;

  // The one that ended last by `when`; kNoEvent.
  [[nodiscard]] std::uint32_t last_by(std::int64_t when) const {
    const auto it = std::upper_bound(ends.begin(), ends.end(), std::pair(when, kNoEvent));
    return it == ends.begin() ? kNoEvent : std::prev(it)->second;
  }
};

class Ordering {
 public:
  Ordering(const RecordedTrace& recorded, Fills fills)
      : recorded_(recorded),
        fills_(fills),
        links_(launch_links(recorded)),
        streams_(recorded.lanes.size()) {
    for (std::uint32_t e = 0; e < recorded.size(); ++e) {
      if (counts(e)) streams_[recorded.lane[e]].ends.emplace_back(recorded.end_ns(e), e);
      if (is_host_operator(recorded, e)) operators_.ends.emplace_back(recorded.end_ns(e), e);
    }
    for (ByEnd& stream : streams_) std::ranges::sort(stream.ends);
    std::ranges::sort(operators_.ends);
  }

  DeviceOrder order() {
    const std::size_t size = recorded_.size();
    DeviceOrder out;
    for (auto* list : {&out.launch, &out.after_other, &out.after_host}) {
      list->assign(size, kNoEvent);
    }
    out.placed.assign(size, false);
    out.lag_ns.assign(size, 0);
    out.end_ns.assign(size, 0);
    std::vector<std::uint32_t> last(recorded_.lanes.size(), kNoEvent);
    for (std::uint32_t e = 0; e < size; ++e) {
      if (!counts(e)) continue;
      const std::uint32_t before = std::exchange(last[recorded_.lane[e]], e);
      place(e, before, out);
    }
    return out;
  }

 private:
  [[nodiscard]] bool counts(std::uint32_t event) const {
    const EventKind kind = recorded_.kind[event];
    return is_device_work(kind) && (kind != EventKind::fill || fills_ == Fills::keep);
  }

  // Work of another stream of the device that ended just before, and was launched before: clocks of
  // devices may be off by more than work lasts, and nothing may wait in a circle.
  [[nodiscard]] std::uint32_t just_ended(std::uint32_t work, const DeviceOrder& out) const {
    const std::int64_t start = recorded_.start_ns[work];
    const std::uint32_t call = out.launch[work];
    const std::int64_t launched = call == kNoEvent ? start : recorded_.start_ns[call];
    const std::uint32_t lane = recorded_.lane[work];
    std::uint32_t best = kNoEvent;
    for (std::uint32_t other = 0; other < streams_.size(); ++other) {
      if (other == lane || streams_[other].ends.empty() ||
          recorded_.lanes[other].process != recorded_.lanes[lane].process) {
        continue;
      }
      const std::uint32_t found = streams_[other].last_by(start + kSlackNs);
      if (found == kNoEvent || found >= work || recorded_.end_ns(found) < start - kLateNs) continue;
      if (out.launch[found] != kNoEvent && recorded_.start_ns[out.launch[found]] > launched)
        continue;
      if (best == kNoEvent || recorded_.end_ns(found) > recorded_.end_ns(best)) best = found;
    }
    return best;
  }

  void place(std::uint32_t e, std::uint32_t before, DeviceOrder& out) const {
    const std::int64_t start = recorded_.start_ns[e];
    const std::uint32_t call = links_.call[e];
    out.launch[e] = call;
    std::int64_t allowed = kNotRecorded;  // by the times as recorded
    std::int64_t begin = kNotRecorded;    // by those of this order
    if (call != kNoEvent) {
      const bool waits = recorded_.end_ns(e) <= recorded_.end_ns(call);
      allowed = begin = waits ? recorded_.start_ns[call] : recorded_.end_ns(call);
    }
    if (before != kNoEvent) {
      allowed = std::max(allowed, recorded_.end_ns(before));
      begin = std::max(begin, out.end_ns[before]);
    }
    if (allowed == kNotRecorded || start - allowed > kLateNs) {
      const std::uint32_t other = just_ended(e, out);
      out.after_other[e] = other;
      if (other != kNoEvent) {
        allowed = std::max(allowed, recorded_.end_ns(other));
        begin = std::max(begin, out.end_ns[other]);
      }
      if (call == kNoEvent && other == kNoEvent) {
        const std::uint32_t host = operators_.last_by(start);
        out.after_host[e] = host;
        out.placed[e] = host == kNoEvent;
        const std::int64_t since = host == kNoEvent ? start : recorded_.end_ns(host);
        allowed = std::max(allowed, since);
        begin = std::max(begin, since);
      }
    }
    const std::int64_t lag = allowed == kNotRecorded ? 0 : start - allowed;
    out.lag_ns[e] = std::max<std::int64_t>(0, lag);
    out.end_ns[e] = std::min(begin + out.lag_ns[e], start) + recorded_.duration_ns[e];
  }

  const RecordedTrace& recorded_;
  Fills fills_;
  LaunchLinks links_;
  std::vector<ByEnd> streams_;  // by lane
  ByEnd operators_;
};

}  // namespace

DeviceOrder device_order(const RecordedTrace& recorded, Fills fills) {
  return Ordering(recorded, fills).order();
}

}  // namespace orrery
