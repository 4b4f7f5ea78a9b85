#include "analyze/sections.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace orrery {
namespace {

constexpr std::string_view kModule = "nn.Module: ";

bool is_section(const RecordedTrace& trace, std::size_t e) {
  if (trace.kind[e] == EventKind::python_function) return trace.name_of(e).starts_with(kModule);
  return trace.kind[e] == EventKind::annotation && !trace.name_of(e).starts_with("ProfilerStep#");
}

// "nn.Module: Linear_12" is an instance of Linear.
std::string_view class_of(const RecordedTrace& trace, std::size_t e) {
  std::string_view text = trace.name_of(e);
  if (trace.kind[e] != EventKind::python_function) return text;
  text.remove_prefix(kModule.size());
  const std::size_t end = text.find_last_not_of("0123456789");
  if (end != std::string_view::npos && end > 0 && text[end] == '_' && end + 1 < text.size()) {
    text = text.substr(0, end);
  }
  return text;
}

// Of every event of the host the innermost section around it, on its own thread; kNoEvent.
struct Nesting {
  std::vector<std::uint32_t> section;
  std::vector<std::uint32_t> depth;          // of sections
  std::vector<std::uint32_t> while_on_main;  // open on the thread with most sections; kNoEvent
  std::vector<bool> has_sections;            // a lane
  std::vector<bool> repeated;                // stands in a section of its own class
};

// Numbers of the classes of sections, each name looked at once.
class Classes {
 public:
  explicit Classes(const RecordedTrace& trace)
      : trace_(trace), of_name_(trace.texts.size(), kNoEvent) {}

  std::uint32_t of(std::uint32_t e) {
    std::uint32_t& known = of_name_[trace_.name[e]];
    if (known == kNoEvent) {
      const auto next = static_cast<std::uint32_t>(numbers_.size());
      known = numbers_.try_emplace(class_of(trace_, e), next).first->second;
    }
    return known;
  }

 private:
  const RecordedTrace& trace_;
  std::vector<std::uint32_t> of_name_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

// Sections of one thread that have begun and not ended, outermost first.
struct Open {
  std::vector<std::uint32_t> sections;
  std::unordered_map<std::uint32_t, std::int32_t> of_class;
};

std::uint32_t main_lane(const RecordedTrace& trace) {
  std::vector<std::int64_t> sections(trace.lanes.size(), 0);
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (is_section(trace, e)) ++sections[trace.lane[e]];
  }
  return static_cast<std::uint32_t>(std::ranges::max_element(sections) - sections.begin());
}

Nesting nesting(const RecordedTrace& trace) {
  Nesting found = {.section = std::vector<std::uint32_t>(trace.size(), kNoEvent),
                   .depth = std::vector<std::uint32_t>(trace.size(), 0),
                   .while_on_main = std::vector<std::uint32_t>(trace.size(), kNoEvent),
                   .has_sections = std::vector<bool>(trace.lanes.size(), false),
                   .repeated = std::vector<bool>(trace.size(), false)};
  const std::uint32_t main = main_lane(trace);
  Classes classes(trace);
  std::vector<Open> open(trace.lanes.size());
  const auto close_before = [&](Open& on_lane, std::int64_t time) {
    std::vector<std::uint32_t>& stack = on_lane.sections;
    while (!stack.empty() && trace.end_ns(stack.back()) <= time) {
      --on_lane.of_class[classes.of(stack.back())];
      stack.pop_back();
    }
  };
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    const std::uint32_t lane = trace.lane[e];
    if (trace.lanes[lane].device) continue;
    std::vector<std::uint32_t>& stack = open[lane].sections;
    close_before(open[lane], trace.start_ns[e]);
    if (!stack.empty()) found.section[e] = stack.back();
    if (const auto& on_main = open[main].sections; lane != main && !on_main.empty()) {
      close_before(open[main], trace.start_ns[e]);
      if (!on_main.empty()) found.while_on_main[e] = on_main.back();
    }
    if (!is_section(trace, e)) continue;
    found.repeated[e] = open[lane].of_class[classes.of(e)]++ > 0;
    found.depth[e] = static_cast<std::uint32_t>(stack.size());
    found.has_sections[lane] = true;
    stack.push_back(e);
  }
  return found;
}

struct Owner {
  std::uint32_t section = kNoEvent;
  bool backward = false;
};

