#include "analyze/findings.h"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

double share_of(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Of the computing of a rank, what its operators would not take at the speed of the roofline.
std::int64_t slow_operators_ns(const RankAnalysis& rank, std::int64_t compute_ns) {
  double lost = 0;
  double all = 0;
  for (const KernelRow& row : rank.kernels) {
    if (row.kind == WorkKind::compute) all += static_cast<double>(row.duration.total_ns);
  }
  for (const OperatorRow& row : rank.operators.rows) {
    if (row.roofline < 0 || row.roofline >= 1) continue;
    lost += static_cast<double>(row.own_ns) * (1 - row.roofline);
  }
  if (all <= 0) return 0;
  // Copies are launched by operators too.
  return static_cast<std::int64_t>(static_cast<double>(compute_ns) * std::min(1.0, lost / all));
}

Finding earlier_work(const RunAnalysis& analysis) {
  Finding finding = {.kind = FindingKind::earlier_work};
  if (analysis.preset != BreakdownPreset::orrery) return finding;
  std::int64_t busy = 0;
  std::int64_t earlier = 0;
  for (std::size_t r = 0; r < analysis.ranks.size(); ++r) {
    std::int64_t rank_busy = 0;
    std::int64_t rank_earlier = 0;
    for (const StepAnalysis& step : analysis.ranks[r].steps) {
      rank_busy += step.lag.busy_ns;
      rank_earlier += step.lag.earlier_ns;
    }
    busy += rank_busy;
    earlier += rank_earlier;
    const double share = share_of(rank_earlier, rank_busy);
    if (share > finding.worst_share) {
      finding.worst = r;
      finding.worst_share = share;
    }
  }
  finding.share = share_of(earlier, busy);
  return finding;
}

using Costs = std::array<std::int64_t, kFindingKinds>;

Costs costs_of(const RunAnalysis& analysis, std::size_t rank, const TemporalBreakdown& time) {
  const RankAnalysis& one = analysis.ranks[rank];
  Costs costs{};
  const auto set = [&](FindingKind kind, std::int64_t ns) {
    costs[static_cast<std::size_t>(kind)] = ns;
  };
  if (!one.has_device_work()) return costs;
  std::int64_t waiting = 0;
  if (rank < analysis.communication.ranks.size()) {
    waiting = std::clamp<std::int64_t>(analysis.communication.ranks[rank].waiting_ns, 0,
                                       time.exposed_communication_ns);
  }
  set(FindingKind::host_waits, time.idle.own_host_wait_ns());
  set(FindingKind::other_process, time.idle.other_process_ns);
  set(FindingKind::waiting, waiting);
  set(FindingKind::communication, time.exposed_communication_ns - waiting);
  set(FindingKind::slow_operators, slow_operators_ns(one, time.compute_ns));
  set(FindingKind::copies, time.exposed_copy_ns);
  set(FindingKind::stream_waits, time.idle.other_ns + time.idle.kernel_wait_ns);
  return costs;
}

}  // namespace

TemporalBreakdown analyzed_time(const RankAnalysis& rank, BreakdownPreset preset) {
  if (preset != BreakdownPreset::orrery || rank.steps.empty()) return rank.whole;
  TemporalBreakdown sum;
  for (const StepAnalysis& step : rank.steps) sum += step.parts;
  return sum;
}

std::vector<Finding> findings(const RunAnalysis& analysis) {
  std::array<Finding, kFindingKinds> all;
  std::int64_t time_ns = 0;
  for (std::size_t r = 0; r < analysis.ranks.size(); ++r) {
    const TemporalBreakdown time = analyzed_time(analysis.ranks[r], analysis.preset);
    time_ns += time.total_ns();
    const Costs costs = costs_of(analysis, r, time);
    for (std::size_t k = 0; k < kFindingKinds; ++k) {
      all[k].cost_ns += costs[k];
      const double share = share_of(costs[k], time.total_ns());
      if (share > all[k].worst_share) {
        all[k].worst = r;
        all[k].worst_share = share;
      }
    }
  }
  std::vector<Finding> found;
  for (std::size_t k = 0; k < kFindingKinds; ++k) {
    all[k].kind = static_cast<FindingKind>(k);
    all[k].share = share_of(all[k].cost_ns, time_ns);
    if (all[k].share >= kLeastFinding) found.push_back(all[k]);
  }
  std::ranges::stable_sort(
      found, [](const Finding& a, const Finding& b) { return a.cost_ns > b.cost_ns; });
  const Finding earlier = earlier_work(analysis);
  if (earlier.share >= kLeastEarlier) found.push_back(earlier);
  return found;
}

}  // namespace orrery
