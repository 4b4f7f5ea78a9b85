#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/drawing/html_page.h"
#include "report/drawing/plot_svg.h"
#include "report/drawing/svg_chart.h"
#include "report/drawing/table.h"
#include "report/traces/analysis_tables.h"
#include "report/traces/recorded_style.h"
#include "report/traces/trace_reports.h"

namespace orrery {
namespace {

constexpr std::size_t kMostColumns = 256;  // of a chart
constexpr std::size_t kMostPageRows = 96;  // of ranks and steps

// Turns of another process are rare: without any they are no part.
std::string legend(bool shares_device) {
  std::vector<std::pair<std::string, Category>> entries;
  for (const RecordedPart& part : parts_of(TemporalBreakdown{})) {
    if (part.key == "idle_other_process" && !shares_device) continue;
    entries.emplace_back(part.label, part.colour);
  }
  return html_legend(entries);
}

std::string tiles(const RunAnalysis& analysis) {
  std::int64_t windows = 0;
  TemporalBreakdown sum;
  double utilization = 0;
  double flops = 0;
  std::int64_t device_ns = 0;
  std::int64_t ranks = 0;
  std::int64_t peak = 0;
  for (const RankAnalysis& rank : analysis.ranks) {
    if (!rank.has_device_work()) continue;
    sum += analyzed_time(rank, analysis.preset);
    const bool by_steps = analysis.preset == BreakdownPreset::orrery && !rank.steps.empty();
    windows += by_steps ? static_cast<std::int64_t>(rank.steps.size()) : 1;
    utilization += rank.utilization.mean();
    flops += rank.operators.all.flops.value();
    device_ns += rank.whole.total_ns();
    for (const MemoryTimeline& memory : rank.memory) {
      if (memory.device >= 0) peak = std::max(peak, memory.peak.allocated_bytes);
    }
    ++ranks;
  }
  const std::int64_t all = sum.total_ns();
  if (ranks == 0 || all == 0) return "";
  const bool steps = windows > ranks || (analysis.preset == BreakdownPreset::orrery &&
                                         !analysis.ranks.front().steps.empty());
  std::string out = "<div class=\"tiles\">\n";
  out += html_tile(steps ? "Step" : "Device, first to last work", time_text(all / windows),
                   fmt::format("mean of {} {}", grouped(windows),
                               steps ? (windows == 1 ? "step" : "steps of ranks")
                                     : (windows == 1 ? "rank" : "ranks")));
  out += html_tile("Computing", percent(share(sum.compute_ns, all)),
                   fmt::format("a kernel runs {} of the time",
                               percent(utilization / static_cast<double>(ranks))));
  out += html_tile("Exposed communication", percent(share(sum.exposed_communication_ns, all)),
                   sum.communication_ns == 0
                       ? "none recorded"
                       : percent(share(sum.overlapped_ns, sum.communication_ns)) +
                             " of it runs beside computing");
  std::string idle = percent(share(sum.idle.own_host_wait_ns(), all)) + " waits for the host";
  if (sum.idle.other_process_ns > 0) {
    idle += ", " + percent(share(sum.idle.other_process_ns, all)) + " another process's turns";
  }
  out += html_tile("Idle", percent(share(sum.idle.total_ns(), all)), idle);
  if (flops > 0 && device_ns > 0) {
    out += html_tile("Achieved per device", to_text(Flops(flops) / Seconds(seconds(device_ns))),
                     "of operators whose shapes are known");
  }
  if (peak > 0) out += html_tile("Peak memory", gibibytes(peak), "allocated, of one device");
  return out + "</div>\n";
}

std::string_view section_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::waiting:
    case FindingKind::communication:
      return "Communication";
    case FindingKind::slow_operators:
      return "Operators by device time";
    default:
      return "Where the time of the device went";
  }
}

// `sections` is the rest of the page.
std::string findings_html(const RecordedRun& run, const RunAnalysis& analysis,
                          std::string_view sections) {
  std::string out;
  for (const Finding& finding : findings(analysis)) {
    const FindingText text = finding_text(run, analysis, finding);
    out += fmt::format(
        "<div class=\"finding\"><span class=\"cost\">{}</span><b>{}</b><p>{}</p>"
        "<p class=\"advice\">{}{}</p></div>\n",
        finding_label(finding), html_text(finding_title(finding, text)), html_text(text.detail),
        html_text(text.advice), html_link(section_of(finding.kind), sections));
  }
  return out;
}

