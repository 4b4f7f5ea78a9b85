#include "replay/four_parts.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "trace/recorded_time.h"

namespace orrery {

PartsOverTime::PartsOverTime(const std::vector<WorkSpan>& spans) {
  changes_.reserve(spans.size() * 2);
  for (const WorkSpan& s : spans) {
    const std::int32_t communicates = s.communicates ? 1 : 0;
    changes_.push_back({s.start_ns, 1 - communicates, communicates});
    changes_.push_back({s.end_ns, communicates - 1, -communicates});
  }
  std::ranges::sort(changes_, {}, &Change::at_ns);
  for (std::size_t i = 1; i < changes_.size(); ++i) {
    changes_[i].computing += changes_[i - 1].computing;
    changes_[i].communicating += changes_[i - 1].communicating;
  }
}

FourParts PartsOverTime::between(std::int64_t start_ns, std::int64_t end_ns) const {
  std::array<std::int64_t, 4> ns{};
  std::size_t part = 0;
  std::int64_t since = start_ns;
  auto change = std::ranges::upper_bound(changes_, start_ns, {}, &Change::at_ns);
  const auto running = [](const Change& c) {
    return (c.computing > 0 ? 1U : 0U) + (c.communicating > 0 ? 2U : 0U);
  };
  if (change != changes_.begin()) part = running(*std::prev(change));
  for (; change != changes_.end() && change->at_ns < end_ns; ++change) {
    ns[part] += change->at_ns - since;
    since = change->at_ns;
    part = running(*change);
  }
  ns[part] += end_ns - since;
  return {seconds_of_ns(ns[1]), seconds_of_ns(ns[3]), seconds_of_ns(ns[2]), seconds_of_ns(ns[0])};
}

}  // namespace orrery
