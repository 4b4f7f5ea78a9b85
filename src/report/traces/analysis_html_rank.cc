#include "report/traces/analysis_html_rank.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/drawing/category_style.h"
#include "report/drawing/figures.h"
#include "report/drawing/html_parts.h"
#include "report/drawing/html_text.h"
#include "report/drawing/roofline_svg.h"
#include "report/drawing/svg_chart.h"
#include "report/drawing/time_chart_svg.h"
#include "report/traces/analysis_tables.h"
#include "report/traces/finding_text.h"
#include "report/traces/path_report.h"
#include "report/traces/recorded_style.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr std::size_t kMostPoints = 300;  // of a chart over time
constexpr int kLongestName = 56;

std::string key_of(Category c) { return std::string(to_text(c)); }

Category colour_of(WorkKind kind) {
  switch (kind) {
    case WorkKind::communication:
      return Category::exposed_tp;
    case WorkKind::copy:
    case WorkKind::fill:
      return Category::embedding;
    case WorkKind::compute:
    case WorkKind::none:
      break;
  }
  return Category::attention_projection;
}

Category colour_of(RecordedWorkClass c) {
  switch (c) {
    case RecordedWorkClass::product:
      return Category::attention_projection;
    case RecordedWorkClass::convolution:
      return Category::feed_forward;
    case RecordedWorkClass::attention:
      return Category::attention_core;
    case RecordedWorkClass::normalization:
      return Category::recompute;
    case RecordedWorkClass::softmax:
      return Category::exposed_cp;
    case RecordedWorkClass::elementwise:
      return Category::optimizer;
    case RecordedWorkClass::reduction:
      return Category::logits;
    case RecordedWorkClass::movement:
      return Category::embedding;
  }
  return Category::bubble;
}

std::string bar_cell(std::int64_t ns, std::int64_t longest, Category colour) {
  return fmt::format("{:.1f} {}", 100 * share(ns, longest), to_text(colour));
}

std::string swatches(const std::vector<std::pair<std::string, Category>>& entries) {
  std::string out = "<div class=\"legend\">";
  for (const auto& [label, colour] : entries) {
    out += fmt::format("<span style=\"--swatch:var(--{})\">{}</span>", to_text(colour),
                       html_text(label));
  }
  return out + "</div>";
}

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
                      .series = {},
                      .seconds = seconds(window.end - window.start)};
  std::vector<std::pair<std::string, Category>> legend;
  for (std::size_t i = 0; i < rank.queue_series.size() && legend.size() < kColours.size(); ++i) {
    const std::vector<std::int64_t>& longest = rank.queue_series[i].longest;
    if (std::none_of(longest.begin(), longest.end(), [](std::int64_t n) { return n > 0; }))
      continue;
    const Category colour = kColours[legend.size()];
    legend.emplace_back(fmt::format("stream {}", trace.lanes[rank.streams[i].lane].thread), colour);
    queues.series.push_back({.css_class = key_of(colour),
                             .label = legend.back().first,
                             .values = {longest.begin(), longest.end()}});
  }
  if (!legend.empty()) {
    body += "<h3>Queues of the streams</h3>" + time_chart_svg(queues) + swatches(legend);
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
                         .bandwidth_label = to_text(accelerator.memory.bandwidth),
                         .peaks = {},
                         .points = {}};
  std::int64_t all = 0;
  for (const OperatorRow& row : rank.operators.rows) all += row.own_ns;
  std::vector<bool> used(kRecordedWorkClasses, false);
  for (const OperatorRow& row : rank.operators.rows) {
    if (chart.points.size() == 100 || row.own_ns == 0) break;
    if (!row.operator_class || row.bytes.value() <= 0 || row.with_work_ns == 0) continue;
    used[static_cast<std::size_t>(*row.operator_class)] = true;
    const bool is_new = std::none_of(chart.peaks.begin(), chart.peaks.end(),
                                     [&](const RooflinePeak& p) { return p.rate == row.peak; });
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
  return svg + swatches(legend);
}

