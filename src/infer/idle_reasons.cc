#include "infer/idle_reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/communication_table.h"
#include "analyze/device_work.h"
#include "analyze/host_activity.h"
#include "replay/time_slices.h"
#include "timeline/intervals.h"
#include "trace/collective_instances.h"
#include "trace/marked_steps.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr double kLeastShare = 0.1;  // that is named

std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// The steps that are asked about, on the clock of their rank.
Intervals windows_of(const RecordedTrace& trace, const ProfileOptions& steps) {
  Intervals windows;
  if (steps.rank && trace.rank != *steps.rank) return windows;
  for (const MarkedStep& step : marked_steps(trace)) {
    if (!steps.step || step.number == *steps.step) windows.push_back({step.start_ns, step.end_ns});
  }
  std::ranges::sort(windows, {}, &Interval::start);
  return union_of(windows);
}

// While devices did nothing.
struct IdleDevices {
  bool work = false;  // that they did anything is recorded
  HostTime host;      // waits for the host, by what it did
  std::int64_t other_process_ns = 0;
};

IdleDevices idle_devices(std::span<const RecordedTrace> run, const ProfileOptions& steps) {
  IdleDevices sum;
  for (const RecordedTrace& trace : run) {
    const Intervals windows = windows_of(trace, steps);
    if (windows.empty()) continue;
    std::vector<std::uint32_t> work;
    for (std::uint32_t e = 0; e < trace.size(); ++e) {
      if (is_device_work(trace.kind[e])) work.push_back(e);
    }
    if (work.empty()) continue;
    sum.work = true;
    const Intervals turns = intersection(other_process_turns(trace), windows);
    sum.other_process_ns += length(turns);
    const LaunchLinks links = launch_links(trace);
    const HostTime host =
        host_activity(trace, links, gaps(trace, links, work), difference(windows, turns));
    for (std::size_t a = 0; a < kHostActivities; ++a) sum.host.ns[a] += host.ns[a];
  }
  return sum;
}

std::string activities(const HostTime& host) {
  std::vector<HostActivity> order;
  for (std::size_t a = 0; a < kHostActivities; ++a) order.push_back(static_cast<HostActivity>(a));
  std::ranges::stable_sort(order,
                           [&](HostActivity a, HostActivity b) { return host.of(a) > host.of(b); });
  std::string out;
  for (const HostActivity activity : order) {
    const double part = share(host.of(activity), host.total_ns());
    if (part < kLeastShare) break;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", percent_text(part), in_words(activity));
  }
  return out;
}

}  // namespace

double step_launches(const StepProfile& profile) {
  std::int64_t calls = 0;
  for (const ProfileLine& line : profile.lines) {
    if (line.kind != LineKind::host) calls += line.times.calls;
  }
  return profile.steps > 0 ? static_cast<double>(calls) / static_cast<double>(profile.steps) : 0;
}

std::string why_idle(std::span<const RecordedTrace> run, const ComparedIdleTime& idle,
                     const ProfileOptions& steps) {
  const std::string launching =
      idle.launching ? fmt::format("by software profile {} it launches the step's passes in {}",
                                   idle.launching->software, to_text(idle.launching->time))
                     : "";
  if (idle.predicted > idle.recorded) {
    return "the recorded host keeps ahead of its device" +
           (launching.empty() ? "." : "; " + launching + ".");
  }
  const IdleDevices devices = idle_devices(run, steps);
  if (!devices.work) return "no kernels, copies or fills are recorded.";
  const double of_others =
      share(devices.other_process_ns, devices.host.total_ns() + devices.other_process_ns);
  std::string out =
      of_others < kLeastShare
          ? "the device waits for its host"
          : fmt::format(
                "another process has the device for {} of the time it waits; for the rest it waits "
                "for its host",
                percent_text(of_others));
  if (devices.host.total_ns() > 0) out += ", which meanwhile is " + activities(devices.host);
  out += ".";
  if (idle.launches >= 1) {
    out += fmt::format(" The host launches {:.0f} kernels and copies a step, one in {}",
                       idle.launches, to_text(idle.recorded_step / idle.launches));
    if (!launching.empty()) {
      out += fmt::format(
          "; {}, without data loading, synchronizing calls and what the profiler itself costs",
          launching);
    }
    out += ".";
  }
  return out;
}

std::string why_waiting(std::span<const RecordedTrace> run, const ProfileOptions& steps) {
  std::vector<LaunchLinks> links;
  std::vector<Intervals> windows;
  for (const RecordedTrace& trace : run) {
    links.push_back(launch_links(trace));
    windows.push_back(windows_of(trace, steps));
  }
  std::vector<CollectiveInstance> asked = collective_instances(run);
  std::erase_if(asked, [&](const CollectiveInstance& instance) {
    return std::ranges::none_of(instance.members, [&](const CollectiveMember& member) {
      const RecordedTrace& trace = run[member.trace];
      const Interval kernel = {trace.start_ns[member.event], trace.end_ns(member.event)};
      return !clipped(windows[member.trace], kernel).empty();
    });
  });
  const CommunicationTable table = communication_table(run, links, asked);
  std::int64_t all = 0;
  const RankCommunication* most = nullptr;
  for (const RankCommunication& rank : table.ranks) {
    all += rank.caused_waiting_ns;
    if (most == nullptr || rank.caused_waiting_ns > most->caused_waiting_ns) most = &rank;
  }
  std::string out = "ranks wait for each other, and a prediction takes them for alike";
  if (most == nullptr || all == 0) return out + ".";
  return out + fmt::format(": rank {} arrives last {} times of {} and causes {} of the waiting.",
                           most->rank, most->arrived_last, table.matched,
                           percent_text(share(most->caused_waiting_ns, all)));
}

}  // namespace orrery