std::string breakdown_section(const RunAnalysis& analysis) {
  const Table table = breakdown_table(analysis, kMostPageRows);
  if (table.empty()) return "";
  const bool any_steps = std::ranges::any_of(
      analysis.ranks, [](const RankAnalysis& rank) { return !rank.steps.empty(); });
  std::string remark = any_steps ? "of each rank in each step, by the window of the step"
                                 : "of each rank, from its first to its last work";
  if (analysis.ranks.size() > kMostPageRows) {
    remark += fmt::format("; {} of {} ranks are shown, the JSON has all", kMostPageRows,
                          analysis.ranks.size());
  }
  return html_section("Where the time of the device went", remark,
                      table.html() + legend(shares_device(analysis)));
}

std::string timeline_section(const RunAnalysis& analysis) {
  BandChart chart = {.name = "what the devices did over time",
                     .css_classes = {std::string(to_text(Category::attention_projection)),
                                     std::string(to_text(Category::exposed_tp)),
                                     std::string(to_text(Category::embedding))}};
  for (const RankAnalysis& rank : analysis.ranks) {
    if (!rank.has_device_work() || chart.bands.size() == kMostPageRows) continue;
    const RankTimeline& timeline = rank.timeline;
    chart.seconds = seconds(timeline.window.end - timeline.window.start);
    const TemporalBreakdown time = analyzed_time(rank, analysis.preset);
    chart.bands.push_back(
        {.label = fmt::format("rank {}", rank.rank),
         .tip = fmt::format("rank {}: {} computing, {} exposed communication, {} idle", rank.rank,
                            percent(share(time.compute_ns, time.total_ns())),
                            percent(share(time.exposed_communication_ns, time.total_ns())),
                            percent(share(time.idle.total_ns(), time.total_ns()))),
         .shares = {timeline.compute, timeline.exposed_communication, timeline.exposed_copy}});
  }
  if (chart.bands.empty()) return "";
  return html_section("The devices over time",
                      "computing, exposed communication, copies; what is blank is idle",
                      band_chart_svg(chart));
}

// Rank by step: the darker a cell, the longer its part.
std::string heat_map(const RunAnalysis& analysis, std::string_view title, std::string_view remark,
                     std::int64_t (*part)(const TemporalBreakdown&)) {
  std::map<std::int64_t, std::size_t> steps;
  std::int64_t most = 0;
  for (const RankAnalysis& rank : analysis.ranks) {
    for (const StepAnalysis& step : rank.steps) {
      steps.emplace(step.step.number, 0);
      most = std::max(most, part(step.parts));
    }
  }
  // One step stands in the table above already.
  if (analysis.ranks.size() < 2 || steps.size() < 2 || steps.size() > kMostColumns) return "";
  HeatTable table{.corner = "rank"};
  for (const auto& [number, unused] : steps) table.columns.push_back(fmt::format("#{}", number));
  for (const RankAnalysis& rank : analysis.ranks) {
    HeatRow& row = table.rows.emplace_back(HeatRow{std::to_string(rank.rank)});
    for (const auto& [number, unused] : steps) {
      const auto it = std::ranges::find_if(
          rank.steps, [number = number](const StepAnalysis& s) { return s.step.number == number; });
      if (it == rank.steps.end()) {
        row.cells.push_back({"", -1});
        continue;
      }
      const std::int64_t ns = part(it->parts);
      row.cells.push_back({time_text(ns),
                           most > 0 ? static_cast<double>(ns) / static_cast<double>(most) : 0,
                           fmt::format("rank {}, step {}: {}", rank.rank, number, time_text(ns))});
    }
  }
  return html_section(title, remark, heat_table_html(table));
}

std::string across_section(const RunAnalysis& analysis, const AnalysisView& view) {
  if (analysis.ranks.size() < 2 || analysis.kernels.empty()) return "";
  return html_section("Kernels over all ranks", "means of each rank",
                      across_ranks_table(analysis, std::min<std::size_t>(view.rows, 15)).html());
}