std::string classes_bar(const RankAnalysis& rank) {
  const OperatorTotals& all = rank.operators.all;
  const std::int64_t sum = all.device_ns + all.other_ns;
  if (all.device_ns == 0) return "";
  std::vector<ChartSegment> segments;
  const auto add = [&](std::string_view label, std::int64_t ns, Category colour) {
    if (ns == 0) return;
    segments.push_back(
        {.css_class = key_of(colour),
         .value = seconds(ns),
         .label = std::string(label),
         .tip = fmt::format("{}: {}, {}", label, time_text(ns), percent(share(ns, sum)))});
  };
  for (std::size_t c = 0; c < kRecordedWorkClasses; ++c) {
    const auto which = static_cast<RecordedWorkClass>(c);
    add(to_text(which), all.by_class_ns[c], colour_of(which));
  }
  add("other", all.other_ns, Category::bubble);
  std::stable_sort(segments.begin(), segments.end(),
                   [](const ChartSegment& a, const ChartSegment& b) { return a.value > b.value; });
  return stacked_bar_svg(segments);
}

std::string operator_section(const RecordedTrace& trace, const RankAnalysis& rank,
                             const AnalysisView& view) {
  std::vector<HtmlRow> rows;
  for (const OperatorRow& row : rank.operators.rows) {
    if (row.own_ns == 0 || rows.size() == view.rows) break;
    const std::string shapes = printable(trace.texts[row.shapes]);
    const Category colour = row.operator_class ? colour_of(*row.operator_class) : Category::bubble;
    rows.push_back({.cells = {shortened(short_name(trace.texts[row.name]), kLongestName),
                              shortened(shapes, kLongestName),
                              bar_cell(row.own_ns, rank.operators.rows.front().own_ns, colour),
                              time_text(row.own_ns), grouped(row.host.count),
                              row.flops.value() > 0 ? to_text(row.flops_rate()) : "",
                              row.bytes.value() > 0 ? to_text(row.bytes_rate()) : "",
                              row.roofline < 0 ? "" : percent(row.roofline)},
                    .css_class = {},
                    .tips = {printable(trace.texts[row.name]), shapes}});
  }
  if (rows.empty()) return "";
  const OperatorTotals& all = rank.operators.all;
  std::string remark = fmt::format("rank {}", rank.rank);
  if (all.device_ns > 0 && all.flops.value() > 0) {
    remark +=
        fmt::format(", {} of known work in {} of device time: {}", to_text(all.flops),
                    time_text(all.device_ns), to_text(all.flops / Seconds(seconds(all.device_ns))));
  }
  std::string body = classes_bar(rank);
  const std::string chart = roofline(trace, rank);
  if (!chart.empty()) {
    body += fmt::format("<h3>Roofline of {}: areas are device time</h3>",
                        html_text(rank.accelerator->name)) +
            chart;
  }
  body += "<h3>By name and shapes</h3>" + html_table({{"operator"},
                                                      {"shapes"},
                                                      {"", false, true},
                                                      {"device", true},
                                                      {"count", true},
                                                      {"rate", true},
                                                      {"bandwidth", true},
                                                      {"of roofline", true}},
                                                     rows);
  return html_section("Operators by device time", remark, body);
}

std::string kernel_section(const RecordedTrace& trace, const RankAnalysis& rank,
                           const AnalysisView& view) {
  std::vector<HtmlRow> rows;
  for (std::size_t i = 0; i < std::min(view.rows, rank.kernels.size()); ++i) {
    const KernelRow& row = rank.kernels[i];
    const std::string bandwidth = row.bytes > 0 && row.duration.total_ns > 0
                                      ? to_text(Bytes(static_cast<double>(row.bytes)) /
                                                Seconds(seconds(row.duration.total_ns)))
                                      : "";
    rows.push_back(
        {.cells = {shortened(short_name(trace.texts[row.name]), kLongestName),
                   bar_cell(row.duration.total_ns, rank.kernels.front().duration.total_ns,
                            colour_of(row.kind)),
                   time_text(row.duration.total_ns), percent(row.share),
                   grouped(row.duration.count), to_text(Seconds(row.duration.mean_ns() * 1e-9)),
                   time_text(row.duration.greatest_ns),
                   row.occupancy < 0 ? bandwidth : percent(row.occupancy),
                   shortened(printable(trace.texts[row.caller]), 32)},
         .css_class = {},
         .tips = {printable(trace.texts[row.name])}});
  }
  if (rows.empty()) return "";
  return html_section(
      "Kernels, copies and fills",
      fmt::format("rank {}; blue computes, orange communicates, light blue moves memory; occupancy "
                  "of kernels, bandwidth of copies, where recorded",
                  rank.rank),
      html_table({{"name"},
                  {"", false, true},
                  {"total", true},
                  {"share", true},
                  {"count", true},
                  {"mean", true},
                  {"longest", true},
                  {"occupancy", true},
                  {"launched by"}},
                 rows));
}