class Owners {
 public:
  Owners(const RecordedTrace& trace, const LaunchLinks& links, const Nesting& nesting)
      : trace_(trace), links_(links), nesting_(nesting) {
    std::unordered_map<std::uint32_t, std::uint32_t> forward_of;
    for (const auto& [forward, backward] : trace.forward_to_backward) {
      forward_of.emplace(backward, forward);
    }
    // Operators come after those that enclose them.
    if (forward_of.empty()) return;
    forward_section_.assign(trace.size(), kNoEvent);
    for (std::uint32_t e = 0; e < trace.size(); ++e) {
      if (const auto it = forward_of.find(e); it != forward_of.end()) {
        forward_section_[e] = nesting.section[it->second];
      }
      const std::uint32_t outer = links.inner_operator[e];
      if (forward_section_[e] == kNoEvent && outer != kNoEvent) {
        forward_section_[e] = forward_section_[outer];
      }
    }
  }

  [[nodiscard]] Owner of_call(std::uint32_t call) const {
    if (nesting_.section[call] != kNoEvent) return {nesting_.section[call], false};
    const std::uint32_t in = links_.inner_operator[call];
    if (in != kNoEvent && !forward_section_.empty() && forward_section_[in] != kNoEvent) {
      return {forward_section_[in], true};
    }
    if (!nesting_.has_sections[trace_.lane[call]]) return {nesting_.while_on_main[call], false};
    return {};
  }

 private:
  const RecordedTrace& trace_;
  const LaunchLinks& links_;
  const Nesting& nesting_;
  std::vector<std::uint32_t> forward_section_;  // of the forward operators of an operator
};

struct Times {
  std::vector<std::int64_t> all_ns;
  std::vector<std::int64_t> own_ns;
  std::vector<std::int64_t> backward_ns;
  std::vector<std::int64_t> launched;
};

Times times_of(const RecordedTrace& trace, const LaunchLinks& links, const Nesting& nesting) {
  const std::vector<std::int64_t> zeros(trace.size(), 0);
  Times times = {.all_ns = zeros, .own_ns = zeros, .backward_ns = zeros, .launched = zeros};
  const Owners owners(trace, links, nesting);
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (!is_device_work(trace.kind[e]) || links.call[e] == kNoEvent) continue;
    const Owner owner = owners.of_call(links.call[e]);
    if (owner.section == kNoEvent) continue;
    times.own_ns[owner.section] += trace.duration_ns[e];
    times.all_ns[owner.section] += trace.duration_ns[e];
    if (owner.backward) times.backward_ns[owner.section] += trace.duration_ns[e];
    ++times.launched[owner.section];
  }
  // A section comes after those around it.
  for (std::size_t e = trace.size(); e-- > 0;) {
    if (!is_section(trace, e) || nesting.section[e] == kNoEvent) continue;
    const std::uint32_t outer = nesting.section[e];
    times.all_ns[outer] += times.all_ns[e];
    times.backward_ns[outer] += times.backward_ns[e];
    times.launched[outer] += times.launched[e];
  }
  return times;
}

}  // namespace

std::vector<SectionRow> section_table(const RecordedTrace& trace, const LaunchLinks& links) {
  const bool any = [&] {
    for (std::size_t e = 0; e < trace.size(); ++e) {
      if (is_section(trace, e)) return true;
    }
    return false;
  }();
  if (!any) return {};
  const Nesting nested = nesting(trace);
  const Times times = times_of(trace, links, nested);
  struct Gathered {
    SectionRow row;
    std::vector<std::int64_t> host;
    std::set<std::uint32_t> instances;
  };
  std::map<std::pair<SectionKind, std::string_view>, Gathered> groups;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (!is_section(trace, e)) continue;
    const SectionKind kind =
        trace.kind[e] == EventKind::annotation ? SectionKind::annotation : SectionKind::module;
    Gathered& group = groups[{kind, class_of(trace, e)}];
    if (group.host.empty()) {
      group.row.kind = kind;
      group.row.name = class_of(trace, e);
      group.row.depth = nested.depth[e];
    }
    group.host.push_back(trace.duration_ns[e]);
    group.instances.insert(trace.name[e]);
    group.row.own_ns += times.own_ns[e];
    // One that stands in one of its own name is in that one's time already.
    if (nested.repeated[e]) continue;
    group.row.device_ns += times.all_ns[e];
    group.row.backward_ns += times.backward_ns[e];
    group.row.launched += times.launched[e];
  }
  std::vector<SectionRow> rows;
  rows.reserve(groups.size());
  for (auto& [key, group] : groups) {
    group.row.host = spread_of(std::move(group.host));
    group.row.instances = static_cast<std::int64_t>(group.instances.size());
    rows.push_back(group.row);
  }
  std::ranges::sort(rows, [](const SectionRow& a, const SectionRow& b) {
    return std::tie(b.device_ns, b.host.total_ns, a.depth, a.name) <
           std::tie(a.device_ns, a.host.total_ns, b.depth, b.name);
  });
  return rows;
}

}  // namespace orrery
