#include "compare/step_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "trace/collective_instances.h"
#include "trace/kernel_class.h"
#include "trace/launch_links.h"
#include "trace/marked_steps.h"

namespace orrery {
namespace {

struct Label {
  std::string name;
  std::string detail;
};

Label communication_label(const RecordedTrace& trace, std::uint32_t event) {
  const std::uint32_t index = trace.communication[event];
  const std::string_view kernel = trace.name_of(event);
  const std::string_view called =
      collective_of_kernel(kernel).value_or(kernel.substr(0, kernel.find('(')));
  if (index == kNoDetails) return {std::string(called), ""};
  const CommunicationDetails& c = trace.communications[index];
  Label label{std::string(trace.texts[c.collective]), ""};
  if (label.name.empty()) label.name = called;
  if (c.group != 0) label.name += fmt::format(", group {}", trace.texts[c.group]);
  const std::int64_t elements = std::max(c.input_elements, c.output_elements);
  if (elements != kNotRecorded) label.detail = fmt::format("{}", elements);
  if (c.data_type != 0) {
    label.detail += (label.detail.empty() ? "" : " ") + std::string(trace.texts[c.data_type]);
  }
  if (c.group_size != kNotRecorded) label.detail += fmt::format(" x {} ranks", c.group_size);
  return label;
}

Label operator_label(const RecordedTrace& trace, std::uint32_t event) {
  Label label{std::string(trace.name_of(event)), ""};
  if (trace.details[event] != kNoDetails && trace.kind[event] == EventKind::cpu_operator) {
    label.detail = trace.texts[trace.operators[trace.details[event]].input_shapes];
  }
  return label;
}

// The lines so far, found by what they are.
class Lines {
 public:
  explicit Lines(StepProfile& profile) : profile_(profile) {}

  ProfileLine& line(const Label& label, std::string_view context, LineKind kind) {
    std::string key = fmt::format("{}\n{}\n{}", static_cast<int>(kind), label.name, label.detail);
    const auto [it, is_new] = index_.emplace(std::move(key), profile_.lines.size());
    if (is_new) {
      profile_.lines.push_back({label.name, label.detail, std::string(context), kind, {}, {}});
    }
    return profile_.lines[it->second];
  }

 private:
  StepProfile& profile_;
  std::unordered_map<std::string, std::size_t> index_;
};

// One rank, ready to be walked.
class Rank {
 public:
  Rank(const RecordedTrace& trace, std::vector<std::int64_t> waiting_ns, Lines& lines)
      : trace_(trace),
        links_(launch_links(trace)),
        waiting_ns_(std::move(waiting_ns)),
        lines_(lines) {
    for (std::uint32_t event = 0; event < trace.size(); ++event) {
      if (is_device_work(trace.kind[event])) {
        work_.push_back(event);
        longest_ns_ = std::max(longest_ns_, trace.duration_ns[event]);
      }
    }
  }

  void book(const MarkedStep& window, StepProfile& profile) {
    profile.steps += 1;
    profile.step_ns += window.end_ns - window.start_ns;
    if (work_.empty()) {
      book_host(window, profile);
    } else {
      book_device(window, profile);
    }
  }

 private:
  ProfileLine& line_of_work(std::uint32_t event) {
    const bool communicates =
        trace_.kind[event] == EventKind::kernel && is_communication_kernel(trace_.name_of(event));
    const LineKind kind = communicates                              ? LineKind::communication
                          : trace_.kind[event] == EventKind::kernel ? LineKind::computing
                                                                    : LineKind::copying;
    const std::uint32_t outer = links_.outer_operator(event);
    // What was launched outside the recording is still known by what it does.
    const std::string_view context = outer == kNoEvent
                                         ? to_text(kernel_class(trace_.name_of(event), "", ""))
                                         : trace_.name_of(outer);
    const std::uint32_t inner = links_.inner_operator[event];
    const Label label = communicates        ? communication_label(trace_, event)
                        : inner == kNoEvent ? Label{std::string(trace_.name_of(event)), ""}
                                            : operator_label(trace_, inner);
    return lines_.line(label, context, kind);
  }