std::string sections_section(const RankAnalysis& rank, const AnalysisView& view) {
  std::vector<HtmlRow> rows;
  for (const SectionRow& row : rank.sections) {
    if (rows.size() == view.rows) break;
    rows.push_back(
        {.cells = {shortened(printable(row.name), kLongestName), std::string(to_text(row.kind)),
                   bar_cell(row.device_ns, rank.sections.front().device_ns,
                            row.kind == SectionKind::module ? Category::feed_forward
                                                            : Category::experts),
                   time_text(row.device_ns), time_text(row.backward_ns), time_text(row.own_ns),
                   time_text(row.host.total_ns), grouped(row.instances), grouped(row.host.count),
                   grouped(row.launched)},
         .css_class = {},
         .tips = {printable(row.name)}});
  }
  if (rows.empty()) return "";
  return html_section("Sections and modules",
                      fmt::format("rank {}; device time of what was launched in them, with the "
                                  "sections inside; own: without; backward: by the operators "
                                  "derived from theirs",
                                  rank.rank),
                      html_table({{"section"},
                                  {"kind"},
                                  {"", false, true},
                                  {"device", true},
                                  {"backward", true},
                                  {"own", true},
                                  {"host", true},
                                  {"instances", true},
                                  {"count", true},
                                  {"launched", true}},
                                 rows));
}

std::string sequences_section(const RecordedTrace& trace, const RankAnalysis& rank,
                              const AnalysisView& view) {
  std::vector<HtmlRow> rows;
  for (const KernelSequence& row : rank.sequences) {
    if (rows.size() == view.rows) break;
    rows.push_back(
        {.cells = {shortened(printable(trace.texts[row.operator_name]), kLongestName),
                   grouped(row.count), grouped(static_cast<std::int64_t>(row.kernels.size())),
                   time_text(row.device_ns), time_text(row.host_ns), sequence_text(trace, row)},
         .css_class = {}});
  }
  if (rows.empty()) return "";
  return html_section(
      "Sequences of kernels",
      fmt::format("rank {}; launched by one call of an operator: what fusing could join",
                  rank.rank),
      html_table({{"operator"},
                  {"count", true},
                  {"kernels", true},
                  {"device", true},
                  {"host", true},
                  {"sequence"}},
                 rows));
}

std::string streams_section(const RecordedTrace& trace, const RankAnalysis& rank) {
  std::vector<HtmlRow> rows;
  for (std::size_t i = 0; i < rank.streams.size(); ++i) {
    const StreamRow& row = rank.streams[i];
    const Lane& lane = trace.lanes[row.lane];
    const auto gaps = [](const Spread& s) {
      return s.count == 0 ? std::string()
                          : fmt::format("{} ({} x, p90 {})", time_text(s.total_ns),
                                        grouped(s.count), time_text(s.p90_ns));
    };
    rows.push_back(
        {.cells = {fmt::format("{}:{}", lane.process, lane.thread), grouped(row.work),
                   time_text(row.busy_ns), gaps(row.gaps[0]), gaps(row.gaps[1]), gaps(row.gaps[2]),
                   grouped(rank.queues[i].longest), fmt::format("{:.1f}", rank.queues[i].mean),
                   time_text(rank.queues[i].full_ns)},
         .css_class = {}});
  }
  if (rows.empty()) return "";
  return html_section("Streams, their gaps and their queues",
                      fmt::format("rank {}, device:stream", rank.rank),
                      html_table({{"stream"},
                                  {"work", true},
                                  {"busy", true},
                                  {"idle: host", true},
                                  {"between kernels", true},
                                  {"other", true},
                                  {"longest queue", true},
                                  {"mean", true},
                                  {"full", true}},
                                 rows));
}

