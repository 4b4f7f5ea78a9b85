#include "report/analysis_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/category_style.h"
#include "report/figures.h"
#include "report/html_page.h"
#include "report/html_parts.h"
#include "report/html_text.h"
#include "report/recorded_style.h"
#include "report/svg_chart.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr std::size_t kMostColumns = 256;  // of a chart

std::string count(std::int64_t n) { return grouped(n); }

std::string legend() {
  std::string out = "<div class=\"legend\">";
  for (const RecordedPart& part : parts_of(TemporalBreakdown{})) {
    out += fmt::format("<span style=\"--swatch:var(--{})\">{}</span>", name(part.colour),
                       html_text(part.label));
  }
  return out + "</div>";
}

ChartColumn column_of(const std::string& label, const TemporalBreakdown& b) {
  ChartColumn column = {.label = label, .segments = {}};
  for (const RecordedPart& part : parts_of(b)) {
    column.segments.push_back(
        {.css_class = std::string(name(part.colour)),
         .value = seconds(part.ns) * 1e3,
         .label = "",
         .tip = fmt::format("{}: {} {}", label, part.label, time_text(part.ns))});
  }
  return column;
}

std::string breakdown_section(const RunAnalysis& analysis) {
  ColumnChart chart = {.name = "where the time went",
                       .columns = {},
                       .unit = "ms",
                       .limit_label = {},
                       .axis = "rank and step"};
  for (const RankAnalysis& rank : analysis.ranks) {
    if (rank.steps.empty()) {
      chart.columns.push_back(column_of(fmt::format("rank {}", rank.rank), rank.whole));
    }
    for (const StepAnalysis& step : rank.steps) {
      chart.columns.push_back(
          column_of(fmt::format("{} #{}", rank.rank, step.step.number), step.parts));
    }
  }
  if (chart.columns.size() > kMostColumns) chart.columns.resize(kMostColumns);
  return html_section("Where the time of the device went",
                      "of each rank in each step, by the window of the step on the host",
                      column_chart_svg(chart) + legend());
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
  if (analysis.ranks.size() < 2 || steps.empty() || steps.size() > kMostColumns) return "";
  std::string table = "<div class=\"scroll\"><table><thead><tr><th>rank</th>";
  for (const auto& [number, unused] : steps)
    table += fmt::format("<th class=\"n\">#{}</th>", number);
  table += "</tr></thead><tbody>\n";
  for (const RankAnalysis& rank : analysis.ranks) {
    table += fmt::format("<tr><td>{}</td>", rank.rank);
    for (const auto& [number, unused] : steps) {
      const auto it = std::find_if(
          rank.steps.begin(), rank.steps.end(),
          [number = number](const StepAnalysis& s) { return s.step.number == number; });
      if (it == rank.steps.end()) {
        table += "<td></td>";
        continue;
      }
      const std::int64_t ns = part(it->parts);
      const double heat = most > 0 ? static_cast<double>(ns) / static_cast<double>(most) : 0;
      table += fmt::format(
          "<td class=\"n\" style=\"background:color-mix(in srgb,var(--{}) {:.0f}%,transparent)\" "
          "data-tip=\"rank {}, step {}: {}\">{}</td>",
          name(Category::exposed_tp), heat * 85, rank.rank, number, time_text(ns), time_text(ns));
    }
    table += "</tr>\n";
  }
  return html_section(title, remark, table + "</tbody></table></div>");
}

std::string communication_section(const RunAnalysis& analysis, const AnalysisView& view) {
  const CommunicationTable& communication = analysis.communication;
  if (communication.rows.empty()) return "";
  std::vector<HtmlRow> rows;
  for (std::size_t i = 0; i < std::min(view.rows, communication.rows.size()); ++i) {
    const CommunicationRow& row = communication.rows[i];
    const BytesPerSecond bus = row.bus_bandwidth();
    const std::string bound = row.complete < row.instances ? "at least " : "";
    rows.push_back(
        {.cells = {std::string(name(row.collective)), row.type, row.group,
                   row.ranks == kNotRecorded ? "?" : count(row.ranks),
                   row.bytes == kNotRecorded ? "?" : to_text(Bytes(static_cast<double>(row.bytes))),
                   count(row.instances), time_text(row.duration.median_ns),
                   time_text(row.transfer.median_ns), bus.value() > 0 ? bound + to_text(bus) : "",
                   time_text(row.waiting_ns)},
         .css_class = {}});
  }
  std::string body = html_table({{"collective"},
                                 {"type"},
                                 {"group"},
                                 {"ranks", true},
                                 {"size", true},
                                 {"count", true},
                                 {"duration", true},
                                 {"transfer", true},
                                 {"bus bandwidth", true},
                                 {"waiting", true}},
                                rows);
  if (analysis.ranks.size() > 1) {
    ColumnChart chart = {.name = "communication by rank",
                         .columns = {},
                         .unit = "ms",
                         .limit_label = {},
                         .axis = "rank"};
    for (const RankCommunication& rank : communication.ranks) {
      const std::string label = std::to_string(rank.rank);
      chart.columns.push_back(
          {.label = label,
           .segments = {
               {.css_class = std::string(name(Category::exposed_tp)),
                .value = seconds(rank.transfer_ns) * 1e3,
                .label = "",
                .tip = fmt::format("rank {}: transfer {}", label, time_text(rank.transfer_ns))},
               {.css_class = std::string(name(Category::bubble)),
                .value = seconds(rank.waiting_ns) * 1e3,
                .label = "",
                .tip = fmt::format("rank {}: waiting {}; arrived last {} times, others "
                                   "waited {} for it",
                                   label, time_text(rank.waiting_ns), rank.arrived_last,
                                   time_text(rank.caused_waiting_ns))}}});
    }
    if (chart.columns.size() > kMostColumns) chart.columns.resize(kMostColumns);
    body += "<h3>Transfer (orange) and waiting (grey) of every rank</h3>" + column_chart_svg(chart);
  }
  return html_section("Communication", "medians; transfer: what is left without waiting", body);
}