  // Computing before communication before copies; of each, the first to start.
  [[nodiscard]] int precedence(std::uint32_t event) const {
    if (trace_.kind[event] != EventKind::kernel) return 2;
    return is_communication_kernel(trace_.name_of(event)) ? 1 : 0;
  }

  void book_idle(std::int64_t from, std::int64_t until, std::uint32_t next) {
    const std::uint32_t launch = links_.call[next];
    const std::int64_t called =
        launch == kNoEvent ? from : std::clamp(trace_.start_ns[launch], from, until);
    LineTimes& times = line_of_work(next).times;
    times.late_ns += called - from;
    times.latency_ns += until - called;
  }

  void book_device(const MarkedStep& window, StepProfile& profile) {
    const auto first =
        std::ranges::lower_bound(work_, window.start_ns - longest_ns_, {},
                                 [&](std::uint32_t event) { return trace_.start_ns[event]; });
    std::vector<std::uint32_t> within;
    for (auto it = first; it != work_.end() && trace_.start_ns[*it] < window.end_ns; ++it) {
      const std::int64_t from = std::max(trace_.start_ns[*it], window.start_ns);
      const std::int64_t until = std::min(trace_.end_ns(*it), window.end_ns);
      const bool begins_here = trace_.start_ns[*it] >= window.start_ns;
      if (until <= from && !begins_here) continue;
      LineTimes& times = line_of_work(*it).times;
      times.busy_ns += std::max<std::int64_t>(until - from, 0);
      line_of_work(*it).kernels[std::string(trace_.name_of(*it))] +=
          std::max<std::int64_t>(until - from, 0);
      if (begins_here) {
        times.calls += 1;
        times.waiting_ns += std::min(waiting_ns_[*it], std::max<std::int64_t>(until - from, 0));
      }
      if (until > from) within.push_back(*it);
    }
    std::vector<std::uint32_t> ending = within;
    std::ranges::sort(ending, [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(trace_.end_ns(a), a) < std::pair(trace_.end_ns(b), b);
    });

    std::array<std::set<std::uint32_t>, 3> running;
    std::int64_t now = window.start_ns;
    std::size_t started = 0;
    std::size_t ended = 0;
    while (now < window.end_ns) {
      while (started < within.size() && trace_.start_ns[within[started]] <= now) {
        running[static_cast<std::size_t>(precedence(within[started]))].insert(within[started]);
        ++started;
      }
      while (ended < ending.size() && trace_.end_ns(ending[ended]) <= now) {
        running[static_cast<std::size_t>(precedence(ending[ended]))].erase(ending[ended]);
        ++ended;
      }
      std::int64_t next = window.end_ns;
      if (started < within.size()) next = std::min(next, trace_.start_ns[within[started]]);
      if (ended < ending.size()) next = std::min(next, trace_.end_ns(ending[ended]));
      const auto owner =
          std::ranges::find_if(running, [](const auto& events) { return !events.empty(); });
      if (owner != running.end()) {
        line_of_work(*owner->begin()).times.owned_ns += next - now;
      } else if (started < within.size()) {
        book_idle(now, next, within[started]);
      } else {
        profile.end_ns += next - now;
      }
      now = next;
    }
  }