std::string communication_section(const RunAnalysis& analysis, const AnalysisView& view) {
  const CommunicationTable& communication = analysis.communication;
  if (communication.rows.empty()) return "";
  std::string body = communication_table(communication, view.rows).html();
  if (analysis.ranks.size() > 1) {
    ColumnChart chart = {.name = "communication by rank", .unit = "ms", .axis = "rank"};
    for (const RankCommunication& rank : communication.ranks) {
      const std::string label = std::to_string(rank.rank);
      chart.columns.push_back(
          {.label = label,
           .segments = {
               {.css_class = std::string(to_text(Category::exposed_tp)),
                .value = seconds(rank.transfer_ns) * 1e3,
                .tip = fmt::format("rank {}: transfer {}", label, time_text(rank.transfer_ns))},
               {.css_class = std::string(to_text(Category::bubble)),
                .value = seconds(rank.waiting_ns) * 1e3,
                .tip = fmt::format("rank {}: waiting {}; arrived last {} times, others "
                                   "waited {} for it",
                                   label, time_text(rank.waiting_ns), rank.arrived_last,
                                   time_text(rank.caused_waiting_ns))}}});
    }
    if (chart.columns.size() > kMostColumns) chart.columns.resize(kMostColumns);
    body += "<h3>Transfer (orange) and waiting (grey) of every rank</h3>" + column_chart_svg(chart);
    if (std::ranges::any_of(communication.ranks,
                            [](const auto& rank) { return rank.caused_waiting_ns > 0; })) {
      body += "<h3>For whom the others waited</h3>" +
              waiting_table(communication, kMostPageRows).html();
    }
  }
  return html_section("Communication", "medians; transfer: what is left without waiting", body);
}

// Files of predictions do not name what they predict for.
std::string device_text(const RunAnalysis& analysis) {
  const std::string& device = analysis.ranks.front().device;
  if (!device.empty()) return device;
  return std::ranges::any_of(analysis.ranks, &RankAnalysis::has_device_work)
             ? "Accelerators that are not named"
             : "A run without accelerators";
}

std::string headline(const RecordedRun& run, const RunAnalysis& analysis) {
  const auto given = static_cast<std::int64_t>(analysis.ranks.size());
  return html_headline(
      is_simulated(run.source) ? "simulated run" : "recorded run", device_text(analysis),
      run.world_size == kNotRecorded
          ? counted(given, "rank")
          : fmt::format("{} of {} ranks", grouped(given), grouped(run.world_size)));
}

constexpr std::size_t kMostPoints = 300;  // of a chart over time

std::string key_of(Category c) { return std::string(to_text(c)); }

// What holds at each of equal parts of the window: the largest of the part, or the last before it.
std::vector<double> held(const std::vector<MemoryPoint>& points, Interval window,
                         std::int64_t MemoryPoint::* value) {
  const auto bins = static_cast<std::int64_t>(kMostPoints);
  const std::int64_t span = window.end - window.start;
  std::vector<double> out;
  if (span <= 0 || points.empty()) return out;
  std::size_t i = 0;
  std::int64_t now = points.front().*value;
  for (std::int64_t b = 0; b < bins; ++b) {
    const std::int64_t until = window.start + span / bins * (b + 1);
    std::int64_t most = now;
    for (; i < points.size() && points[i].time_ns < until; ++i) {
      now = points[i].*value;
      most = std::max(most, now);
    }
    out.push_back(static_cast<double>(most) / 1073741824.0);
  }
  return out;
}

std::vector<double> thinned(const std::vector<double>& values) {
  if (values.size() <= kMostPoints) return values;
  std::vector<double> out;
  for (std::size_t i = 0; i < kMostPoints; ++i) {
    const std::size_t from = i * values.size() / kMostPoints;
    const std::size_t to = (i + 1) * values.size() / kMostPoints;
    double sum = 0;
    for (std::size_t k = from; k < to; ++k) sum += values[k];
    out.push_back(sum / static_cast<double>(to - from));
  }
  return out;
}

std::string memory_panels(const RankAnalysis& rank, Interval window) {
  std::string out;
  for (const MemoryTimeline& memory : rank.memory) {
    if (memory.device < 0 || memory.points.empty()) continue;
    out +=
        fmt::format("<h3>Memory of device {}: peak {} allocated, {} reserved</h3>", memory.device,
                    gibibytes(memory.peak.allocated_bytes), gibibytes(memory.peak_reserved_bytes));
    Interval shown = window;
    if (shown.end <= shown.start) {
      shown = {memory.points.front().time_ns, memory.points.back().time_ns + 1};
    }
    out += time_chart_svg(
        {.name = "memory over time",
         .unit = "GiB",
         .series = {{.css_class = key_of(Category::experts),
                     .label = "allocated",
                     .values = held(memory.points, shown, &MemoryPoint::allocated_bytes)},
                    {.css_class = key_of(Category::bubble),
                     .label = "reserved",
                     .values = held(memory.points, shown, &MemoryPoint::reserved_bytes)}},
         .seconds = seconds(shown.end - shown.start)});
  }
  return out;
}

