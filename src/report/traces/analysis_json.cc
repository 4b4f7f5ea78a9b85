#include "report/traces/analysis_json.h"

#include <algorithm>
#include <array>
#include <string>

#include "report/drawing/text_style.h"
#include "report/traces/finding_text.h"
#include "report/traces/path_report.h"
#include "report/traces/recorded_style.h"

namespace orrery {
namespace {

// A long recording has very many operators; the rest is summed.
constexpr std::size_t kMostRows = 1000;

Value whole(std::int64_t n) { return Value::number(n); }
Value time(std::int64_t ns) { return Value::number(seconds(ns)); }
Value text(std::string_view t) { return Value::text(printable(t)); }
Value spread_json(const Spread& spread);
Value whole_or_null(std::int64_t n) { return n == kNotRecorded ? Value::null() : whole(n); }

Value window_json(Interval window, std::int64_t origin) {
  Value out = Value::map();
  out.append_member("start_s", time(window.start - origin));
  out.append_member("end_s", time(window.end - origin));
  return out;
}

void add_breakdown(Value& out, const TemporalBreakdown& b, std::int64_t origin) {
  out.append_member("window", window_json(b.window, origin));
  out.append_member("total_s", time(b.total_ns()));
  Value parts = Value::map();
  for (const RecordedPart& part : parts_of(b)) {
    parts.append_member(std::string(part.key), time(part.ns));
  }
  out.append_member("breakdown_s", std::move(parts));
  out.append_member("busy_s", time(b.busy_ns()));
  out.append_member("communication_s", time(b.communication_ns));
  out.append_member("copy_s", time(b.copy_ns));
  out.append_member("overlapped_s", time(b.overlapped_ns));
  out.append_member("exposed_compute_s", time(b.compute_ns - b.overlapped_ns));
}

Value spread_json(const Spread& spread) {
  Value out = Value::map();
  out.append_member("count", whole(spread.count));
  out.append_member("total_s", time(spread.total_ns));
  out.append_member("mean_s", Value::number(spread.mean_ns() * 1e-9));
  out.append_member("median_s", time(spread.median_ns));
  out.append_member("p90_s", time(spread.p90_ns));
  out.append_member("least_s", time(spread.least_ns));
  out.append_member("greatest_s", time(spread.greatest_ns));
  return out;
}

Value idle_json(const DeviceIdle& idle) {
  Value out = Value::map();
  out.append_member("host_wait_s", time(idle.host_wait_ns));
  out.append_member("kernel_wait_s", time(idle.kernel_wait_ns));
  out.append_member("other_s", time(idle.other_ns));
  return out;
}

Value kernels_json(const RecordedTrace& trace, const RankAnalysis& rank) {
  Value out = Value::list();
  for (std::size_t i = 0; i < std::min(kMostRows, rank.kernels.size()); ++i) {
    const KernelRow& row = rank.kernels[i];
    Value one = Value::map();
    one.append_member("name", text(trace.texts[row.name]));
    one.append_member("kind", text(name(row.kind)));
    one.append_member("duration", spread_json(row.duration));
    one.append_member("share", Value::number(row.share));
    one.append_member("occupancy",
                      row.occupancy < 0 ? Value::null() : Value::number(row.occupancy));
    one.append_member("bytes", whole(row.bytes));
    one.append_member("launched_by",
                      row.caller == 0 ? Value::null() : text(trace.texts[row.caller]));
    out.append(std::move(one));
  }
  return out;
}

Value operators_json(const RecordedTrace& trace, const RankAnalysis& rank) {
  Value rows = Value::list();
  for (std::size_t i = 0; i < std::min(kMostRows, rank.operators.rows.size()); ++i) {
    const OperatorRow& row = rank.operators.rows[i];
    Value one = Value::map();
    one.append_member("name", text(trace.texts[row.name]));
    one.append_member("shapes", text(trace.texts[row.shapes]));
    one.append_member("types", text(trace.texts[row.types]));
    one.append_member("host", spread_json(row.host));
    one.append_member("device", spread_json(row.device));
    one.append_member("direct_device_s", time(row.direct_ns));
    one.append_member("own_device_s", time(row.own_ns));
    one.append_member("launched", whole(row.launched));
    if (row.operator_class) {
      one.append_member("class", text(name(*row.operator_class)));
      one.append_member("flops", Value::number(row.flops.value()));
      one.append_member("bytes", Value::number(row.bytes.value()));
      one.append_member("flops_per_s", Value::number(row.flops_rate().value()));
      one.append_member("bytes_per_s", Value::number(row.bytes_rate().value()));
      one.append_member("of_roofline",
                        row.roofline < 0 ? Value::null() : Value::number(row.roofline));
    }
    rows.append(std::move(one));
  }
  const OperatorTotals& all = rank.operators.all;
  Value classes = Value::map();
  for (std::size_t c = 0; c < kRecordedWorkClasses; ++c) {
    classes.append_member(std::string(name(static_cast<RecordedWorkClass>(c))),
                          time(all.by_class_ns[c]));
  }
  classes.append_member("other", time(all.other_ns));
  Value out = Value::map();
  out.append_member("flops", Value::number(all.flops.value()));
  out.append_member("device_s_by_class", std::move(classes));
  out.append_member("rows", std::move(rows));
  return out;
}

Value streams_json(const RecordedTrace& trace, const RankAnalysis& rank) {
  Value out = Value::list();
  for (std::size_t i = 0; i < rank.streams.size(); ++i) {
    const StreamRow& row = rank.streams[i];
    Value one = Value::map();
    one.append_member("device", whole(trace.lanes[row.lane].process));
    one.append_member("stream", whole(trace.lanes[row.lane].thread));
    one.append_member("work", whole(row.work));
    one.append_member("busy_s", time(row.busy_ns));
    one.append_member("idle", idle_json(row.idle));
    Value gaps = Value::map();
    static constexpr std::array<const char*, 3> kCauses = {"host_wait", "kernel_wait", "other"};
    for (std::size_t c = 0; c < row.gaps.size(); ++c) {
      gaps.append_member(kCauses[c], spread_json(row.gaps[c]));
    }
    one.append_member("gaps", std::move(gaps));
    one.append_member("longest_queue", whole(rank.queues[i].longest));
    one.append_member("mean_queue", Value::number(rank.queues[i].mean));
    one.append_member("full_queue_s", time(rank.queues[i].full_ns));
    one.append_member("queue_bin_s", time(rank.queue_series[i].bin_ns));
    Value longest = Value::list();
    for (const std::int64_t n : rank.queue_series[i].longest) longest.append(whole(n));
    one.append_member("queue", std::move(longest));
    out.append(std::move(one));
  }
  return out;
}

Value launches_json(const RecordedTrace& trace, const RankAnalysis& rank, std::int64_t origin) {
  const auto row_json = [](const LaunchRow& row) {
    Value one = Value::map();
    one.append_member("call", spread_json(row.call));
    one.append_member("delay", spread_json(row.delay));
    one.append_member("work", spread_json(row.work));
    one.append_member("shorter_than_call", whole(row.shorter_than_call));
    one.append_member("slow_calls", whole(row.slow_calls));
    one.append_member("long_delays", whole(row.long_delays));
    return one;
  };
  Value calls = Value::list();
  for (const LaunchRow& row : rank.launch.rows) {
    Value one = Value::map();
    one.append_member("name", text(trace.texts[row.name]));
    one.append_member("statistics", row_json(row));
    calls.append(std::move(one));
  }
  Value out = Value::map();
  out.append_member("all", row_json(rank.launch.all));
  out.append_member("calls", std::move(calls));
  out.append_member("without_call", whole(rank.launch.without_call));
  const auto outliers = [&](const std::vector<LaunchOutlier>& list) {
    Value all = Value::list();
    for (const LaunchOutlier& outlier : list) {
      Value one = Value::map();
      one.append_member("duration_s", time(outlier.ns));
      one.append_member("at_s", time(trace.start_ns[outlier.call] - origin));
      one.append_member("call", text(trace.name_of(outlier.call)));
      one.append_member("operator", outlier.caller == kNoEvent
                                        ? Value::null()
                                        : text(trace.name_of(outlier.caller)));
      one.append_member("work", text(trace.name_of(outlier.work)));
      all.append(std::move(one));
    }
    return all;
  };
  out.append_member("slowest_calls", outliers(rank.launch.slow_calls));
  out.append_member("longest_delays", outliers(rank.launch.long_delays));
  return out;
}

Value sections_json(const RankAnalysis& rank) {
  Value out = Value::list();
  for (std::size_t i = 0; i < std::min(kMostRows, rank.sections.size()); ++i) {
    const SectionRow& row = rank.sections[i];
    Value one = Value::map();
    one.append_member("name", text(row.name));
    one.append_member("kind", text(name(row.kind)));
    one.append_member("instances", whole(row.instances));
    one.append_member("depth", whole(row.depth));
    one.append_member("host", spread_json(row.host));
    one.append_member("device_s", time(row.device_ns));
    one.append_member("backward_s", time(row.backward_ns));
    one.append_member("own_s", time(row.own_ns));
    one.append_member("launched", whole(row.launched));
    out.append(std::move(one));
  }
  return out;
}

Value sequences_json(const RecordedTrace& trace, const RankAnalysis& rank) {
  constexpr std::size_t kMostSequences = 100;
  constexpr std::size_t kLongestSequence = 64;
  Value out = Value::list();
  for (std::size_t i = 0; i < std::min(kMostSequences, rank.sequences.size()); ++i) {
    const KernelSequence& row = rank.sequences[i];
    Value one = Value::map();
    one.append_member("operator", text(trace.texts[row.operator_name]));
    one.append_member("count", whole(row.count));
    one.append_member("length", whole(static_cast<std::int64_t>(row.kernels.size())));
    one.append_member("device_s", time(row.device_ns));
    one.append_member("host_s", time(row.host_ns));
    Value kernels = Value::list();
    for (std::size_t k = 0; k < std::min(kLongestSequence, row.kernels.size()); ++k) {
      kernels.append(text(trace.texts[row.kernels[k]]));
    }
    one.append_member("kernels", std::move(kernels));
    out.append(std::move(one));
  }
  return out;
}

Value across_ranks_json(const RunAnalysis& analysis) {
  Value out = Value::list();
  for (std::size_t i = 0; i < std::min(kMostRows, analysis.kernels.size()); ++i) {
    const RunKernelRow& row = analysis.kernels[i];
    Value one = Value::map();
    one.append_member("name", text(row.name));
    one.append_member("kind", text(name(row.kind)));
    one.append_member("ranks", whole(row.ranks));
    one.append_member("count", whole(row.count));
    one.append_member("total_s", time(row.total_ns));
    one.append_member("mean_s", Value::number(row.mean_ns() * 1e-9));
    one.append_member("least_mean_s", Value::number(row.least_mean_ns * 1e-9));
    one.append_member("fastest_rank", whole(analysis.ranks[row.fastest].rank));
    one.append_member("greatest_mean_s", Value::number(row.greatest_mean_ns * 1e-9));
    one.append_member("slowest_rank", whole(analysis.ranks[row.slowest].rank));
    out.append(std::move(one));
  }
  return out;
}

Value findings_json(const RecordedRun& run, const RunAnalysis& analysis) {
  Value out = Value::list();
  for (const Finding& finding : findings(analysis)) {
    const FindingText words = finding_text(run, analysis, finding);
    Value one = Value::map();
    one.append_member("kind", text(name(finding.kind)));
    one.append_member("cost_s", time(finding.cost_ns));
    one.append_member("share", Value::number(finding.share));
    one.append_member("worst_rank", whole(analysis.ranks[finding.worst].rank));
    one.append_member("worst_share", Value::number(finding.worst_share));
    one.append_member("title", text(words.title));
    one.append_member("detail", text(words.detail));
    one.append_member("advice", text(words.advice));
    out.append(std::move(one));
  }
  return out;
}

Value path_json(const RecordedTrace& trace, const PathAnalysis& critical, std::int64_t origin) {
  Value out = Value::map();
  out.append_member("construction", text("hta"));
  out.append_member("of", text(critical.of));
  out.append_member("window", window_json(critical.window, origin));
  out.append_member("length_s", time(critical.path.length_ns));
  out.append_member("nodes", whole(static_cast<std::int64_t>(critical.path.points.size())));
  Value bounds = Value::map();
  for (std::size_t b = 0; b < CriticalPath::kBounds; ++b) {
    bounds.append_member(std::string(name(static_cast<CriticalPath::Bound>(b))),
                         time(critical.path.by_bound_ns[b]));
  }
  out.append_member("bound_by_s", std::move(bounds));
  Value rows = Value::list();
  for (std::size_t i = 0; i < std::min(kMostRows, critical.rows.size()); ++i) {
    const PathRow& row = critical.rows[i];
    Value one = Value::map();
    one.append_member("name", text(trace.texts[row.name]));
    one.append_member("bound_by", text(name(row.bound)));
    one.append_member("count", whole(row.count));
    one.append_member("total_s", time(row.total_ns));
    rows.append(std::move(one));
  }
  out.append_member("events", std::move(rows));
  return out;
}

Value memory_json(const RankAnalysis& rank, std::int64_t origin) {
  Value out = Value::list();
  for (const MemoryTimeline& memory : rank.memory) {
    Value one = Value::map();
    one.append_member("device", whole(memory.device));
    one.append_member("changes", whole(memory.changes));
    one.append_member("allocations", whole(memory.allocations));
    one.append_member("first_bytes", whole(memory.first_bytes));
    one.append_member("last_bytes", whole(memory.last_bytes));
    one.append_member("peak_allocated_bytes", whole(memory.peak.allocated_bytes));
    one.append_member("peak_at_s", time(memory.peak.time_ns - origin));
    one.append_member("peak_reserved_bytes", whole(memory.peak_reserved_bytes));
    out.append(std::move(one));
  }
  return out;
}

Value copies_json(const RecordedTrace& trace, const RankAnalysis& rank) {
  Value out = Value::list();
  for (const CopyRates& row : rank.copies) {
    Value one = Value::map();
    one.append_member("name", text(trace.texts[row.name]));
    one.append_member("count", whole(row.count));
    one.append_member("bytes", whole(row.bytes));
    one.append_member("total_s", time(row.total_ns));
    one.append_member("bytes_per_s", Value::number(row.rate().value()));
    one.append_member("least_bytes_per_s", Value::number(row.least.value()));
    one.append_member("median_bytes_per_s", Value::number(row.median.value()));
    one.append_member("greatest_bytes_per_s", Value::number(row.greatest.value()));
    Value over_time = Value::list();
    for (const double rate : row.bytes_per_s) over_time.append(Value::number(rate));
    one.append_member("over_time_bytes_per_s", std::move(over_time));
    out.append(std::move(one));
  }
  return out;
}

Value rank_json(const RecordedTrace& trace, const RankAnalysis& rank, std::int64_t origin,
                Value path) {
  Value out = Value::map();
  out.append_member("rank", whole(rank.rank));
  out.append_member("file", text(trace.file));
  out.append_member("device", rank.device.empty() ? Value::null() : text(rank.device));
  out.append_member("accelerator", rank.accelerator ? text(rank.accelerator->name) : Value::null());
  add_breakdown(out, rank.whole, origin);
  Value steps = Value::list();
  for (const StepAnalysis& step : rank.steps) {
    Value one = Value::map();
    one.append_member("step", whole(step.step.number));
    add_breakdown(one, step.parts, origin);
    const DeviceLag& lag = step.lag;
    one.append_member("earlier_work_s", lag.known ? time(lag.earlier_ns) : Value::null());
    one.append_member("behind_s", lag.known ? time(lag.behind_ns) : Value::null());
    steps.append(std::move(one));
  }
  out.append_member("steps", std::move(steps));
  Value host = Value::map();
  for (std::size_t a = 0; a < kHostActivities; ++a) {
    host.append_member(std::string(name(static_cast<HostActivity>(a))), time(rank.host.ns[a]));
  }
  out.append_member("host_during_waits_s", std::move(host));
  Value overlap = Value::map();
  for (std::size_t c = 1; c < kWorkCombinations; ++c) {
    std::string key = combination_name(c);
    std::replace(key.begin(), key.end(), ' ', '_');
    overlap.append_member(std::move(key), time(rank.overlap[c]));
  }
  out.append_member("work_together_s", std::move(overlap));
  out.append_member("kernels", kernels_json(trace, rank));
  out.append_member("operators", operators_json(trace, rank));
  out.append_member("streams", streams_json(trace, rank));
  out.append_member("launches", launches_json(trace, rank, origin));
  out.append_member("sections", sections_json(rank));
  out.append_member("sequences", sequences_json(trace, rank));
  out.append_member("critical_path", std::move(path));
  out.append_member("memory", memory_json(rank, origin));
  out.append_member("copies", copies_json(trace, rank));
  Value utilization = Value::map();
  utilization.append_member("bin_s", time(rank.utilization.bin_ns));
  utilization.append_member("mean", Value::number(rank.utilization.mean()));
  Value busy = Value::list();
  for (const double share : rank.utilization.busy) busy.append(Value::number(share));
  utilization.append_member("busy", std::move(busy));
  const bool blocks = !rank.utilization.multiprocessors.empty();
  Value multiprocessors = blocks ? Value::list() : Value::null();
  for (const double share : rank.utilization.multiprocessors) {
    multiprocessors.append(Value::number(share));
  }
  utilization.append_member(
      "multiprocessors_mean",
      blocks ? Value::number(rank.utilization.mean_multiprocessors()) : Value::null());
  utilization.append_member("multiprocessors", std::move(multiprocessors));
  out.append_member("utilization", std::move(utilization));
  return out;
}

Value communication_json(const CommunicationTable& table) {
  Value rows = Value::list();
  for (std::size_t i = 0; i < std::min(kMostRows, table.rows.size()); ++i) {
    const CommunicationRow& row = table.rows[i];
    Value one = Value::map();
    one.append_member("collective", text(name(row.collective)));
    one.append_member("type", text(row.type));
    one.append_member("group", text(row.group));
    one.append_member("ranks", whole_or_null(row.ranks));
    one.append_member("bytes", whole_or_null(row.bytes));
    one.append_member("instances", whole(row.instances));
    one.append_member("complete", whole(row.complete));
    one.append_member("duration", spread_json(row.duration));
    one.append_member("transfer", spread_json(row.transfer));
    one.append_member("waiting_s", time(row.waiting_ns));
    one.append_member("longest_lateness_s", time(row.longest_lateness_ns));
    one.append_member("bytes_per_s", Value::number(row.bandwidth().value()));
    one.append_member("bus_bytes_per_s", Value::number(row.bus_bandwidth().value()));
    one.append_member("median_bus_bytes_per_s", Value::number(row.median_bus_bandwidth().value()));
    rows.append(std::move(one));
  }
  Value ranks = Value::list();
  for (const RankCommunication& rank : table.ranks) {
    Value one = Value::map();
    one.append_member("rank", whole(rank.rank));
    one.append_member("kernels", whole(rank.kernels));
    one.append_member("duration_s", time(rank.duration_ns));
    one.append_member("transfer_s", time(rank.transfer_ns));
    one.append_member("waiting_s", time(rank.waiting_ns));
    one.append_member("arrived_last", whole(rank.arrived_last));
    one.append_member("caused_waiting_s", time(rank.caused_waiting_ns));
    ranks.append(std::move(one));
  }
  Value out = Value::map();
  out.append_member("matched", whole(table.matched));
  out.append_member("transfer_s", time(table.transfer_ns));
  out.append_member("ranks", std::move(ranks));
  out.append_member("rows", std::move(rows));
  return out;
}

}  // namespace

Value analysis_json(const RecordedRun& run, const RunAnalysis& analysis,
                    std::span<const StepPath> paths) {
  std::int64_t origin = 0;
  bool any = false;
  for (const RecordedTrace& trace : run.ranks) {
    if (trace.size() == 0) continue;
    origin = any ? std::min(origin, trace.start_ns.front()) : trace.start_ns.front();
    any = true;
  }
  Value out = Value::map();
  out.append_member("schema_version", whole(1));
  out.append_member("kind", text("trace_analysis"));
  out.append_member("preset", text(name(analysis.preset)));
  out.append_member("times", text(is_simulated(run.source) ? "simulated" : "recorded"));
  out.append_member("world_size", whole_or_null(run.world_size));
  out.append_member("findings", findings_json(run, analysis));
  Value ranks = Value::list();
  for (std::size_t i = 0; i < analysis.ranks.size(); ++i) {
    const RecordedTrace& trace = run.ranks[i];
    const RankAnalysis& rank = analysis.ranks[i];
    ranks.append(rank_json(trace, rank, origin,
                           i < paths.size() ? step_path_json(paths[i], origin)
                                            : path_json(trace, rank.critical, origin)));
  }
  out.append_member("ranks", std::move(ranks));
  out.append_member("communication", communication_json(analysis.communication));
  out.append_member("kernels", across_ranks_json(analysis));
  return out;
}

}  // namespace orrery