std::string operator_section(const RecordedTrace& trace, const RankAnalysis& rank,
                             const AnalysisView& view) {
  std::vector<HtmlRow> rows;
  for (const OperatorRow& row : rank.operators.rows) {
    if (row.own_ns == 0 || rows.size() == view.rows) break;
    rows.push_back({.cells = {short_name(trace.texts[row.name]), printable(trace.texts[row.shapes]),
                              count(row.host.count), time_text(row.own_ns),
                              row.flops.value() > 0 ? to_text(row.flops_rate()) : "",
                              row.bytes.value() > 0 ? to_text(row.bytes_rate()) : "",
                              row.roofline < 0 ? "" : percent(row.roofline)},
                    .css_class = {}});
  }
  if (rows.empty()) return "";
  return html_section(
      "Operators by device time",
      fmt::format("rank {}{}", rank.rank,
                  rank.accelerator ? ", roofline of " + rank.accelerator->name : ""),
      html_table({{"operator"},
                  {"shapes"},
                  {"count", true},
                  {"device", true},
                  {"rate", true},
                  {"bandwidth", true},
                  {"of roofline", true}},
                 rows));
}

std::string kernel_section(const RecordedTrace& trace, const RankAnalysis& rank,
                           const AnalysisView& view) {
  std::vector<HtmlRow> rows;
  for (std::size_t i = 0; i < std::min(view.rows, rank.kernels.size()); ++i) {
    const KernelRow& row = rank.kernels[i];
    rows.push_back({.cells = {short_name(trace.texts[row.name]), std::string(name(row.kind)),
                              count(row.duration.count), time_text(row.duration.total_ns),
                              percent(row.share), to_text(Seconds(row.duration.mean_ns() * 1e-9)),
                              printable(trace.texts[row.caller])},
                    .css_class = {}});
  }
  return html_section("Kernels, copies and fills", fmt::format("rank {}", rank.rank),
                      html_table({{"name"},
                                  {"kind"},
                                  {"count", true},
                                  {"total", true},
                                  {"share", true},
                                  {"mean", true},
                                  {"launched by"}},
                                 rows));
}

std::string path_section(const RecordedTrace& trace, const RankAnalysis& rank,
                         const AnalysisView& view) {
  const PathAnalysis& critical = rank.critical;
  if (critical.path.length_ns == 0) return "";
  static constexpr std::array<Category, CriticalPath::kBounds> kColours = {
      Category::host,       Category::router,    Category::attention_projection,
      Category::exposed_tp, Category::embedding, Category::normalization,
      Category::bubble};
  std::vector<ChartSegment> segments;
  for (std::size_t b = 0; b < CriticalPath::kBounds; ++b) {
    const std::int64_t ns = critical.path.by_bound_ns[b];
    if (ns == 0) continue;
    std::string label(name(static_cast<CriticalPath::Bound>(b)));
    std::replace(label.begin(), label.end(), '_', ' ');
    segments.push_back({.css_class = std::string(name(kColours[b])),
                        .value = seconds(ns),
                        .label = label,
                        .tip = label + ": " + time_text(ns)});
  }
  std::vector<HtmlRow> rows;
  for (std::size_t i = 0; i < std::min(view.rows, critical.rows.size()); ++i) {
    const PathRow& row = critical.rows[i];
    rows.push_back({.cells = {path_name(trace, row), std::string(name(row.bound)), count(row.count),
                              time_text(row.total_ns)},
                    .css_class = {}});
  }
  return html_section(
      "Critical path",
      fmt::format("rank {}, {}: {}", rank.rank, printable(critical.of),
                  time_text(critical.path.length_ns)),
      stacked_bar_svg(segments) +
          html_table({{"on the path"}, {"bound by"}, {"count", true}, {"time", true}}, rows));
}