std::string over_time_section(const RecordedTrace& trace, const RankAnalysis& rank) {
  const Interval window = rank.utilization.window;
  std::string body;
  if (!rank.utilization.busy.empty()) {
    std::vector<double> busy = thinned(rank.utilization.busy);
    for (double& value : busy) value *= 100;
    body += fmt::format("<h3>Utilization: mean {}</h3>", percent(rank.utilization.mean()));
    TimeChart chart = {.name = "utilization over time",
                       .unit = "%",
                       .series = {{.css_class = key_of(Category::attention_projection),
                                   .label = "share of time in which a kernel ran",
                                   .values = std::move(busy)}},
                       .seconds = seconds(window.end - window.start),
                       .highest = 100};
    if (!rank.utilization.multiprocessors.empty()) {
      std::vector<double> blocks = thinned(rank.utilization.multiprocessors);
      for (double& value : blocks) value *= 100;
      chart.series.push_back({.css_class = key_of(Category::experts),
                              .label = "share of multiprocessors with a block to run",
                              .values = std::move(blocks)});
    }
    body += time_chart_svg(chart);
  }
  static constexpr std::array kColours = {Category::experts,   Category::exposed_tp,
                                          Category::logits,    Category::exposed_cp,
                                          Category::embedding, Category::recompute};
  TimeChart queues = {.name = "queues over time",
                      .unit = "launches not yet begun",
                      .seconds = seconds(window.end - window.start)};
  std::vector<std::pair<std::string, Category>> legend;
  for (std::size_t i = 0; i < rank.queue_series.size() && legend.size() < kColours.size(); ++i) {
    const std::vector<std::int64_t>& longest = rank.queue_series[i].longest;
    if (std::ranges::none_of(longest, [](std::int64_t n) { return n > 0; })) continue;
    const Category colour = kColours[legend.size()];
    legend.emplace_back(fmt::format("stream {}", trace.lanes[rank.streams[i].lane].thread), colour);
    queues.series.push_back({.css_class = key_of(colour),
                             .label = legend.back().first,
                             .values = {longest.begin(), longest.end()}});
  }
  if (!legend.empty()) {
    body += "<h3>Queues of the streams</h3>" + time_chart_svg(queues) + html_legend(legend);
  }
  body += memory_panels(rank, window);
  return body.empty()
             ? ""
             : html_section("Over time",
                            fmt::format("rank {}, since its first device work", rank.rank), body);
}

std::string roofline(const RecordedTrace& trace, const RankAnalysis& rank) {
  if (!rank.accelerator) return "";
  const Accelerator& accelerator = *rank.accelerator;
  RooflineChart chart = {.name = "roofline of " + accelerator.name,
                         .bandwidth = accelerator.memory.bandwidth,
                         .bandwidth_label = to_text(accelerator.memory.bandwidth)};
  std::int64_t all = 0;
  for (const OperatorRow& row : rank.operators.rows) all += row.own_ns;
  std::vector<bool> used(kRecordedWorkClasses, false);
  for (const OperatorRow& row : rank.operators.rows) {
    if (chart.points.size() == 100 || row.own_ns == 0) break;
    if (!row.operator_class || row.bytes.value() <= 0 || row.with_work_ns == 0) continue;
    used[static_cast<std::size_t>(*row.operator_class)] = true;
    const bool is_new = std::ranges::none_of(
        chart.peaks, [&](const RooflinePeak& p) { return p.rate == row.peak; });
    if (is_new && row.peak.value() > 0) {
      chart.peaks.push_back({.label = to_text(row.peak), .rate = row.peak});
    }
    chart.points.push_back(
        {.intensity = row.flops.value() / row.bytes.value(),
         .rate = row.flops_rate(),
         .share = share(row.own_ns, all),
         .css_class = key_of(colour_of(*row.operator_class)),
         .tip = fmt::format("{} {}: {}, {}, {} of the roofline", short_name(trace.texts[row.name]),
                            shortened(printable(trace.texts[row.shapes]), 60),
                            time_text(row.own_ns), to_text(row.flops_rate()),
                            row.roofline < 0 ? "?" : percent(row.roofline))});
  }
  const std::string svg = roofline_svg(chart);
  if (svg.empty()) return "";
  std::vector<std::pair<std::string, Category>> legend;
  for (std::size_t c = 0; c < kRecordedWorkClasses; ++c) {
    const auto which = static_cast<RecordedWorkClass>(c);
    if (used[c]) legend.emplace_back(to_text(which), colour_of(which));
  }
  return svg + html_legend(legend);
}

