#include "report/traces/analysis_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/drawing/bar.h"
#include "report/drawing/category_style.h"
#include "report/drawing/figures.h"
#include "report/drawing/table.h"
#include "report/traces/analysis_tables.h"
#include "report/traces/finding_text.h"
#include "report/traces/path_report.h"
#include "report/traces/recorded_style.h"
#include "report/traces/recording_remarks.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr Ink kBold = {.bold = true};
constexpr Ink kDim = {.dim = true};

std::string count(std::int64_t n) { return grouped(n); }

Cell name_cell(std::string_view name) { return {.text = short_name(name)}; }
Cell time_cell(std::int64_t ns) { return {.text = time_text(ns)}; }

std::string and_more(std::size_t all, std::size_t shown, std::string_view what) {
  return all > shown ? fmt::format("  and {} more {}; --rows shows more, --json all\n",
                                   grouped(static_cast<std::int64_t>(all - shown)), what)
                     : "";
}

// Whose a device of the run is: the turns of another process have a column where there are any.
enum class DeviceSharing : std::uint8_t { none, with_another_process };

DeviceSharing sharing_of(const RunAnalysis& analysis) {
  const bool any =
      std::any_of(analysis.ranks.begin(), analysis.ranks.end(), [&](const RankAnalysis& rank) {
        return rank.whole.idle.other_process_ns > 0 ||
               analyzed_time(rank, analysis.preset).idle.other_process_ns > 0;
      });
  return any ? DeviceSharing::with_another_process : DeviceSharing::none;
}

void add_breakdown(Table& table, const std::string& rank, const std::string& step,
                   const TemporalBreakdown& b, DeviceSharing sharing) {
  std::vector<BarSegment> bar;
  for (const RecordedPart& part : parts_of(b)) {
    bar.push_back(
        {.share = share(part.ns, b.total_ns()), .ink = {.colour = swatch(part.colour).terminal}});
  }
  const auto of = [&](std::int64_t ns) { return Cell{.text = percent(share(ns, b.total_ns()))}; };
  std::vector<Cell> row = {{.text = rank, .ink = kBold},
                           {.text = step},
                           time_cell(b.total_ns()),
                           {.text = {}, .ink = {}, .bar = std::move(bar)},
                           of(b.compute_ns),
                           of(b.exposed_communication_ns),
                           of(b.exposed_copy_ns),
                           of(b.idle.own_host_wait_ns())};
  if (sharing == DeviceSharing::with_another_process) row.push_back(of(b.idle.other_process_ns));
  row.push_back(of(b.idle.kernel_wait_ns));
  row.push_back(of(b.idle.other_ns));
  row.push_back({.text = b.communication_ns == 0 ? "" : percent(b.overlap())});
  table.add_row(std::move(row));
}

// Neither device work nor steps.
bool table_is_empty(const RunAnalysis& analysis) {
  return std::all_of(analysis.ranks.begin(), analysis.ranks.end(), [](const RankAnalysis& rank) {
    return !rank.has_device_work() && rank.steps.empty();
  });
}

std::string findings_section(const RecordedRun& run, const RunAnalysis& analysis,
                             const TextStyle& style) {
  const std::vector<Finding> found = findings(analysis);
  if (found.empty()) return "";
  constexpr int kIndent = 11;
  std::string out =
      heading("What costs the most", "the most that mending each alone could save", style);
  for (const Finding& finding : found) {
    const FindingText text = finding_text(run, analysis, finding);
    std::string paragraph =
        wrapped(fmt::format("{}. {}", finding_title(finding, text), text.detail), kIndent, style);
    const std::string label = fmt::format("  {:>7}  ", finding_label(finding));
    paragraph.replace(0, kIndent, painted(label, kBold, style));
    out += paragraph + wrapped(text.advice, kIndent + 2, style);
  }
  return out;
}

void add_rank(Table& table, const RunAnalysis& analysis, const RankAnalysis& rank, bool every_step,
              DeviceSharing sharing) {
  const std::string name = std::to_string(rank.rank);
  const bool has_steps = analysis.preset == BreakdownPreset::orrery && !rank.steps.empty();
  const bool alone = analysis.ranks.size() == 1;
  if (rank.has_device_work() && (alone || !has_steps)) {
    add_breakdown(table, name, "device", rank.whole, sharing);
  }
  if (!has_steps) return;
  if (!every_step) {
    const std::string label = rank.steps.size() == 1
                                  ? "#" + std::to_string(rank.steps.front().step.number)
                                  : fmt::format("{} steps", rank.steps.size());
    return add_breakdown(table, name, label, analyzed_time(rank, analysis.preset), sharing);
  }
  bool first = !(alone && rank.has_device_work());
  for (const StepAnalysis& step : rank.steps) {
    add_breakdown(table, first ? name : "", "#" + std::to_string(step.step.number), step.parts,
                  sharing);
    first = false;
  }
}