std::string launches_section(const RecordedTrace& trace, const RankAnalysis& rank,
                             const AnalysisView& view) {
  std::vector<HtmlRow> rows;
  for (const LaunchRow& row : rank.launch.rows) {
    if (rows.size() == view.rows) break;
    rows.push_back({.cells = {printable(trace.texts[row.name]), grouped(row.call.count),
                              time_text(row.call.median_ns), time_text(row.call.p90_ns),
                              time_text(row.delay.median_ns), time_text(row.delay.p90_ns),
                              grouped(row.slow_calls), grouped(row.long_delays),
                              percent(share(row.shorter_than_call, row.call.count))},
                    .css_class = {}});
  }
  if (rows.empty()) return "";
  std::string body = html_table({{"call"},
                                 {"count", true},
                                 {"call, median", true},
                                 {"p90", true},
                                 {"delay, median", true},
                                 {"p90", true},
                                 {"slow calls", true},
                                 {"long delays", true},
                                 {"work shorter than call", true}},
                                rows);
  std::vector<HtmlRow> slow;
  for (const LaunchOutlier& one : rank.launch.slow_calls) {
    if (slow.size() == std::min<std::size_t>(view.rows, 12)) break;
    slow.push_back(
        {.cells = {time_text(one.ns), printable(trace.name_of(one.call)),
                   one.caller == kNoEvent ? ""
                                          : shortened(printable(trace.name_of(one.caller)), 40),
                   shortened(short_name(trace.name_of(one.work)), kLongestName)},
         .css_class = {}});
  }
  if (!slow.empty()) {
    body += "<h3>The slowest calls</h3>" +
            html_table({{"call took", true}, {"call"}, {"operator"}, {"work"}}, slow);
  }
  return html_section("Launches", fmt::format("rank {}", rank.rank), body);
}

std::string path_section(const RecordedTrace& trace, const RankAnalysis& rank,
                         const AnalysisView& view) {
  if (view.rank < view.paths.size()) {
    return step_path_html(view.paths[view.rank], view.rows);
  }
  const PathAnalysis& critical = rank.critical;
  if (critical.path.length_ns == 0) return "";
  static constexpr std::array<Category, CriticalPath::kBounds> kColours = {
      Category::host,       Category::router,    Category::attention_projection,
      Category::exposed_tp, Category::embedding, Category::normalization,
      Category::bubble};
  const auto label_of = [](CriticalPath::Bound bound) {
    std::string label(to_text(bound));
    std::replace(label.begin(), label.end(), '_', ' ');
    return label;
  };
  std::vector<ChartSegment> segments;
  for (std::size_t b = 0; b < CriticalPath::kBounds; ++b) {
    const std::int64_t ns = critical.path.by_bound_ns[b];
    if (ns == 0) continue;
    const std::string label = label_of(static_cast<CriticalPath::Bound>(b));
    segments.push_back({.css_class = key_of(kColours[b]),
                        .value = seconds(ns),
                        .label = label,
                        .tip = fmt::format("{}: {}, {}", label, time_text(ns),
                                           percent(share(ns, critical.path.length_ns)))});
  }
  std::vector<HtmlRow> rows;
  for (std::size_t i = 0; i < std::min(view.rows, critical.rows.size()); ++i) {
    const PathRow& row = critical.rows[i];
    const std::string full = path_name(trace, row);
    rows.push_back(
        {.cells = {shortened(full, kLongestName + 12), label_of(row.bound),
                   bar_cell(row.total_ns, critical.rows.front().total_ns,
                            kColours[static_cast<std::size_t>(row.bound)]),
                   time_text(row.total_ns), percent(share(row.total_ns, critical.path.length_ns)),
                   grouped(row.count)},
         .css_class = {},
         .tips = {full}});
  }
  return html_section("Critical path",
                      fmt::format("rank {}, {}: {} in {} steps, pauses of the host apart",
                                  rank.rank, printable(critical.of), path_length_text(critical),
                                  grouped(static_cast<std::int64_t>(critical.path.edges.size()))),
                      stacked_bar_svg(segments) + html_table({{"on the path"},
                                                              {"bound by"},
                                                              {"", false, true},
                                                              {"time", true},
                                                              {"share", true},
                                                              {"count", true}},
                                                             rows));
}

}  // namespace

std::string rank_sections_html(const RecordedTrace& trace, const RankAnalysis& rank,
                               const AnalysisView& view) {
  std::string out = over_time_section(trace, rank);
  if (rank.has_device_work()) {
    out += operator_section(trace, rank, view) + kernel_section(trace, rank, view);
  }
  out += path_section(trace, rank, view) + sections_section(rank, view);
  if (rank.has_device_work()) {
    out += sequences_section(trace, rank, view) + streams_section(trace, rank) +
           launches_section(trace, rank, view);
  }
  return out;
}

}  // namespace orrery
