#include "analyze/kernel_table.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyze/queue_length.h"

namespace orrery {
namespace {

struct GatheredKernel {
  WorkKind kind = WorkKind::none;
  std::vector<std::int64_t> durations;
  double occupancy_ns = 0;
  double with_occupancy_ns = 0;
  std::int64_t bytes = 0;
  std::map<std::uint32_t, std::int64_t> callers;  // name of the operator -> time
};

void add(GatheredKernel& into, const RecordedTrace& trace, const LaunchLinks& links,
         std::size_t e) {
  const std::int64_t ns = trace.duration_ns[e];
  into.durations.push_back(ns);
  if (trace.kind[e] == EventKind::kernel && trace.details[e] != kNoDetails) {
    const float occupancy = trace.kernels[trace.details[e]].achieved_occupancy;
    if (occupancy >= 0) {
      into.occupancy_ns += static_cast<double>(occupancy) * static_cast<double>(ns);
      into.with_occupancy_ns += static_cast<double>(ns);
    }
  }
  if (trace.kind[e] != EventKind::kernel && trace.details[e] != kNoDetails) {
    const std::int64_t bytes = trace.copies[trace.details[e]].bytes;
    if (bytes != kNotRecorded) into.bytes += bytes;
  }
  const std::uint32_t caller = links.operator_of(e);
  if (caller != kNoEvent) into.callers[trace.name[caller]] += ns;
}

// Of gaps that stand wholly in the span.
std::array<Spread, 3> gap_spreads(const std::vector<Gap>& gaps, Interval span) {
  std::array<std::vector<std::int64_t>, 3> lengths;
  for (const Gap& gap : gaps) {
    if (gap.span.start < span.start || gap.span.end > span.end) continue;
    lengths[static_cast<std::size_t>(gap.cause)].push_back(gap.span.end - gap.span.start);
  }
  std::array<Spread, 3> spreads;
  for (std::size_t c = 0; c < spreads.size(); ++c) spreads[c] = spread_of(std::move(lengths[c]));
  return spreads;
}

std::uint32_t main_caller(const GatheredKernel& gathered) {
  std::uint32_t main = 0;
  std::int64_t most = -1;
  for (const auto& [name, ns] : gathered.callers) {
    if (ns > most) {
      main = name;
      most = ns;
    }
  }
  return main;
}

}  // namespace

std::vector<KernelRow> kernel_table(const RecordedTrace& trace, const LaunchLinks& links,
                                    const std::vector<WorkKind>& kinds, Interval window) {
  std::unordered_map<std::uint32_t, GatheredKernel> by_name;
  std::int64_t all_ns = 0;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (kinds[e] == WorkKind::none) continue;
    if (trace.start_ns[e] < window.start || trace.start_ns[e] >= window.end) continue;
    GatheredKernel& gathered = by_name[trace.name[e]];
    gathered.kind = kinds[e];
    add(gathered, trace, links, e);
    all_ns += trace.duration_ns[e];
  }
  std::vector<KernelRow> rows;
  rows.reserve(by_name.size());
  for (auto& [name, gathered] : by_name) {
    KernelRow row = {.name = name,
                     .kind = gathered.kind,
                     .duration = spread_of(std::move(gathered.durations)),
                     .caller = main_caller(gathered),
                     .bytes = gathered.bytes};
    if (all_ns > 0) {
      row.share = static_cast<double>(row.duration.total_ns) / static_cast<double>(all_ns);
    }
    if (gathered.with_occupancy_ns > 0) {
      row.occupancy = gathered.occupancy_ns / gathered.with_occupancy_ns;
    }
    rows.push_back(row);
  }
  std::ranges::sort(rows, [&](const KernelRow& a, const KernelRow& b) {
    if (a.duration.total_ns != b.duration.total_ns) {
      return a.duration.total_ns > b.duration.total_ns;
    }
    return trace.texts[a.name] < trace.texts[b.name];
  });
  return rows;
}

std::vector<StreamRow> stream_table(const RecordedTrace& trace, const LaunchLinks& links,
                                    const std::vector<WorkKind>& kinds) {
  std::vector<std::vector<std::uint32_t>> work(trace.lanes.size());
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (kinds[e] != WorkKind::none) work[trace.lane[e]].push_back(e);
  }
  const std::vector<std::vector<QueueChange>> queues = queue_lengths(trace, links);
  std::vector<StreamRow> rows;
  for (std::uint32_t lane = 0; lane < work.size(); ++lane) {
    if (work[lane].empty()) continue;
    StreamRow row = {.lane = lane, .work = static_cast<std::int64_t>(work[lane].size())};
    Intervals busy;
    for (const std::uint32_t e : work[lane]) {
      add_by_start(busy, {trace.start_ns[e], trace.end_ns(e)});
    }
    if (!busy.empty()) {
      row.span = {busy.front().start, busy.back().end};
      row.busy_ns = length(busy);
      const std::vector<Gap> all_gaps = gaps(trace, links, work[lane]);
      row.idle = idle_time(all_gaps, row.span);
      row.gaps = gap_spreads(all_gaps, row.span);
    }
    row.longest_queue = summary_of(queues[lane]).longest;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace orrery