  // Without a device the innermost operator of the thread owns the time.
  void book_host(const MarkedStep& window, StepProfile& profile) {
    std::vector<std::uint32_t> open;
    std::int64_t now = window.start_ns;
    const auto book_until = [&](std::int64_t until) {
      until = std::min(until, window.end_ns);
      while (now < until) {
        while (!open.empty() && trace_.end_ns(open.back()) <= now) open.pop_back();
        if (open.empty()) {
          profile.end_ns += until - now;
          now = until;
          break;
        }
        const std::int64_t next = std::min(until, trace_.end_ns(open.back()));
        const std::uint32_t outer = links_.outer_operator(open.back());
        LineTimes& times =
            lines_
                .line(operator_label(trace_, open.back()),
                      trace_.name_of(outer == kNoEvent ? open.back() : outer), LineKind::host)
                .times;
        times.busy_ns += next - now;
        times.owned_ns += next - now;
        now = next;
      }
    };
    for (std::uint32_t event = 0; event < trace_.size(); ++event) {
      if (trace_.lane[event] != window.lane || trace_.kind[event] != EventKind::cpu_operator ||
          trace_.end_ns(event) <= window.start_ns || trace_.start_ns[event] >= window.end_ns) {
        continue;
      }
      book_until(trace_.start_ns[event]);
      while (!open.empty() && trace_.end_ns(open.back()) <= trace_.start_ns[event]) open.pop_back();
      open.push_back(event);
      if (trace_.start_ns[event] >= window.start_ns) {
        const std::uint32_t outer = links_.outer_operator(event);
        lines_
            .line(operator_label(trace_, event), trace_.name_of(outer == kNoEvent ? event : outer),
                  LineKind::host)
            .times.calls += 1;
      }
    }
    book_until(window.end_ns);
  }

  const RecordedTrace& trace_;
  LaunchLinks links_;
  std::vector<std::int64_t> waiting_ns_;
  Lines& lines_;
  std::vector<std::uint32_t> work_;  // by start
  std::int64_t longest_ns_ = 0;
};

// By trace and event, what the recorded duration holds of waiting for other ranks.
std::vector<std::vector<std::int64_t>> waiting_times(std::span<const RecordedTrace> run) {
  std::vector<std::vector<std::int64_t>> waiting;
  for (const RecordedTrace& trace : run) waiting.emplace_back(trace.size(), 0);
  if (run.size() < 2) return waiting;
  for (const CollectiveInstance& instance : collective_instances(run)) {
    for (const CollectiveMember& member : instance.members) {
      waiting[member.trace][member.event] = member.waiting_ns;
    }
  }
  return waiting;
}

}  // namespace

StepParts parts(const StepProfile& profile) {
  std::array<std::int64_t, 4> owned{};
  std::int64_t late = 0;
  std::int64_t latency = 0;
  for (const ProfileLine& line : profile.lines) {
    owned[static_cast<std::size_t>(line.kind)] += line.times.owned_ns;
    late += line.times.late_ns;
    latency += line.times.latency_ns;
  }
  const auto seconds = [&](std::int64_t ns) { return Seconds(profile.per_step_s(ns)); };
  return {seconds(owned[0]), seconds(owned[1]), seconds(owned[2]),      seconds(owned[3]),
          seconds(late),     seconds(latency),  seconds(profile.end_ns)};
}

Result<StepProfile> step_profile(std::span<const RecordedTrace> run,
                                 const ProfileOptions& options) {
  StepProfile profile;
  Lines lines(profile);
  auto waiting = waiting_times(run);
  profile.waiting_known = run.size() > 1;
  std::string ranks;
  std::string numbers;
  bool has_rank = false;
  for (std::size_t t = 0; t < run.size(); ++t) {
    const RecordedTrace& trace = run[t];
    if (trace.rank != kNotRecorded)
      ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", trace.rank);
    if (options.rank && trace.rank != *options.rank) continue;
    has_rank = true;
    Rank rank(trace, std::move(waiting[t]), lines);
    numbers.clear();
    for (const MarkedStep& window : marked_steps(trace)) {
      if (window.number != kNotRecorded) {
        numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", window.number);
      }
      if (!options.step || window.number == *options.step) rank.book(window, profile);
    }
  }
  const std::string where = run.empty() ? "" : run.front().file;
  if (!has_rank && options.rank) {
    return fail(ErrorCode::not_found, fmt::format("there is no rank {}", *options.rank), where,
                ranks.empty() ? "the files state no ranks" : "ranks: " + ranks);
  }
  if (profile.steps == 0) {
    if (!options.step) return bad_input("nothing is recorded", where);
    return fail(ErrorCode::not_found, fmt::format("there is no step {}", *options.step), where,
                numbers.empty() ? "steps are not marked: leave the step out" : "steps: " + numbers);
  }
  return profile;
}

}  // namespace orrery