// The means (utilization) or the largest (memory) of as many groups as a chart has columns.
std::string utilization_section(const RankAnalysis& rank) {
  const std::vector<double>& busy = rank.utilization.busy;
  if (busy.empty()) return "";
  ColumnChart chart = {.name = "utilization over time",
                       .columns = {},
                       .unit = "%",
                       .limit_label = {},
                       .axis = "ms since the first device work"};
  const std::size_t columns = std::min(kMostColumns, busy.size());
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t from = i * busy.size() / columns;
    const std::size_t to = (i + 1) * busy.size() / columns;
    double sum = 0;
    for (std::size_t k = from; k < to; ++k) sum += busy[k];
    const double mean = sum / static_cast<double>(to - from);
    const double at_ms =
        static_cast<double>(from) * static_cast<double>(rank.utilization.bin_ns) * 1e-6;
    chart.columns.push_back(
        {.label = fmt::format("{:.0f}", at_ms),
         .segments = {{.css_class = std::string(name(Category::attention_projection)),
                       .value = mean * 100,
                       .label = "",
                       .tip = fmt::format("{:.0f} ms: {}", at_ms, percent(mean))}}});
  }
  return html_section("Utilization",
                      fmt::format("rank {}, share of time in which a kernel ran; mean {}",
                                  rank.rank, percent(rank.utilization.mean())),
                      column_chart_svg(chart));
}

std::string memory_section(const RankAnalysis& rank) {
  std::string out;
  for (const MemoryTimeline& memory : rank.memory) {
    if (memory.device < 0 || memory.points.empty()) continue;
    ColumnChart chart = {.name = "memory over time",
                         .columns = {},
                         .unit = "GiB",
                         .limit_label = {},
                         .axis = "ms since the first change"};
    const std::vector<MemoryPoint>& points = memory.points;
    const std::size_t columns = std::min(kMostColumns, points.size());
    for (std::size_t i = 0; i < columns; ++i) {
      const auto from = static_cast<std::ptrdiff_t>(i * points.size() / columns);
      const auto to = static_cast<std::ptrdiff_t>((i + 1) * points.size() / columns);
      const MemoryPoint& most = *std::max_element(points.begin() + from, points.begin() + to,
                                                  [](const MemoryPoint& a, const MemoryPoint& b) {
                                                    return a.allocated_bytes < b.allocated_bytes;
                                                  });
      const double at_ms = seconds(most.time_ns - points.front().time_ns) * 1e3;
      chart.columns.push_back(
          {.label = fmt::format("{:.1f}", at_ms),
           .segments = {{.css_class = std::string(name(Category::experts)),
                         .value = static_cast<double>(most.allocated_bytes) / 1073741824.0,
                         .label = "",
                         .tip = fmt::format("{:.1f} ms: {} allocated, {} reserved", at_ms,
                                            gibibytes(most.allocated_bytes),
                                            gibibytes(most.reserved_bytes))}}});
    }
    out += html_section(
        "Memory",
        fmt::format("rank {}, device {}: peak {} allocated, {} reserved", rank.rank, memory.device,
                    gibibytes(memory.peak.allocated_bytes), gibibytes(memory.peak_reserved_bytes)),
        column_chart_svg(chart));
  }
  return out;
}

std::string headline(const RecordedRun& run, const RunAnalysis& analysis) {
  const RankAnalysis& first = analysis.ranks.front();
  const auto given = static_cast<std::int64_t>(analysis.ranks.size());
  return fmt::format(
      "<header>\n<div class=\"eyebrow\">Orrery · recorded run</div>\n"
      "<h1>{} <span>{}</span></h1>\n</header>\n",
      html_text(first.device.empty() ? "A run without accelerators" : first.device),
      run.world_size == kNotRecorded
          ? fmt::format("{} rank{}", count(given), given == 1 ? "" : "s")
          : fmt::format("{} of {} ranks", count(given), count(run.world_size)));
}

}  // namespace

std::string analysis_html(const RecordedRun& run, const RunAnalysis& analysis,
                          const AnalysisView& view) {
  const RecordedTrace& trace = run.ranks[view.rank];
  const RankAnalysis& rank = analysis.ranks[view.rank];
  std::string body = headline(run, analysis) + breakdown_section(analysis);
  body += heat_map(analysis, "Exposed communication of every rank and step",
                   "the darker, the longer; a pale row is a rank that others wait for",
                   [](const TemporalBreakdown& b) { return b.exposed_communication_ns; });
  body += heat_map(analysis, "Idle time of every rank and step", "the darker, the longer",
                   [](const TemporalBreakdown& b) { return b.idle.total_ns(); });
  body += communication_section(analysis, view);
  if (rank.has_device_work()) {
    body += operator_section(trace, rank, view) + kernel_section(trace, rank, view) +
            utilization_section(rank);
  }
  body += memory_section(rank) + path_section(trace, rank, view);
  return html_page("Orrery: recorded run", body);
}

}  // namespace orrery
