#include "analyze/run_analysis.h"

#include <algorithm>

#include "analyze/recorded_accelerator.h"
#include "parallel/parallel_for.h"
#include "trace/recorded_time.h"

namespace orrery {
namespace {

Result<std::optional<Accelerator>> accelerator_of(const RecordedTrace& trace,
                                                  const Catalog& catalog,
                                                  const std::string& asked) {
  if (asked.empty()) return recorded_accelerator(catalog, trace);
  ORRERY_TRY(Accelerator accelerator, load_accelerator(catalog, asked));
  return std::optional<Accelerator>(std::move(accelerator));
}

Result<StepPath> path_of(const RecordedTrace& trace, const LaunchLinks& links,
                         const std::vector<RecordedStep>& steps, const AnalysisOptions& options) {
  if (options.preset != BreakdownPreset::hta) return StepPath();
  Interval window = span_of(trace);
  std::string of = "the whole recording";
  if (!options.critical_annotation.empty()) {
    ORRERY_TRY(const std::uint32_t event,
               annotated_event(trace, options.critical_annotation, options.critical_instance));
    window = {trace.start_ns[event], trace.end_ns(event)};
    of = options.critical_annotation;
    if (options.critical_instance > 0) of += " [" + std::to_string(options.critical_instance) + "]";
  } else if (!steps.empty()) {
    window = steps.front().window;
    of = trace.name_of(steps.front().event);
  }
  const PathGraph graph = path_graph(trace, links, window);
  const auto edges = longest_path(trace, graph);
  StepPath path = critical_path(trace, graph, edges ? *edges : std::vector<std::uint32_t>());
  path.of = std::move(of);
  return path;
}

// `windows` are disjoint, by start.
HostTime host_of(const RecordedTrace& trace, const LaunchLinks& links,
                 const std::vector<WorkKind>& kinds, const Intervals& windows) {
  std::vector<std::uint32_t> work;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (kinds[e] != WorkKind::none) work.push_back(e);
  }
  return host_activity(trace, links, gaps(trace, links, work), windows);
}

Result<RankAnalysis> analyze_rank(const RecordedTrace& trace, const LaunchLinks& links,
                                  const Intervals& other_process, const Catalog& catalog,
                                  const AnalysisOptions& options) {
  RankAnalysis rank;
  rank.rank = trace.rank;
  if (const RecordedDevice* device = recorded_device(trace)) rank.device = device->name;
  ORRERY_TRY(rank.accelerator, accelerator_of(trace, catalog, options.accelerator));
  const std::vector<WorkKind> kinds = work_kinds(trace);
  rank.whole = temporal_breakdown(trace, links, options.preset, std::nullopt, other_process);
  std::vector<Interval> windows;
  const std::vector<RecordedStep> steps = recorded_steps(trace);
  windows.reserve(steps.size());
  for (const RecordedStep& step : steps) windows.push_back(step.window);
  const std::vector<TemporalBreakdown> parts =
      temporal_breakdowns(trace, links, kinds, windows, other_process);
  const std::vector<DeviceLag> lags = device_lags(trace, links, windows);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    rank.steps.push_back({steps[i], parts[i], lags[i]});
  }
  // The whole and the tables of kernels are by the preset; steps and what explains them are not.
  const std::vector<WorkKind> by_preset = kinds_of(trace, links, options.preset);
  const DeviceWork work = device_work(trace, kinds);
  const Interval span = device_span(trace, kinds);
  rank.recorded_work = span.end > span.start;
  Intervals waits = {span};
  if (!windows.empty()) {
    std::ranges::sort(windows, [](Interval a, Interval b) { return a.start < b.start; });
    waits = union_of(windows);
  }
  rank.host = host_of(trace, links, kinds, difference(waits, other_process));
  rank.overlap = kernel_overlap(device_work(trace, by_preset));
  rank.kernels = kernel_table(trace, links, by_preset);
  rank.sequences = kernel_sequences(trace, links);
  rank.sections = section_table(trace, links);
  rank.streams = stream_table(trace, links, by_preset);
  const std::vector<std::vector<QueueChange>> queues = queue_lengths(trace, links);
  for (const StreamRow& stream : rank.streams) {
    rank.queues.push_back(summary_of(queues[stream.lane]));
    rank.queue_series.push_back(series_of(queues[stream.lane], span));
  }
  rank.operators = operator_table(trace, links, options.grouping,
                                  rank.accelerator ? &*rank.accelerator : nullptr);
  rank.launch = launch_statistics(trace, links, kinds);
  rank.utilization = utilization(trace, work.kernels(), span);
  rank.copies = copy_rates(trace, rank.utilization);
  rank.memory = memory_timelines(trace);
  ORRERY_TRY(rank.critical, path_of(trace, links, steps, options));
  return rank;
}

void add_timelines(RunAnalysis& analysis, const RecordedRun& run, int threads) {
  Interval all;
  bool any = false;
  for (const RankAnalysis& rank : analysis.ranks) {
    const Interval span = rank.utilization.window;
    if (!rank.has_device_work()) continue;
    all = any ? Interval{std::min(all.start, span.start), std::max(all.end, span.end)} : span;
    any = true;
  }
  parallel_for(run.ranks.size(), threads, [&](std::size_t i) {
    const RecordedTrace& trace = run.ranks[i];
    analysis.ranks[i].timeline = rank_timeline(device_work(trace, work_kinds(trace)), all);
  });
}

}  // namespace

Result<RunAnalysis> analyze(const RecordedRun& run, const Catalog& catalog,
                            const AnalysisOptions& options) {
  const std::size_t count = run.ranks.size();
  std::vector<LaunchLinks> links(count);
  std::vector<Result<RankAnalysis>> ranks(count);
  parallel_for(count, options.threads, [&](std::size_t i) {
    links[i] = launch_links(run.ranks[i]);
    const Intervals turns =
        i < options.other_process.size() ? options.other_process[i] : Intervals();
    ranks[i] = analyze_rank(run.ranks[i], links[i], turns, catalog, options);
  });
  RunAnalysis analysis;
  analysis.preset = options.preset;
  analysis.grouping = options.grouping;
  for (Result<RankAnalysis>& rank : ranks) {
    ORRERY_TRY(RankAnalysis one, std::move(rank));
    analysis.ranks.push_back(std::move(one));
  }
  analysis.communication = communication_table(run.ranks, links, collective_instances(run.ranks));
  add_timelines(analysis, run, options.threads);
  std::vector<KernelsOfRank> kernels;
  for (std::size_t i = 0; i < count; ++i) {
    kernels.push_back({.trace = &run.ranks[i], .rows = &analysis.ranks[i].kernels});
  }
  analysis.kernels = kernels_across_ranks(kernels);
  return analysis;
}

}  // namespace orrery