std::string classes_bar(const RankAnalysis& rank) {
  const OperatorTotals& all = rank.operators.all;
  if (all.device_ns == 0) return "";
  std::vector<ChartSegment> segments;
  for (const auto& [label, ns, colour] : class_times(rank)) {
    segments.push_back({.css_class = key_of(colour),
                        .value = seconds(ns),
                        .label = std::string(label),
                        .tip = fmt::format("{}: {}, {}", label, time_text(ns),
                                           percent(share(ns, all.device_ns + all.other_ns)))});
  }
  return stacked_bar_svg(segments);
}

std::string operator_section(const RecordedTrace& trace, const RankAnalysis& rank,
                             std::size_t rows) {
  const Table table = operator_table(trace, rank, rows);
  if (table.empty()) return "";
  const std::string work = known_work(rank.operators.all);
  std::string body = classes_bar(rank);
  const std::string chart = roofline(trace, rank);
  if (!chart.empty()) {
    body += fmt::format("<h3>Roofline of {}: areas are device time</h3>",
                        html_text(rank.accelerator->name)) +
            chart;
  }
  return html_section("Operators by device time",
                      fmt::format("rank {}{}{}", rank.rank, work.empty() ? "" : ", ", work),
                      body + "<h3>By name and shapes</h3>" + table.html());
}

std::string launches(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows) {
  const Table slow = outlier_table(trace, rank, std::min<std::size_t>(rows, 12), 0);
  return launch_table(trace, rank, rows).html() +
         (slow.empty() ? "" : "<h3>The slowest calls</h3>" + slow.html());
}

std::string rank_sections_html(const RecordedTrace& trace, const RankAnalysis& rank,
                               const AnalysisView& view) {
  std::string out = over_time_section(trace, rank);
  const auto add = [&](bool any, std::string_view title, std::string_view remark,
                       const std::string& body) {
    if (any) out += html_section(title, fmt::format("rank {}{}", rank.rank, remark), body);
  };
  const bool works = rank.has_device_work();
  if (works) out += operator_section(trace, rank, view.rows);
  add(works && !rank.kernels.empty(), "Kernels, copies and fills",
      "; blue computes, orange communicates, light blue moves memory; occupancy of kernels, "
      "bandwidth of copies, where recorded",
      kernel_table(trace, rank, view.rows).html());
  out += view.rank < view.paths.size() ? step_path_html(view.paths[view.rank], view.rows)
                                       : event_path_html(rank.critical, view.rows);
  add(!rank.sections.empty(), "Sections and modules",
      "; device time of what was launched in them, with the sections inside; own: without; "
      "backward: by the operators derived from theirs",
      section_table(rank, view.rows).html());
  add(works && !rank.sequences.empty(), "Sequences of kernels",
      "; launched by one call of an operator: what fusing could join",
      sequence_table(trace, rank, view.rows).html());
  add(works && !rank.streams.empty(), "Streams, their gaps and their queues", ", device:stream",
      stream_table(trace, rank).html());
  add(works && !rank.launch.rows.empty(), "Launches", "", launches(trace, rank, view.rows));
  return out;
}

}  // namespace

std::string analysis_html(const RecordedRun& run, const RunAnalysis& analysis,
                          const AnalysisView& view) {
  const RecordedTrace& trace = run.ranks[view.rank];
  const RankAnalysis& rank = analysis.ranks[view.rank];
  std::string sections = breakdown_section(analysis) + timeline_section(analysis);
  sections += heat_map(analysis, "Exposed communication of every rank and step",
                       "the darker, the longer; a pale row is a rank that others wait for",
                       [](const TemporalBreakdown& b) { return b.exposed_communication_ns; });
  sections += heat_map(analysis, "Idle time of every rank and step", "the darker, the longer",
                       [](const TemporalBreakdown& b) { return b.idle.total_ns(); });
  sections += communication_section(analysis, view) + across_section(analysis, view) +
              rank_sections_html(trace, rank, view);
  return html_page(is_simulated(run.source) ? "Orrery: simulated run" : "Orrery: recorded run",
                   headline(run, analysis) + tiles(analysis) +
                       findings_html(run, analysis, sections) + sections);
}

}  // namespace orrery
