#include <algorithm>
#include <array>
#include <string>

#include "document/results.h"
#include "report/traces/analysis_tables.h"
#include "report/traces/path_json.h"
#include "report/traces/recorded_style.h"
#include "report/traces/trace_reports.h"

namespace orrery {
namespace {

constexpr std::size_t kMostSequences = 100;
constexpr std::size_t kLongestSequence = 64;

using ByClass = ByName<RecordedWorkClass, kRecordedWorkClasses, Seconds>;

// What rows of one rank refer to.
struct RankContext {
  const RecordedTrace& trace;
  std::int64_t origin_ns;  // the first event of the run
  const StepPath* path;    // null: that of the analysis

  [[nodiscard]] std::string text(std::uint32_t index) const { return words(trace.texts[index]); }
};

struct PartsOf {
  const TemporalBreakdown& of;
};

struct OperatorClasses {
  ByClass by_class;
  Seconds other;
};

struct StreamGaps {
  const std::array<Spread, 3>& of;
};

struct StreamOfRank {
  const StreamRow& row;
  const QueueSummary& queue;
  const QueueSeries& series;
};

struct NamedLaunches {
  const LaunchRow& row;
};

struct WorkTogether {
  const KernelOverlap& of;
};

struct FindingOfRun {
  Finding finding;
  FindingText text;
};

struct AnalysisDocument {
  const RecordedRun& run;
  const RunAnalysis& analysis;
  std::span<const StepPath> paths;
};

template <class T>
std::optional<T> some_if(bool condition, T value) {
  return condition ? std::optional<T>(std::in_place, std::move(value)) : std::nullopt;
}

// Rates and shares that are not known are below zero.
std::optional<double> known(double value) { return some_if(value >= 0, value); }

std::vector<std::string> texts_of(std::span<const std::uint32_t> names, const RankContext& rank) {
  std::vector<std::string> out;
  for (const std::uint32_t name : names) out.push_back(rank.text(name));
  return out;
}

std::vector<StreamOfRank> streams_of(const RankAnalysis& rank) {
  std::vector<StreamOfRank> out;
  for (std::size_t i = 0; i < rank.streams.size(); ++i) {
    out.push_back({rank.streams[i], rank.queues[i], rank.queue_series[i]});
  }
  return out;
}

std::vector<FindingOfRun> findings_of(const AnalysisDocument& d) {
  std::vector<FindingOfRun> out;
  for (const Finding& f : findings(d.analysis)) {
    out.push_back({f, finding_text(d.run, d.analysis, f)});
  }
  return out;
}

// With times since the first event of the run.
std::vector<InContext<RankAnalysis, RankContext>> ranks_of(const AnalysisDocument& d) {
  std::optional<std::int64_t> origin;
  for (const RecordedTrace& trace : d.run.ranks) {
    if (trace.size() == 0) continue;
    origin = std::min(origin.value_or(trace.start_ns.front()), trace.start_ns.front());
  }
  std::vector<InContext<RankAnalysis, RankContext>> out;
  for (std::size_t i = 0; i < d.analysis.ranks.size(); ++i) {
    out.push_back(
        {d.analysis.ranks[i],
         {d.run.ranks[i], origin.value_or(0), i < d.paths.size() ? &d.paths[i] : nullptr}});
  }
  return out;
}

}  // namespace

template <>
inline constexpr auto kResults<Spread> =
    table<Spread>("spread", "statistics of durations", field<&Spread::count>("how many"),
                  nanoseconds<&Spread::total_ns>("total_s", "sum"),
                  field("mean_s", "mean", [](auto& r) { return Seconds(r.mean_ns() * 1e-9); }),
                  nanoseconds<&Spread::median_ns>("median_s", "median"),
                  nanoseconds<&Spread::p90_ns>("p90_s", "90th percentile"),
                  nanoseconds<&Spread::least_ns>("least_s", "shortest"),
                  nanoseconds<&Spread::greatest_ns>("greatest_s", "longest"));

template <>
inline constexpr auto kResults<PartsOf> = table<PartsOf>(
    "breakdown", "parts that add up to total_s",
    field("compute", "a kernel that computes runs",
          [](auto& r) { return time_of(r.of.compute_ns); }),
    field("exposed_communication", "communication runs and nothing computes",
          [](auto& r) { return time_of(r.of.exposed_communication_ns); }),
    field("exposed_copy", "copies or fills run and no kernel",
          [](auto& r) { return time_of(r.of.exposed_copy_ns); }),
    field("idle_host_wait", "nothing runs; the next work had not been launched when that began",
          [](auto& r) { return time_of(r.of.idle.own_host_wait_ns()); }),
    field("idle_other_process",
          "nothing runs; the next work was launched meanwhile, but another process had the device",
          [](auto& r) { return time_of(r.of.idle.other_process_ns); }),
    field("idle_kernel_wait", "nothing runs for less than 30 ns",
          [](auto& r) { return time_of(r.of.idle.kernel_wait_ns); }),
    field("idle_other", "nothing runs although the next work was launched",
          [](auto& r) { return time_of(r.of.idle.other_ns); }));

template <>
inline constexpr auto kResults<TemporalBreakdown> = table<TemporalBreakdown>(
    "time_of_device", "Where the time of a device went.",
    field("window", "what of the recording this is",
          [](auto& r, const RankContext& c) { return window_since(c.origin_ns, r.window); }),
    nanoseconds<&TemporalBreakdown::total_ns>("total_s", "length of the window"),
    field("breakdown_s", "parts of the window, which they add up to",
          [](auto& r) { return PartsOf{r}; }),
    nanoseconds<&TemporalBreakdown::busy_ns>("busy_s", "anything runs on the device"),
    nanoseconds<&TemporalBreakdown::communication_ns>("communication_s", "communication runs"),
    nanoseconds<&TemporalBreakdown::copy_ns>("copy_s", "copies or fills run"),
    nanoseconds<&TemporalBreakdown::overlapped_ns>("overlapped_s",
                                                   "communication and computing run"),
    field("exposed_compute_s", "computing runs without communication",
          [](auto& r) { return time_of(r.compute_ns - r.overlapped_ns); }));

template <>
inline constexpr auto kResults<StepAnalysis> = table<StepAnalysis>(
    "step", "one step of the profiler, by its window on the host",
    field<&StepAnalysis::step, &RecordedStep::number>("step", "N of ProfilerStep#N"),
    fields_within([](auto& r) -> const TemporalBreakdown& { return r.parts; }),
    field("earlier_work_s",
          "of the window, in which work ran that was launched before it; null: no launches are "
          "recorded",
          [](auto& r) { return some_if(r.lag.known, time_of(r.lag.earlier_ns)); }),
    field("behind_s",
          "from the end of the window to the end of the last work launched in it; null: no "
          "launches are recorded",
          [](auto& r) { return some_if(r.lag.known, time_of(r.lag.behind_ns)); }));

template <>
inline constexpr auto kResults<KernelRow> = table<KernelRow>(
    "kernel", "one name of kernel, copy or fill",
    field("name", "as recorded", [](auto& r, const RankContext& c) { return c.text(r.name); }),
    field<&KernelRow::kind>("what it does"), field<&KernelRow::duration>("durations of its calls"),
    field<&KernelRow::share>("of the summed durations"),
    field("occupancy", "mean achieved occupancy", [](auto& r) { return known(r.occupancy); }),
    field<&KernelRow::bytes>("of copies and fills, where recorded"),
    field("launched_by", "operator that launches most of its time",
          [](auto& r, const RankContext& c) { return some_if(r.caller != 0, c.text(r.caller)); }));

template <>
inline constexpr auto kResults<OperatorRow> = table<OperatorRow>(
    "operator", "one operator with its shapes",
    field("name", "of the operator", [](auto& r, const RankContext& c) { return c.text(r.name); }),
    field("shapes", "of its inputs, as recorded",
          [](auto& r, const RankContext& c) { return c.text(r.shapes); }),
    field("types", "of its inputs, as recorded",
          [](auto& r, const RankContext& c) { return c.text(r.types); }),
    field<&OperatorRow::host>("durations of its calls on the host"),
    field<&OperatorRow::device>("device time of each call that launched work"),
    nanoseconds<&OperatorRow::direct_ns>("direct_device_s",
                                         "device time of what it launched itself"),
    nanoseconds<&OperatorRow::own_ns>(
        "own_device_s", "device time that counts for it, so that all work counts once"),
    field<&OperatorRow::launched>("pieces of device work, with those of operators inside"),
    optional_field("class", "of operator", [](auto& r) { return r.operator_class; }),
    optional_field("flops", "of all calls that launched work",
                   [](auto& r) { return some_if(r.operator_class.has_value(), r.flops); }),
    optional_field("bytes", "of all calls that launched work",
                   [](auto& r) { return some_if(r.operator_class.has_value(), r.bytes); }),
    optional_field("flops_per_s", "achieved",
                   [](auto& r) { return some_if(r.operator_class.has_value(), r.flops_rate()); }),
    optional_field("bytes_per_s", "achieved",
                   [](auto& r) { return some_if(r.operator_class.has_value(), r.bytes_rate()); }),
    optional_field("of_roofline", "1: as fast as the data sheet allows", [](auto& r) {
      return some_if(r.operator_class.has_value(), known(r.roofline));
    }));

template <>
inline constexpr auto kResults<OperatorClasses> = table<OperatorClasses>(
    "device_s_by_class", "Device time by class of operator.",
    fields_within([](auto& r) -> const ByClass& { return r.by_class; }),
    field("other", "launched by operators of no class", [](auto& r) { return r.other; }));

template <>
inline constexpr auto kResults<OperatorTable> = table<OperatorTable>(
    "operators", "operators",
    field("flops", "of all operators whose work is known, each once",
          [](auto& r) { return r.all.flops; }),
    field("device_s_by_class", "device time by class of operator",
          [](auto& r) {
            return OperatorClasses{
                by_name<RecordedWorkClass, kRecordedWorkClasses>(r.all.by_class_ns),
                time_of(r.all.other_ns)};
          }),
    field("rows", "most own device time first, at most 1,000",
          [](auto& r) { return first(r.rows, kMostRows); }));

template <>
inline constexpr auto kResults<DeviceIdle> = table<DeviceIdle>(
    "idle", "Why a stream was idle.",
    nanoseconds<&DeviceIdle::host_wait_ns>("host_wait_s", "the next work had not been launched"),
    nanoseconds<&DeviceIdle::kernel_wait_ns>("kernel_wait_s", "less than 30 ns"),
    nanoseconds<&DeviceIdle::other_ns>("other_s", "launched in time"));

template <>
inline constexpr auto kResults<StreamGaps> = table<StreamGaps>(
    "gaps", "Gaps between pieces of work of a stream.",
    field("host_wait", "the next work had not been launched", [](auto& r) { return r.of[0]; }),
    field("kernel_wait", "less than 30 ns", [](auto& r) { return r.of[1]; }),
    field("other", "launched in time", [](auto& r) { return r.of[2]; }));

template <>
inline constexpr auto kResults<StreamOfRank> = table<StreamOfRank>(
    "stream", "one stream",
    field("device", "ordinal",
          [](auto& r, const RankContext& c) { return c.trace.lanes[r.row.lane].process; }),
    field("stream", "number",
          [](auto& r, const RankContext& c) { return c.trace.lanes[r.row.lane].thread; }),
    field("work", "kernels, copies and fills", [](auto& r) { return r.row.work; }),
    field("busy_s", "union of its work", [](auto& r) { return time_of(r.row.busy_ns); }),
    field("idle", "from its first to its last work", [](auto& r) { return r.row.idle; }),
    field("gaps", "gaps between pieces of work, by cause",
          [](auto& r) { return StreamGaps{r.row.gaps}; }),
    field("longest_queue", "launched and not begun", [](auto& r) { return r.queue.longest; }),
    field("mean_queue", "over time", [](auto& r) { return r.queue.mean; }),
    field("full_queue_s", "time with 1024 or more",
          [](auto& r) { return time_of(r.queue.full_ns); }),
    field("queue_bin_s", "of queue", [](auto& r) { return time_of(r.series.bin_ns); }),
    field("queue", "the longest in equal parts of the time from the device's first to last work",
          [](auto& r) { return r.series.longest; }));

template <>
inline constexpr auto kResults<LaunchRow> = table<LaunchRow>(
    "launch", "statistics of launch calls", field<&LaunchRow::call>("durations of the calls"),
    field<&LaunchRow::delay>("from the end of a call to the start of its work"),
    field<&LaunchRow::work>("durations of what was launched"),
    field<&LaunchRow::shorter_than_call>("pieces of work shorter than their call"),
    field<&LaunchRow::slow_calls>("of more than 50 us"),
    field<&LaunchRow::long_delays>("of more than 100 us"));

template <>
inline constexpr auto kResults<NamedLaunches> = table<NamedLaunches>(
    "call", "Launches by one call of the runtime.",
    field("name", "of the call", [](auto& r, const RankContext& c) { return c.text(r.row.name); }),
    field("statistics", "statistics of its launches", [](auto& r) { return r.row; }));

template <>
inline constexpr auto kResults<LaunchOutlier> = table<LaunchOutlier>(
    "outlier", "one launch",
    nanoseconds<&LaunchOutlier::ns>("duration_s", "of the call, or of the delay"),
    field("at_s", "when the call began, since the first event of the run",
          [](auto& r, const RankContext& c) {
            return time_of(c.trace.start_ns[r.call] - c.origin_ns);
          }),
    field("call", "of the runtime",
          [](auto& r, const RankContext& c) { return words(c.trace.name_of(r.call)); }),
    field("operator", "that made the call",
          [](auto& r, const RankContext& c) {
            return some_if(r.caller != kNoEvent,
                           words(r.caller == kNoEvent ? "" : c.trace.name_of(r.caller)));
          }),
    field("work", "what it launched",
          [](auto& r, const RankContext& c) { return words(c.trace.name_of(r.work)); }));

template <>
inline constexpr auto kResults<LaunchStatistics> = table<LaunchStatistics>(
    "launches", "launches", field<&LaunchStatistics::all>("statistics of all launches"),
    field("calls", "by the name of the call, most calls first",
          [](auto& r) { return std::vector<NamedLaunches>(r.rows.begin(), r.rows.end()); }),
    field<&LaunchStatistics::without_call>("work launched before the recording began"),
    field<&LaunchStatistics::slow_calls>("slowest_calls", "of more than 50 us, at most 100"),
    field<&LaunchStatistics::long_delays>("longest_delays", "of more than 100 us, at most 100"));

template <>
inline constexpr auto kResults<SectionRow> = table<SectionRow>(
    "section", "an annotation, or a class of modules",
    field("name", "of the annotation or class", [](auto& r) { return words(r.name); }),
    field<&SectionRow::kind>("which"), field<&SectionRow::instances>("names of the class"),
    field<&SectionRow::depth>("sections around the first"),
    field<&SectionRow::host>("durations on the host"),
    nanoseconds<&SectionRow::device_ns>("device_s", "device time of what was launched in it"),
    nanoseconds<&SectionRow::backward_ns>("backward_s", "of it, by operators derived from its own"),
    nanoseconds<&SectionRow::own_ns>("own_s", "of it, in no section inside"),
    field<&SectionRow::launched>("pieces of device work"));

template <>
inline constexpr auto kResults<KernelSequence> = table<KernelSequence>(
    "sequence", "what one call of an operator launches",
    field("operator", "outermost operator",
          [](auto& r, const RankContext& c) { return c.text(r.operator_name); }),
    field<&KernelSequence::count>("calls with this sequence"),
    field("length", "pieces of work", [](auto& r) { return r.kernels.size(); }),
    nanoseconds<&KernelSequence::device_ns>("device_s", "of all calls"),
    nanoseconds<&KernelSequence::host_ns>("host_s", "of all calls"),
    field("kernels", "names in the order of launch, at most 64", [](auto& r, const RankContext& c) {
      return texts_of(first(r.kernels, kLongestSequence), c);
    }));

template <>
inline constexpr auto kResults<MemoryTimeline> = table<MemoryTimeline>(
    "memory", "memory of one device", field<&MemoryTimeline::device>("ordinal; -1: the host"),
    field<&MemoryTimeline::changes>("recorded"), field<&MemoryTimeline::allocations>("recorded"),
    field<&MemoryTimeline::first_bytes>("allocated at the first change"),
    field<&MemoryTimeline::last_bytes>("allocated at the last change"),
    field<&MemoryTimeline::peak, &MemoryPoint::allocated_bytes>("peak_allocated_bytes",
                                                                "most allocated"),
    field("peak_at_s", "when",
          [](auto& r, const RankContext& c) { return time_of(r.peak.time_ns - c.origin_ns); }),
    field<&MemoryTimeline::peak_reserved_bytes>("most reserved"));

template <>
inline constexpr auto kResults<CopyRates> = table<CopyRates>(
    "copies", "How fast copies or fills of one kind moved memory.",
    field("name", "the kind, as the profiler names it",
          [](auto& r, const RankContext& c) { return c.text(r.name); }),
    field<&CopyRates::count>("of those with recorded bytes"), field<&CopyRates::bytes>("moved"),
    nanoseconds<&CopyRates::total_ns>("total_s", "durations"),
    field<&CopyRates::rate>("bytes_per_s", "bytes over durations"),
    field<&CopyRates::least>("least_bytes_per_s", "of one copy"),
    field<&CopyRates::median>("median_bytes_per_s", "of one copy"),
    field<&CopyRates::greatest>("greatest_bytes_per_s", "of one copy"),
    field<&CopyRates::bytes_per_s>("over_time_bytes_per_s", "by bin of utilization"));

template <>
inline constexpr auto kResults<Utilization> = table<Utilization>(
    "utilization", "Share of each bin of time in which a kernel ran.",
    nanoseconds<&Utilization::bin_ns>("bin_s", "width of a bin"),
    field<&Utilization::mean>("over time"), field<&Utilization::busy>("by bin"),
    field("multiprocessors_mean", "over time; null: the recording does not tell",
          [](auto& r) { return some_if(!r.multiprocessors.empty(), r.mean_multiprocessors()); }),
    field("multiprocessors",
          "by bin: share of multiprocessors that had a block to run, by the grids of kernels; "
          "null: the recording does not tell",
          [](auto& r) { return some_if(!r.multiprocessors.empty(), r.multiprocessors); }));

template <>
inline constexpr auto kResults<WorkTogether> = table<WorkTogether>(
    "work_together", "Time in which exactly these kinds of work ran.",
    field("compute", "computing alone", [](auto& r) { return time_of(r.of[1]); }),
    field("communication", "communication alone", [](auto& r) { return time_of(r.of[2]); }),
    field("compute_and_communication", "both, without copies and fills",
          [](auto& r) { return time_of(r.of[3]); }),
    field("memory", "copies and fills alone", [](auto& r) { return time_of(r.of[4]); }),
    field("compute_and_memory", "computing, and copies and fills",
          [](auto& r) { return time_of(r.of[5]); }),
    field("communication_and_memory", "communication, and copies and fills",
          [](auto& r) { return time_of(r.of[6]); }),
    field("compute_and_communication_and_memory", "all three",
          [](auto& r) { return time_of(r.of[7]); }));

template <>
inline constexpr auto kResults<RankAnalysis> = table<RankAnalysis>(
    "rank", "one rank", field<&RankAnalysis::rank>("of the job"),
    field("file", "as given", [](auto&, const RankContext& c) { return words(c.trace.file); }),
    field("device", "as recorded",
          [](auto& r) { return some_if(!r.device.empty(), words(r.device)); }),
    field("accelerator", "of the catalog, for rooflines",
          [](auto& r) {
            return some_if(r.accelerator.has_value(),
                           words(r.accelerator ? r.accelerator->name : ""));
          }),
    fields_within([](auto& r) -> const TemporalBreakdown& { return r.whole; }),
    field<&RankAnalysis::steps>("by time"),
    field("host_during_waits_s", "what the host did while the device waited for it",
          [](auto& r) { return by_name<HostActivity, kHostActivities>(r.host.ns); }),
    field("work_together_s", "time in which exactly these ran",
          [](auto& r) { return WorkTogether{r.overlap}; }),
    field("kernels", "most time first, at most 1,000",
          [](auto& r) { return first(r.kernels, kMostRows); }),
    field<&RankAnalysis::operators>("operators of the framework"),
    field("streams", "by number", [](auto& r) { return streams_of(r); }),
    field<&RankAnalysis::launch>("launches", "launches of device work"),
    field("sections", "most device time first",
          [](auto& r) { return first(r.sections, kMostRows); }),
    field("sequences", "most launches first, at most 100",
          [](auto& r) { return first(r.sequences, kMostSequences); }),
    field("critical_path", "chain of operations that determined when the step ended",
          [](auto& r, const RankContext& c) {
            const auto construction = c.path ? PathConstruction::replay : PathConstruction::hta;
            return InContext<StepPath, PathContext>{c.path ? *c.path : r.critical,
                                                    {construction, c.origin_ns}};
          }),
    field<&RankAnalysis::memory>("by device, where recorded"),
    field<&RankAnalysis::copies>(
        "how fast copies and fills moved memory, by kind, most time first"),
    field<&RankAnalysis::utilization>("share of each bin in which a kernel ran"));

template <>
inline constexpr auto kResults<CommunicationRow> = table<CommunicationRow>(
    "collective", "Equal collectives of one group.",
    field("collective", "which", [](auto& r) { return words(to_text(r.collective)); }),
    field("type", "of the elements; empty: not recorded", [](auto& r) { return words(r.type); }),
    field("group", "what its kernels were matched by", [](auto& r) { return words(r.group); }),
    field("ranks", "of the group", [](auto& r) { return if_recorded(r.ranks); }),
    field("bytes", "of the whole message", [](auto& r) { return if_recorded(r.bytes); }),
    field<&CommunicationRow::instances>("matched over ranks"),
    field<&CommunicationRow::complete>("instances of which every rank is recorded"),
    field<&CommunicationRow::duration>("durations of its kernels"),
    field<&CommunicationRow::transfer>(
        "of each instance the shortest of its ranks, which is without waiting"),
    nanoseconds<&CommunicationRow::waiting_ns>("waiting_s", "of all ranks"),
    nanoseconds<&CommunicationRow::longest_lateness_ns>("longest_lateness_s",
                                                        "last arrival after the first"),
    field<&CommunicationRow::bandwidth>("bytes_per_s", "of all instances together; 0: not known"),
    field<&CommunicationRow::bus_bandwidth>("bus_bytes_per_s",
                                            "of all instances together; 0: not known"),
    field<&CommunicationRow::median_bus_bandwidth>("median_bus_bytes_per_s",
                                                   "of the instance in the middle; 0: not known"));

template <>
inline constexpr auto kResults<RankCommunication> = table<RankCommunication>(
    "communication_of_rank", "Communication of one rank.",
    field<&RankCommunication::rank>("of the job"),
    field<&RankCommunication::kernels>("that communicate"),
    nanoseconds<&RankCommunication::duration_ns>("duration_s", "recorded"),
    nanoseconds<&RankCommunication::transfer_ns>("transfer_s", "without waiting"),
    nanoseconds<&RankCommunication::waiting_ns>("waiting_s", "for others"),
    field<&RankCommunication::arrived_last>("times"),
    nanoseconds<&RankCommunication::caused_waiting_ns>("caused_waiting_s", "of others"));

template <>
inline constexpr auto kResults<CommunicationTable> = table<CommunicationTable>(
    "communication", "Communication of the run.",
    field<&CommunicationTable::matched>("instances seen from several ranks"),
    nanoseconds<&CommunicationTable::transfer_ns>("transfer_s", "summed over instances"),
    field<&CommunicationTable::ranks>("by rank"),
    field("rows", "most time first, at most 1,000",
          [](auto& r) { return first(r.rows, kMostRows); }));

template <>
inline constexpr auto kResults<RunKernelRow> = table<RunKernelRow>(
    "kernel_of_ranks", "One name of kernel, copy or fill, over all ranks.",
    field("name", "as recorded", [](auto& r) { return words(r.name); }),
    field<&RunKernelRow::kind>("what it does"), field<&RunKernelRow::ranks>("that ran it"),
    field<&RunKernelRow::count>("over all ranks"),
    nanoseconds<&RunKernelRow::total_ns>("total_s", "over all ranks"),
    field("mean_s", "over all ranks", [](auto& r) { return Seconds(r.mean_ns() * 1e-9); }),
    field("least_mean_s", "of the fastest rank",
          [](auto& r) { return Seconds(r.least_mean_ns * 1e-9); }),
    field("fastest_rank", "of the job",
          [](auto& r, const AnalysisDocument& c) { return c.analysis.ranks[r.fastest].rank; }),
    field("greatest_mean_s", "of the slowest rank",
          [](auto& r) { return Seconds(r.greatest_mean_ns * 1e-9); }),
    field("slowest_rank", "of the job",
          [](auto& r, const AnalysisDocument& c) { return c.analysis.ranks[r.slowest].rank; }));

template <>
inline constexpr auto kResults<FindingOfRun> = table<FindingOfRun>(
    "finding", "What costs time, and what could be done.",
    field("kind", "which", [](auto& r) { return r.finding.kind; }),
    field("cost_s", "the most that mending it alone could save, over all ranks; earlier_work: 0",
          [](auto& r) { return time_of(r.finding.cost_ns); }),
    field("share", "of the time of all ranks; earlier_work: of what devices did in the steps",
          [](auto& r) { return r.finding.share; }),
    field(
        "worst_rank", "which it costs most",
        [](auto& r, const AnalysisDocument& c) { return c.analysis.ranks[r.finding.worst].rank; }),
    field("worst_share", "of that rank's time", [](auto& r) { return r.finding.worst_share; }),
    field("title", "in words", [](auto& r) { return words(r.text.title); }),
    field("detail", "in words", [](auto& r) { return words(r.text.detail); }),
    field("advice", "what to try", [](auto& r) { return words(r.text.advice); }));

template <>
inline constexpr auto kResults<AnalysisDocument> = table<AnalysisDocument>(
    "analysis", "Where the time of a recorded run went. Durations in seconds.", schema_version<1>(),
    constant("kind", "of document", "trace_analysis"),
    field("preset", "whose definitions", [](auto& r) { return r.analysis.preset; }),
    field("times",
          "whose the times are: simulated of .et files that say so or have no start times, of "
          "graphs, and of runs that --timeline wrote",
          [](auto& r) { return times_of(r.run.source); }),
    field("world_size", "ranks of the job", [](auto& r) { return if_recorded(r.run.world_size); }),
    field("findings", "what costs the most, first", [](auto& r) { return findings_of(r); }),
    field("ranks", "by rank", [](auto& r) { return ranks_of(r); }),
    field("communication", "communication of the run",
          [](auto& r) { return r.analysis.communication; }),
    field("kernels", "over all ranks, most time first, at most 1,000",
          [](auto& r) { return first(r.analysis.kernels, kMostRows); }));

Value analysis_json(const RecordedRun& run, const RunAnalysis& analysis,
                    std::span<const StepPath> paths) {
  const AnalysisDocument document{run, analysis, paths};
  return answer(document, document);
}

const Description& analysis_document() { return description_of<AnalysisDocument>(); }

}  // namespace orrery
