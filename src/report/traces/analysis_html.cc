#include "report/traces/analysis_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/drawing/category_style.h"
#include "report/drawing/figures.h"
#include "report/drawing/html_page.h"
#include "report/drawing/html_parts.h"
#include "report/drawing/html_text.h"
#include "report/drawing/svg_chart.h"
#include "report/drawing/time_chart_svg.h"
#include "report/traces/analysis_html_rank.h"
#include "report/traces/finding_text.h"
#include "report/traces/recorded_style.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr std::size_t kMostColumns = 256;  // of a chart
constexpr std::size_t kMostRows = 96;      // of ranks and steps

std::string count(std::int64_t n) { return grouped(n); }

// Turns of another process are rare: without any they are no part.
std::string legend(std::int64_t other_process_ns) {
  std::string out = "<div class=\"legend\">";
  for (const RecordedPart& part : parts_of(TemporalBreakdown{})) {
    if (part.key == "idle_other_process" && other_process_ns == 0) continue;
    out += fmt::format("<span style=\"--swatch:var(--{})\">{}</span>", to_text(part.colour),
                       html_text(part.label));
  }
  return out + "</div>";
}

std::string tiles(const RunAnalysis& analysis) {
  std::int64_t all = 0;
  std::int64_t windows = 0;
  TemporalBreakdown sum;
  double utilization = 0;
  double flops = 0;
  std::int64_t device_ns = 0;
  std::int64_t ranks = 0;
  std::int64_t peak = 0;
  for (const RankAnalysis& rank : analysis.ranks) {
    if (!rank.has_device_work()) continue;
    const TemporalBreakdown time = analyzed_time(rank, analysis.preset);
    const bool by_steps = analysis.preset == BreakdownPreset::orrery && !rank.steps.empty();
    windows += by_steps ? static_cast<std::int64_t>(rank.steps.size()) : 1;
    all += time.total_ns();
    sum.compute_ns += time.compute_ns;
    sum.exposed_communication_ns += time.exposed_communication_ns;
    sum.idle.host_wait_ns += time.idle.host_wait_ns;
    sum.idle.other_process_ns += time.idle.other_process_ns;
    sum.idle.other_ns += time.idle.other_ns + time.idle.kernel_wait_ns;
    sum.communication_ns += time.communication_ns;
    sum.overlapped_ns += time.overlapped_ns;
    utilization += rank.utilization.mean();
    flops += rank.operators.all.flops.value();
    device_ns += rank.whole.total_ns();
    for (const MemoryTimeline& memory : rank.memory) {
      if (memory.device >= 0) peak = std::max(peak, memory.peak.allocated_bytes);
    }
    ++ranks;
  }
  if (ranks == 0 || all == 0) return "";
  const bool steps = windows > ranks || (analysis.preset == BreakdownPreset::orrery &&
                                         !analysis.ranks.front().steps.empty());
  std::string out = "<div class=\"tiles\">\n";
  out += html_tile(steps ? "Step" : "Device, first to last work", time_text(all / windows),
                   fmt::format("mean of {} {}", count(windows),
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

std::string findings_html(const RecordedRun& run, const RunAnalysis& analysis) {
  std::string out;
  for (const Finding& finding : findings(analysis)) {
    const FindingText text = finding_text(run, analysis, finding);
    out += fmt::format(
        "<div class=\"finding\"><span class=\"cost\">{}</span><b>{}</b><p>{}</p>"
        "<p class=\"advice\">{}</p></div>\n",
        finding_label(finding), html_text(finding_title(finding, text)), html_text(text.detail),
        html_text(text.advice));
  }
  return out;
}

// A row as wide as its time, of its parts.
std::string breakdown_row(const std::string& rank, const std::string& step,
                          const TemporalBreakdown& b, std::int64_t longest) {
  std::string parts;
  for (const RecordedPart& part : parts_of(b)) {
    if (part.ns == 0) continue;
    parts +=
        fmt::format("<i style=\"--swatch:var(--{});width:{:.2f}%\" data-tip=\"{}: {}, {}\"></i>",
                    to_text(part.colour), 100 * share(part.ns, longest), html_text(part.label),
                    time_text(part.ns), percent(share(part.ns, b.total_ns())));
  }
  const auto of = [&](std::int64_t ns) {
    return fmt::format("<td class=\"n\">{}</td>", percent(share(ns, b.total_ns())));
  };
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td "
      "class=\"stack\"><div>{}</div></td>{}{}{}{}"
      "<td class=\"n\">{}</td></tr>\n",
      html_text(rank), html_text(step), time_text(b.total_ns()), parts, of(b.compute_ns),
      of(b.exposed_communication_ns), of(b.exposed_copy_ns), of(b.idle.total_ns()),
      b.communication_ns == 0 ? "" : percent(b.overlap()));
}

std::string breakdown_section(const RunAnalysis& analysis) {
  struct Row {
    std::string rank;
    std::string step;
    TemporalBreakdown parts;
  };
  std::vector<Row> rows;
  std::size_t lines = 0;
  for (const RankAnalysis& rank : analysis.ranks)
    lines += std::max<std::size_t>(1, rank.steps.size());
  const bool every_step = lines <= kMostRows;
  for (const RankAnalysis& rank : analysis.ranks) {
    const std::string name = std::to_string(rank.rank);
    if (analysis.preset != BreakdownPreset::orrery || rank.steps.empty()) {
      if (rank.has_device_work()) rows.push_back({name, "device", rank.whole});
      continue;
    }
    if (!every_step) {
      rows.push_back(
          {name, fmt::format("{} steps", rank.steps.size()), analyzed_time(rank, analysis.preset)});
      continue;
    }
    for (const StepAnalysis& step : rank.steps) {
      rows.push_back({name, "#" + std::to_string(step.step.number), step.parts});
    }
  }
  if (rows.empty()) return "";
  std::int64_t longest = 0;
  std::int64_t other_process_ns = 0;
  for (const Row& row : rows) {
    longest = std::max(longest, row.parts.total_ns());
    other_process_ns += row.parts.idle.other_process_ns;
  }
  std::string table =
      "<div class=\"scroll\"><table><thead><tr><th>rank</th><th>step</th><th class=\"n\">time</th>"
      "<th></th><th class=\"n\">compute</th><th class=\"n\">exposed comm</th>"
      "<th class=\"n\">copies</th><th class=\"n\">idle</th><th "
      "class=\"n\">overlap</th></tr></thead>"
      "<tbody>\n";
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    table += breakdown_row(rows[i].rank, rows[i].step, rows[i].parts, longest);
  }
  table += "</tbody></table></div>";
  const bool any_steps = std::any_of(analysis.ranks.begin(), analysis.ranks.end(),
                                     [](const RankAnalysis& rank) { return !rank.steps.empty(); });
  std::string remark = any_steps ? "of each rank in each step, by the window of the step"
                                 : "of each rank, from its first to its last work";
  if (rows.size() > kMostRows) {
    remark += fmt::format("; {} of {} ranks are shown, the JSON has all", kMostRows, rows.size());
  }
  return html_section("Where the time of the device went", remark,
                      table + legend(other_process_ns));
}

std::string timeline_section(const RunAnalysis& analysis) {
  BandChart chart = {.name = "what the devices did over time",
                     .css_classes = {std::string(to_text(Category::attention_projection)),
                                     std::string(to_text(Category::exposed_tp)),
                                     std::string(to_text(Category::embedding))},
                     .bands = {}};
  for (const RankAnalysis& rank : analysis.ranks) {
    if (!rank.has_device_work() || chart.bands.size() == kMostRows) continue;
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
  std::string table = "<div class=\"scroll\"><table class=\"heat\"><thead><tr><th>rank</th>";
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
          to_text(Category::exposed_tp), heat * 85, rank.rank, number, time_text(ns), time_text(ns));
    }
    table += "</tr>\n";
  }
  return html_section(title, remark, table + "</tbody></table></div>");
}