std::string breakdown_section(const RunAnalysis& analysis, const AnalysisView& view,
                              const TextStyle& style) {
  if (table_is_empty(analysis)) return "";
  const DeviceSharing sharing = sharing_of(analysis);
  std::vector<Column> columns = {
      left("rank", 9),     left("step", 8),
      right("time", 9),    {.title = "", .importance = 5, .longest_bar = 24},
      right("compute", 8), right("exposed comm", 8),
      right("copies", 4),  right("idle: host", 7)};
  if (sharing == DeviceSharing::with_another_process) columns.push_back(right("other process", 7));
  columns.push_back(right("kernels", 3));
  columns.push_back(right("other", 6));
  columns.push_back(right("overlap", 6));
  Table table(std::move(columns));
  std::size_t lines = 0;
  for (const RankAnalysis& rank : analysis.ranks)
    lines += std::max<std::size_t>(1, rank.steps.size());
  const bool every_step = lines <= 2 * view.rows;
  const std::size_t shown = std::min(analysis.ranks.size(), 2 * view.rows);
  bool steps = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const RankAnalysis& rank = analysis.ranks[i];
    steps = steps || !rank.steps.empty();
    if (i > 0 && every_step && rank.steps.size() > 1) table.add_rule();
    add_rank(table, analysis, rank, every_step, sharing);
  }
  std::string remark = fmt::format("device: as {} counts", to_text(analysis.preset));
  if (analysis.preset == BreakdownPreset::orrery) {
    remark = !steps ? "device: first to last work"
             : analysis.ranks.size() == 1
                 ? "device: first to last work; steps as the host marked them"
                 : "steps as the host marked them";
  }
  return heading("Where the time of the device went", remark, style) + table.text(style) +
         and_more(analysis.ranks.size(), shown, "ranks");
}

std::string communication_section(const RunAnalysis& analysis, const AnalysisView& view,
                                  const TextStyle& style) {
  const CommunicationTable& communication = analysis.communication;
  if (communication.rows.empty()) return "";
  // The names of collectives stay whole ("reduce-scatter"): type and group are left out before.
  Table table({{.title = "collective", .importance = 9, .shortest = 14},
               left("type", 4),
               left("group", 5),
               right("ranks", 6),
               right("size", 8),
               right("count", 7),
               right("duration", 7),
               right("transfer", 8),
               right("bus bandwidth", 8),
               right("waiting", 7)});
  std::size_t shown = 0;
  for (const CommunicationRow& row : communication.rows) {
    if (shown++ == view.rows) break;
    const BytesPerSecond bus = row.median_bus_bandwidth();
    const std::string bound = row.complete < row.instances ? ">= " : "";
    table.add_row(
        {{.text = std::string(to_text(row.collective)), .ink = kBold},
         {.text = printable(row.type)},
         {.text = printable(row.group), .ink = kDim},
         {.text = row.ranks == kNotRecorded ? "?" : count(row.ranks)},
         {.text = row.bytes == kNotRecorded ? "?" : to_text(Bytes(static_cast<double>(row.bytes)))},
         {.text = count(row.instances)},
         time_cell(row.duration.median_ns),
         time_cell(row.transfer.median_ns),
         {.text = bus.value() > 0 ? bound + to_text(bus) : ""},
         time_cell(row.waiting_ns)});
  }
  std::string out =
      heading("Communication", "medians; transfer: what is left without waiting", style) +
      table.text(style) + and_more(communication.rows.size(), view.rows, "kinds");
  if (analysis.ranks.size() < 2) return out;
  Table ranks({left("rank", 9), right("kernels", 6), right("communicating", 8),
               right("transfer", 8), right("waiting", 9), right("arrived last", 8),
               right("others waited for it", 9)});
  shown = 0;
  for (const RankCommunication& rank : communication.ranks) {
    if (shown++ == 2 * view.rows) break;
    ranks.add_row({{.text = std::to_string(rank.rank), .ink = kBold},
                   {.text = count(rank.kernels)},
                   time_cell(rank.duration_ns),
                   time_cell(rank.transfer_ns),
                   time_cell(rank.waiting_ns),
                   {.text = count(rank.arrived_last)},
                   time_cell(rank.caused_waiting_ns)});
  }
  out += heading(
             "Who waited, and for whom",
             fmt::format("{} communications seen from several ranks", count(communication.matched)),
             style) +
         ranks.text(style) + and_more(communication.ranks.size(), 2 * view.rows, "ranks");
  return out;
}

