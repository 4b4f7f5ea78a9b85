#include "forecast/fault_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace orrery {
namespace {

constexpr Seconds kFitDay{86400};

double dispersion(const std::vector<std::int64_t>& counts) {
  const auto n = static_cast<double>(counts.size());
  const double mean = static_cast<double>(std::reduce(counts.begin(), counts.end())) / n;
  double square = 0;
  for (const std::int64_t c : counts) {
    square += (static_cast<double>(c) - mean) * (static_cast<double>(c) - mean);
  }
  return mean > 0 ? square / n / mean : 0;
}

LemonNodes lemons_of(const std::vector<std::int64_t>& counts) {
  const auto nodes = static_cast<double>(counts.size());
  if (nodes < 2 || dispersion(counts) < 1 + 3 * std::sqrt(2 / (nodes - 1))) return {};
  double m1 = 0;
  double m2 = 0;
  double m3 = 0;
  for (const std::int64_t count : counts) {
    const auto n = static_cast<double>(count);
    m1 += n / nodes;
    m2 += n * (n - 1) / nodes;
    m3 += n * (n - 1) * (n - 2) / nodes;
  }
  const double a = (m3 - m1 * m2) / (m1 * m1 - m2);
  const double b = -m2 - a * m1;
  const double root = std::sqrt(a * a / 4 - b);
  const double high = -a / 2 + root;
  // Nodes that hardly fail: their rate is known to no more than that it is far below.
  constexpr double kMostFactor = 1000;
  const double low = std::max(-a / 2 - root, high / kMostFactor);
  const double share = (m1 - low) / (high - low);
  if (!(high > low && share > 0 && share < 1)) return {};  // also where there is no real root
  return {share, high / low};
}

// Time of a node in the window during which a fault of it is open. Faults come by start.
Seconds time_down(const std::vector<const Fault*>& faults, Seconds from, Seconds until) {
  Seconds down;
  Seconds covered = from;
  for (const Fault* fault : faults) {
    const Seconds start = std::max(fault->start, covered);
    const Seconds end = std::min(fault->end.value_or(until), until);
    if (end <= start) continue;
    down += end - start;
    covered = end;
  }
  return down;
}

}  // namespace

Seconds quantile_of(const std::vector<Seconds>& ascending, double p) {
  if (ascending.empty()) return {};
  const double at = p * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return ascending[below] + (ascending[above] - ascending[below]) * (at - std::floor(at));
}

Result<FaultFit> fit(const FaultLog& log, const LogWindow& window) {
  FaultFit out;
  out.name = log.name;
  double last = window.last_day;
  if (last == 0) {
    Seconds latest;
    for (const Fault& f : log.faults) latest = std::max({latest, f.start, f.end.value_or(f.start)});
    last = std::floor(latest / kFitDay) + 1;
  }
  out.days = last - window.first_day;
  if (!(window.first_day >= 0 && out.days >= 1)) {
    return bad_input(fmt::format("day {} to day {} are no days of a log", window.first_day, last),
                     log.name);
  }
  const Seconds from = window.first_day * kFitDay;
  const Seconds until = last * kFitDay;

  std::map<std::string, std::vector<const Fault*>> by_node;
  std::vector<std::int64_t> of_node;
  std::vector<Seconds> gaps;
  Seconds previous = from;
  out.by_day.resize(static_cast<std::size_t>(out.days));
  for (const Fault& fault : log.faults) {
    if (fault.start >= until) break;
    by_node[fault.node].push_back(&fault);
    if (fault.start < from) continue;
    if (out.faults++ > 0) gaps.push_back(fault.start - previous);
    previous = fault.start;
    const auto day = static_cast<std::size_t>((fault.start - from) / kFitDay);
    if (day < out.by_day.size()) ++out.by_day[day];
    if (fault.end && *fault.end <= until) {
      out.repairs.push_back(*fault.end - fault.start);
    } else {
      ++out.open;
    }
  }
  if (static_cast<std::size_t>(out.faults) < kLeastFaults) {
    return bad_input(fmt::format("{} {} too few to fit rates to", out.faults,
                                 out.faults == 1 ? "fault is" : "faults are"),
                     log.name, fmt::format("{} or more are needed", kLeastFaults));
  }
  Seconds down;
  for (const auto& [node, faults] : by_node) {
    down += time_down(faults, from, until);
    of_node.push_back(
        std::ranges::count_if(faults, [&](const Fault* fault) { return fault->start >= from; }));
  }
  std::erase(of_node, 0);
  out.nodes_that_failed = static_cast<std::int64_t>(of_node.size());
  out.nodes = window.nodes > 0 ? window.nodes : static_cast<std::int64_t>(by_node.size());
  if (out.nodes < out.nodes_that_failed) {
    return bad_input(fmt::format("the log names {} nodes, more than the {} of the cluster",
                                 out.nodes_that_failed, out.nodes),
                     log.name);
  }
  out.faults_a_day = static_cast<double>(out.faults) / out.days;
  out.days_without = static_cast<double>(std::ranges::count(out.by_day, 0)) /
                     static_cast<double>(out.by_day.size());
  out.dispersion_by_day = dispersion(out.by_day);
  of_node.resize(static_cast<std::size_t>(out.nodes));
  out.dispersion_by_node = dispersion(of_node);
  out.rates.lemons = lemons_of(of_node);
  std::ranges::sort(of_node, std::greater{});
  out.most_of_a_node = of_node.front();
  const auto tenth = static_cast<std::ptrdiff_t>(std::ceil(static_cast<double>(out.nodes) / 10));
  out.worst_tenth = static_cast<double>(std::reduce(of_node.begin(), of_node.begin() + tenth)) /
                    static_cast<double>(out.faults);
  std::ranges::sort(out.repairs);
  out.nodes_down = down / (until - from);

  out.rates.name = log.name;
  out.rates.title = "fitted to " + log.name;
  out.rates.per_1000_node_days = 1000 * out.faults_a_day / static_cast<double>(out.nodes);
  const Seconds all_gaps = std::accumulate(gaps.begin(), gaps.end(), Seconds(0));
  if (all_gaps > Seconds(0)) out.rates.gaps = {.law = TimeForm::sampled, .samples = gaps};
  if (!out.repairs.empty()) {
    out.rates.repair = TimeLaw{.law = TimeForm::sampled, .samples = out.repairs};
  }
  out.rates.provenance.source = log.name;
  return out;
}

}  // namespace orrery