// Who was waited for, and how the same kernels differ between ranks.
std::string caused_chart(const CommunicationTable& communication) {
  std::vector<HtmlRow> rows;
  std::int64_t most = 0;
  for (const RankCommunication& rank : communication.ranks) {
    most = std::max(most, rank.caused_waiting_ns);
  }
  if (most == 0) return "";
  for (const RankCommunication& rank : communication.ranks) {
    if (rows.size() == kMostRows) break;
    rows.push_back(
        {.cells = {std::to_string(rank.rank), count(rank.kernels), time_text(rank.transfer_ns),
                   time_text(rank.waiting_ns), count(rank.arrived_last),
                   fmt::format("{:.1f} {}", 100 * share(rank.caused_waiting_ns, most),
                               to_text(Category::exposed_pp)),
                   time_text(rank.caused_waiting_ns)},
         .css_class = {}});
  }
  return "<h3>For whom the others waited</h3>" + html_table({{"rank"},
                                                             {"kernels", true},
                                                             {"transfer", true},
                                                             {"waiting", true},
                                                             {"arrived last", true},
                                                             {"", false, true},
                                                             {"others waited for it", true}},
                                                            rows);
}

std::string across_section(const RunAnalysis& analysis, const AnalysisView& view) {
  if (analysis.ranks.size() < 2) return "";
  std::vector<HtmlRow> rows;
  for (const RunKernelRow& row : analysis.kernels) {
    if (rows.size() == std::min<std::size_t>(view.rows, 15)) break;
    rows.push_back(
        {.cells = {shortened(short_name(row.name), 56), std::string(to_text(row.kind)),
                   count(row.ranks), time_text(row.total_ns),
                   to_text(Seconds(row.mean_ns() * 1e-9)),
                   fmt::format("{} (rank {})", to_text(Seconds(row.least_mean_ns * 1e-9)),
                               analysis.ranks[row.fastest].rank),
                   fmt::format("{} (rank {})", to_text(Seconds(row.greatest_mean_ns * 1e-9)),
                               analysis.ranks[row.slowest].rank),
                   fmt::format("{:.2f}", row.spread())},
         .css_class = {},
         .tips = {printable(row.name)}});
  }
  if (rows.empty()) return "";
  return html_section("Kernels over all ranks", "means of each rank",
                      html_table({{"name"},
                                  {"kind"},
                                  {"ranks", true},
                                  {"total", true},
                                  {"mean", true},
                                  {"fastest", true},
                                  {"slowest", true},
                                  {"slowest/fastest", true}},
                                 rows));
}