// What of the device time went to which class of operator.
std::string class_section(const RankAnalysis& rank, const TextStyle& style) {
  const OperatorTotals& all = rank.operators.all;
  const std::int64_t sum = all.device_ns + all.other_ns;
  if (all.device_ns == 0) return "";
  std::vector<std::pair<std::int64_t, std::string>> classes;
  for (std::size_t c = 0; c < kRecordedWorkClasses; ++c) {
    classes.emplace_back(all.by_class_ns[c], to_text(static_cast<RecordedWorkClass>(c)));
  }
  classes.emplace_back(all.other_ns, "other");
  std::stable_sort(classes.begin(), classes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string line;
  for (const auto& [ns, label] : classes) {
    if (ns == 0) continue;
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", label, percent(share(ns, sum)));
  }
  return wrapped("By class: " + line + ".", 2, style);
}

std::string kernel_section(const RecordedTrace& trace, const RankAnalysis& rank,
                           const AnalysisView& view, const TextStyle& style) {
  Table table({{.title = "name", .importance = 9, .shortest = 24},
               left("kind", 4),
               right("count", 6),
               right("total", 9),
               right("share", 8),
               right("mean", 7),
               right("least", 0),
               right("greatest", 0),
               right("occupancy", 0),
               left("launched by", 5)});
  std::size_t shown = 0;
  for (const KernelRow& row : rank.kernels) {
    if (shown++ == view.rows) break;
    table.add_row({name_cell(trace.texts[row.name]),
                   {.text = std::string(to_text(row.kind)), .ink = kDim},
                   {.text = count(row.duration.count)},
                   time_cell(row.duration.total_ns),
                   {.text = percent(row.share)},
                   {.text = to_text(Seconds(row.duration.mean_ns() * 1e-9))},
                   time_cell(row.duration.least_ns),
                   time_cell(row.duration.greatest_ns),
                   {.text = row.occupancy < 0 ? "" : percent(row.occupancy)},
                   {.text = printable(trace.texts[row.caller]), .ink = kDim}});
  }
  return heading("Kernels, copies and fills", fmt::format("rank {}", rank.rank), style) +
         table.text(style) + and_more(rank.kernels.size(), view.rows, "names");
}

std::string operator_section(const RecordedTrace& trace, const RankAnalysis& rank,
                             const AnalysisView& view, const TextStyle& style) {
  Table table({{.title = "operator", .importance = 9, .shortest = 20},
               left("shapes", 6),
               right("count", 6),
               right("device", 9),
               right("mean", 0),
               right("host", 0),
               right("rate", 8),
               right("bandwidth", 7),
               right("of roofline", 8)});
  std::size_t with_device = 0;
  for (const OperatorRow& row : rank.operators.rows) {
    if (row.own_ns == 0) break;  // sorted by it
    if (with_device++ >= view.rows) continue;
    table.add_row({name_cell(trace.texts[row.name]),
                   {.text = printable(trace.texts[row.shapes]), .ink = kDim},
                   {.text = count(row.host.count)},
                   time_cell(row.own_ns),
                   {.text = to_text(Seconds(row.device.mean_ns() * 1e-9))},
                   time_cell(row.host.total_ns),
                   {.text = row.flops.value() > 0 ? to_text(row.flops_rate()) : ""},
                   {.text = row.bytes.value() > 0 ? to_text(row.bytes_rate()) : ""},
                   {.text = row.roofline < 0 ? "" : percent(row.roofline)}});
  }
  if (with_device == 0) return "";
  std::string remark = fmt::format("rank {}", rank.rank);
  if (rank.accelerator) remark += ", roofline of " + rank.accelerator->name;
  std::string out = heading("Operators by device time", remark, style) + table.text(style) +
                    and_more(with_device, view.rows, "rows") + class_section(rank, style);
  const OperatorTotals& all = rank.operators.all;
  if (all.device_ns > 0 && all.flops.value() > 0) {
    out +=
        fmt::format("  {} of known work in {} of device time: {}\n", to_text(all.flops),
                    time_text(all.device_ns), to_text(all.flops / Seconds(seconds(all.device_ns))));
  }
  return out;
}

std::string stream_section(const RecordedTrace& trace, const RankAnalysis& rank,
                           const TextStyle& style) {
  Table table({left("stream", 9), right("work", 7), right("busy", 9), right("idle: host", 7),
               right("kernels", 4), right("other", 6), right("longest queue", 8), right("mean", 5),
               right("full", 4)});
  for (std::size_t i = 0; i < rank.streams.size(); ++i) {
    const StreamRow& row = rank.streams[i];
    const Lane& lane = trace.lanes[row.lane];
    table.add_row({{.text = fmt::format("{}:{}", lane.process, lane.thread), .ink = kBold},
                   {.text = count(row.work)},
                   time_cell(row.busy_ns),
                   time_cell(row.idle.host_wait_ns),
                   time_cell(row.idle.kernel_wait_ns),
                   time_cell(row.idle.other_ns),
                   {.text = count(row.longest_queue)},
                   {.text = fmt::format("{:.1f}", rank.queues[i].mean)},
                   time_cell(rank.queues[i].full_ns)});
  }
  return heading("Streams and their queues", fmt::format("rank {}, device:stream", rank.rank),
                 style) +
         table.text(style);
}

std::string launch_section(const RecordedTrace& trace, const RankAnalysis& rank,
                           const AnalysisView& view, const TextStyle& style) {
  if (rank.launch.rows.empty()) return "";
  Table table({{.title = "launch call", .importance = 9, .shortest = 19},
               right("count", 8),
               right("call", 8),
               right("p90", 0),
               right("delay", 8),
               right("p90", 0),
               right("slow calls", 6),
               right("long delays", 6),
               right("work shorter than call", 7)});
  std::size_t shown = 0;
  for (const LaunchRow& row : rank.launch.rows) {
    if (shown++ == view.rows) break;
    table.add_row({{.text = printable(trace.texts[row.name])},
                   {.text = count(row.call.count)},
                   time_cell(row.call.median_ns),
                   time_cell(row.call.p90_ns),
                   time_cell(row.delay.median_ns),
                   time_cell(row.delay.p90_ns),
                   {.text = count(row.slow_calls)},
                   {.text = count(row.long_delays)},
                   {.text = percent(share(row.shorter_than_call, row.call.count))}});
  }
  std::string out =
      heading("Launches", fmt::format("rank {}, medians", rank.rank), style) + table.text(style);
  if (rank.launch.without_call > 0) {
    out += fmt::format("  {} pieces of device work were launched before the recording began\n",
                       count(rank.launch.without_call));
  }
  return out;
}

std::string path_section(const RecordedTrace& trace, const RankAnalysis& rank,
                         const AnalysisView& view, const TextStyle& style) {
  if (view.rank < view.paths.size()) {
    return step_path_text(view.paths[view.rank], view.rows, style);
  }
  const PathAnalysis& critical = rank.critical;
  if (critical.path.length_ns == 0) return "";
  Table parts({left("bound by", 9), right("time", 9), right("share", 8)});
  for (std::size_t b = 0; b < CriticalPath::kBounds; ++b) {
    const std::int64_t ns = critical.path.by_bound_ns[b];
    if (ns == 0) continue;
    std::string label(to_text(static_cast<CriticalPath::Bound>(b)));
    std::replace(label.begin(), label.end(), '_', ' ');
    parts.add_row({{.text = label, .ink = kBold},
                   time_cell(ns),
                   {.text = percent(share(ns, critical.path.length_ns))}});
  }
  Table table({left("on the path", 9), left("bound by", 6), right("count", 6), right("time", 9),
               right("share", 8)});
  std::size_t shown = 0;
  for (const PathRow& row : critical.rows) {
    if (shown++ == view.rows) break;
    std::string label(to_text(row.bound));
    std::replace(label.begin(), label.end(), '_', ' ');
    table.add_row({{.text = path_name(trace, row)},
                   {.text = label, .ink = kDim},
                   {.text = count(row.count)},
                   time_cell(row.total_ns),
                   {.text = percent(share(row.total_ns, critical.path.length_ns))}});
  }
  const bool synchronized = std::find(trace.kind.begin(), trace.kind.end(),
                                      EventKind::synchronization) != trace.kind.end();
  const std::string doubt =
      synchronized ? ""
                   : wrapped(
                         "No synchronizations are recorded: a call that waited for the device "
                         "counts as the host's. The path of --preset orrery knows such waits.",
                         2, style);
  return heading("Critical path",
                 fmt::format("rank {}, {}: {}, pauses of the host apart", rank.rank,
                             printable(critical.of), path_length_text(critical)),
                 style) +
         doubt + parts.text(style) + "\n" + table.text(style) +
         and_more(critical.rows.size(), view.rows, "names");
}

std::string series_section(const RankAnalysis& rank, const TextStyle& style) {
  std::string out;
  const int width = std::max(20, usable_width(style) - 4);
  if (!rank.utilization.busy.empty()) {
    out +=
        heading("Utilization",
                fmt::format("rank {}, share of each {} in which a kernel ran; mean {}", rank.rank,
                            time_text(rank.utilization.bin_ns), percent(rank.utilization.mean())),
                style) +
        "  " + sparkline(rank.utilization.busy, width, 0, 1) + "\n";
  }
  if (!rank.utilization.multiprocessors.empty()) {
    out += heading("Multiprocessors",
                   fmt::format("share of them that had a block to run, by the grids of kernels; "
                               "mean {}",
                               percent(rank.utilization.mean_multiprocessors())),
                   style) +
           "  " + sparkline(rank.utilization.multiprocessors, width, 0, 1) + "\n";
  }
  for (const MemoryTimeline& memory : rank.memory) {
    if (memory.device < 0) continue;
    std::vector<double> values;
    values.reserve(memory.points.size());
    for (const MemoryPoint& p : memory.points) {
      values.push_back(static_cast<double>(p.allocated_bytes));
    }
    out += heading("Memory",
                   fmt::format("rank {}, device {}: peak {} allocated, {} reserved", rank.rank,
                               memory.device, gibibytes(memory.peak.allocated_bytes),
                               gibibytes(memory.peak_reserved_bytes)),
                   style) +
           "  " + sparkline(values, width) + "\n";
  }
  return out;
}

std::string about(const RecordedRun& run, const RunAnalysis& analysis) {
  const RankAnalysis& first = analysis.ranks.front();
  const auto given = static_cast<std::int64_t>(analysis.ranks.size());
  std::string out = "  " + count(given);
  if (run.world_size == kNotRecorded) {
    out +=
        given == 1 ? " rank, of how many is not recorded" : " ranks, of how many is not recorded";
  } else {
    out += fmt::format(" of {} rank{}", count(run.world_size), run.world_size == 1 ? "" : "s");
  }
  if (!first.device.empty()) out += ", " + printable(first.device);
  if (first.accelerator) out += " (" + first.accelerator->name + ")";
  const bool works = std::any_of(analysis.ranks.begin(), analysis.ranks.end(),
                                 [](const RankAnalysis& rank) { return rank.has_device_work(); });
  if (!works) out += "; no work of an accelerator is recorded";
  if (run.source == RunSource::predicted_trace || run.source == RunSource::replayed_run) {
    out += "; simulated: the files say that their times are";
  } else if (is_simulated(run.source)) {
    out += "; simulated: the files hold no start times";
  }
  return out + "\n";
}

}  // namespace

std::string analysis_text(const RecordedRun& run, const RunAnalysis& analysis,
                          const AnalysisView& view, const TextStyle& style) {
  const RecordedTrace& trace = run.ranks[view.rank];
  const RankAnalysis& rank = analysis.ranks[view.rank];
  std::string out = about(run, analysis);
  for (const std::string& remark : recording_remarks(run.ranks)) out += wrapped(remark, 2, style);
  if (const std::string line = headline_text(analysis); !line.empty()) {
    out += wrapped(line, 2, style);
  }
  out += findings_section(run, analysis, style) + breakdown_section(analysis, view, style) +
         communication_section(analysis, view, style);
  if (rank.has_device_work()) {
    out += operator_section(trace, rank, view, style) + kernel_section(trace, rank, view, style) +
           stream_section(trace, rank, style) + launch_section(trace, rank, view, style);
  }
  out += path_section(trace, rank, view, style) + series_section(rank, style);
  if (view.more == MoreTables::all) out += analysis_tables_text(run, analysis, view, style);
  return out;
}

}  // namespace orrery
