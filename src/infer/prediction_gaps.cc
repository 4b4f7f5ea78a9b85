#include "infer/prediction_gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/communication_table.h"
#include "analyze/device_work.h"
#include "analyze/host_activity.h"
#include "plan/software.h"
#include "trace/collective_instances.h"
#include "trace/marked_steps.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr std::size_t kMostCauses = 3;
constexpr double kLeastShare = 0.1;  // of all differences

std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

// What the hosts of all ranks did while their devices waited for them, within the steps.
HostTime host_time(std::span<const RecordedTrace> run) {
  HostTime sum;
  for (const RecordedTrace& trace : run) {
    const Launches started = launches(trace);
    std::vector<std::uint32_t> work;
    for (std::uint32_t e = 0; e < trace.size(); ++e) {
      if (is_device_work(trace.kind[e])) work.push_back(e);
    }
    if (work.empty()) continue;
    std::vector<Interval> windows;
    for (const MarkedStep& step : marked_steps(trace)) {
      windows.push_back({step.start_ns, step.end_ns});
    }
    std::sort(windows.begin(), windows.end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
    const HostTime of =
        host_activity(trace, started, gaps(trace, started, work), union_of(windows));
    for (std::size_t a = 0; a < kHostActivities; ++a) sum.ns[a] += of.ns[a];
  }
  return sum;
}

std::string why_idle(std::span<const RecordedTrace> run, const InferredComparison& c) {
  const ComparedPart& idle = c.parts[static_cast<std::size_t>(StepPart::host)];
  const std::string software = c.spec.software.empty() ? SoftwareProfile().name : c.spec.software;
  const std::string predicted = fmt::format(
      "by software profile {} it launches the step's passes in {}", software, to_text(c.launching));
  if (idle.predicted > idle.recorded) {
    return fmt::format("the recorded host keeps ahead of its device; {}.", predicted);
  }
  std::string out = "the device waits for its host";
  const HostTime host = host_time(run);
  if (host.total_ns() > 0) {
    std::vector<HostActivity> order;
    for (std::size_t a = 0; a < kHostActivities; ++a) order.push_back(static_cast<HostActivity>(a));
    std::stable_sort(order.begin(), order.end(),
                     [&](HostActivity a, HostActivity b) { return host.of(a) > host.of(b); });
    std::string parts;
    for (const HostActivity activity : order) {
      const double share =
          static_cast<double>(host.of(activity)) / static_cast<double>(host.total_ns());
      if (share < kLeastShare) break;
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", percent_text(share),
                           in_words(activity));
    }
    out += fmt::format(", which meanwhile is {}", parts);
  }
  out += ".";
  if (c.step_launches >= 1) {
    out += fmt::format(
        " It launches {:.0f} kernels and copies a step, one in {}; {}, without data loading, "
        "synchronizing calls and what the profiler itself costs.",
        c.step_launches, to_text(c.recorded_step / c.step_launches), predicted);
  }
  return out;
}

std::string why_waiting(std::span<const RecordedTrace> run) {
  std::vector<Launches> started;
  for (const RecordedTrace& trace : run) started.push_back(launches(trace));
  const CommunicationTable table = communication_table(run, started, collective_instances(run));
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
                           percent_text(static_cast<double>(most->caused_waiting_ns) /
                                        static_cast<double>(all)));
}

std::string why_work(std::span<const RecordedTrace> run, const InferredComparison& c,
                     StepPart part) {
  constexpr std::size_t kNamed = 3;
  constexpr double kLeastWork = 0.05;
  constexpr double kMuch = 0.5;  // of the difference
  constexpr std::size_t kLongestDetail = 48;
  const ComparedPart& compared = c.parts[static_cast<std::size_t>(part)];
  std::string longest;
  std::size_t named = 0;
  Seconds of_others;
  for (const RecordedPartWork& work : c.work) {
    if (work.part != part) continue;
    if (!work.of_model) of_others += work.time;
    if (!(work.time > kLeastWork * compared.recorded) || named == kNamed) continue;
    ++named;
    std::string detail = work.detail.substr(0, kLongestDetail);
    if (detail.size() < work.detail.size()) detail += "...";
    longest += fmt::format("{}{}{}{} {} in {:.0f}", longest.empty() ? "" : "; ", work.name,
                           detail.empty() ? "" : " ", detail, to_text(work.time), work.calls);
  }
  const bool slow = compared.predicted > compared.recorded;
  std::string out;
  if (!(compared.predicted > Seconds(0))) {
    out = "the model of a step has no such work";
  } else if (!slow && of_others > kMuch * (compared.recorded - compared.predicted)) {
    out = fmt::format("{} is work of shapes that the inferred model does not have",
                      to_text(of_others));
  } else if (!slow && part == StepPart::communication && run.size() == 1 && c.estimate.gpus > 1) {
    out = "one rank is recorded, so that what it waited for others is in it";
  } else {
    out = slow ? "predicted too slow" : "predicted too fast";
  }
  if (!longest.empty()) out += fmt::format("; recorded, kernels of a step: {}", longest);
  return out + ".";
}

}  // namespace

std::vector<PredictionGap> prediction_gaps(std::span<const RecordedTrace> run,
                                           const InferredComparison& comparison) {
  std::vector<PredictionGap> out;
  if (!comparison.is_predicted) return out;
  double all = 0;
  for (std::size_t p = 0; p < kStepParts; ++p) {
    const ComparedPart& part = comparison.parts[p];
    const Seconds difference = part.predicted - part.recorded;
    all += std::abs(difference.value());
    out.push_back({static_cast<StepPart>(p), difference, ""});
  }
  const auto size = [](const PredictionGap& c) { return std::abs(c.difference.value()); };
  std::stable_sort(out.begin(), out.end(),
                   [&](const auto& a, const auto& b) { return size(a) > size(b); });
  std::erase_if(out, [&](const auto& c) { return !(size(c) > 0) || size(c) < kLeastShare * all; });
  if (out.size() > kMostCauses) out.resize(kMostCauses);
  for (PredictionGap& cause : out) {
    cause.why = cause.part == StepPart::host      ? why_idle(run, comparison)
                : cause.part == StepPart::waiting ? why_waiting(run)
                                                  : why_work(run, comparison, cause.part);
  }
  return out;
}

}  // namespace orrery