std::string communication_section(const RunAnalysis& analysis, const AnalysisView& view) {
  const CommunicationTable& communication = analysis.communication;
  if (communication.rows.empty()) return "";
  std::vector<HtmlRow> rows;
  for (std::size_t i = 0; i < std::min(view.rows, communication.rows.size()); ++i) {
    const CommunicationRow& row = communication.rows[i];
    const BytesPerSecond bus = row.median_bus_bandwidth();
    const std::string bound = row.complete < row.instances ? "at least " : "";
    rows.push_back(
        {.cells = {std::string(to_text(row.collective)), row.type, row.group,
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
               {.css_class = std::string(to_text(Category::exposed_tp)),
                .value = seconds(rank.transfer_ns) * 1e3,
                .label = "",
                .tip = fmt::format("rank {}: transfer {}", label, time_text(rank.transfer_ns))},
               {.css_class = std::string(to_text(Category::bubble)),
                .value = seconds(rank.waiting_ns) * 1e3,
                .label = "",
                .tip = fmt::format("rank {}: waiting {}; arrived last {} times, others "
                                   "waited {} for it",
                                   label, time_text(rank.waiting_ns), rank.arrived_last,
                                   time_text(rank.caused_waiting_ns))}}});
    }
    if (chart.columns.size() > kMostColumns) chart.columns.resize(kMostColumns);
    body += "<h3>Transfer (orange) and waiting (grey) of every rank</h3>" +
            column_chart_svg(chart) + caused_chart(communication);
  }
  return html_section("Communication", "medians; transfer: what is left without waiting", body);
}

// Files of predictions do not name what they predict for.
std::string device_text(const RunAnalysis& analysis) {
  const std::string& device = analysis.ranks.front().device;
  if (!device.empty()) return html_text(device);
  const bool any_work =
      std::any_of(analysis.ranks.begin(), analysis.ranks.end(),
                  [](const RankAnalysis& rank) { return rank.has_device_work(); });
  return any_work ? "Accelerators that are not named" : "A run without accelerators";
}

std::string headline(const RecordedRun& run, const RunAnalysis& analysis) {
  const auto given = static_cast<std::int64_t>(analysis.ranks.size());
  return fmt::format(
      "<header>\n<div class=\"eyebrow\">Orrery · {} run</div>\n"
      "<h1>{} <span>{}</span></h1>\n</header>\n",
      is_simulated(run.source) ? "simulated" : "recorded", device_text(analysis),
      run.world_size == kNotRecorded
          ? fmt::format("{} rank{}", count(given), given == 1 ? "" : "s")
          : fmt::format("{} of {} ranks", count(given), count(run.world_size)));
}

}  // namespace

std::string analysis_html(const RecordedRun& run, const RunAnalysis& analysis,
                          const AnalysisView& view) {
  const RecordedTrace& trace = run.ranks[view.rank];
  const RankAnalysis& rank = analysis.ranks[view.rank];
  std::string body = headline(run, analysis) + tiles(analysis) + findings_html(run, analysis) +
                     breakdown_section(analysis) + timeline_section(analysis);
  body += heat_map(analysis, "Exposed communication of every rank and step",
                   "the darker, the longer; a pale row is a rank that others wait for",
                   [](const TemporalBreakdown& b) { return b.exposed_communication_ns; });
  body += heat_map(analysis, "Idle time of every rank and step", "the darker, the longer",
                   [](const TemporalBreakdown& b) { return b.idle.total_ns(); });
  body += communication_section(analysis, view) + across_section(analysis, view) +
          rank_sections_html(trace, rank, view);
  return html_page(is_simulated(run.source) ? "Orrery: simulated run" : "Orrery: recorded run",
                   body);
}

}  // namespace orrery
