#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "estimate/step_timeline.h"
#include "outcome/invariant.h"
#include "report/drawing/category_style.h"
#include "report/drawing/html_page.h"
#include "report/drawing/pipeline_lanes.h"
#include "report/drawing/plot_svg.h"
#include "report/drawing/svg_chart.h"
#include "report/drawing/table.h"
#include "report/plans/plan_reports.h"

namespace orrery {
namespace {

constexpr std::string_view kBreakdownTitle = "Where the time goes";
constexpr std::string_view kMemoryTitle = "Memory";

double in_gib(ByteCount bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0); }

std::string chip(std::string_view name, std::string_view value) {
  return fmt::format("<span class=\"chip\"><i>{}</i><b>{}</b></span>\n", html_text(name),
                     html_text(value));
}

std::string headline(const HtmlReport& report) {
  const Estimate& e = *report.estimate;
  const Plan& p = e.plan;
  std::string chips;
  const auto degree = [&](std::string_view name, std::int64_t n) {
    if (n > 1) chips += chip(name, grouped(n));
  };
  degree("tensor", p.tp);
  degree("context", p.cp);
  degree("pipeline", p.pp);
  if (p.pp > 1) degree("chunks", p.chunks);
  degree("expert", p.ep);
  degree("data", p.dp);
  if (p.pp > 1) chips += chip("schedule", p.schedule);
  chips += chip("micro-batch", micro_batch_text(p));
  chips += chip("ZeRO", grouped(p.zero));
  chips += chip("recompute", to_text(p.recompute));
  if (!p.recompute_modules.empty()) chips += chip("modules", to_text(p.recompute_modules));
  chips += chip("sequence", grouped(e.training.sequence_length));
  chips += chip("global batch", grouped(e.training.global_batch));
  chips += chip("precision", to_text(e.training.precision));
  return fmt::format(
      "<header>\n<div class=\"eyebrow\">Orrery · {}</div>\n<h1>{} <span>on {}</span></h1>\n"
      "<div class=\"remark\">{}</div>\n<div class=\"chips\">\n{}</div>\n</header>\n",
      report.found.search != nullptr ? "best plan" : "estimate",
      html_text(model_in_words(report.subject)), html_text(report.subject.cluster),
      html_text(in_words(report.subject.size)), chips);
}

std::string tiles(const Estimate& e, const Subject& subject) {
  const std::string_view unit = subject.size.unit;
  const double share = orrery::share(e.peak_memory, e.memory_capacity);
  const std::string memory = fmt::format(
      "<div class=\"meter\"><div class=\"{}\" style=\"width:{:.1f}%\"></div></div>"
      "<div class=\"more\">of {} · <b class=\"{}\">{}</b></div>",
      style_of(e.verdict).tone, std::clamp(share, 0.0, 1.0) * 100,
      html_text(gibibytes(e.memory_capacity)), style_of(e.verdict).tone,
      html_text(style_of(e.verdict).words));
  return "<div class=\"tiles\">\n" +
         html_tile("Step time", to_text(e.step_time),
                   counted(e.microbatches, "microbatch", "microbatches")) +
         html_tile("MFU", mfu_words(e), "HFU " + percent(e.hfu)) +
         html_tile("Achieved per " + subject.accelerator, to_text(e.achieved_per_gpu),
                   "on " + counted(e.gpus, subject.accelerator)) +
         html_tile(
             "Throughput", fmt::format("{} {}s/s", compact(e.tokens_per_second), unit),
             fmt::format("{} {}s/s per {}", compact(e.gpus > 0 ? e.tokens_per_second / e.gpus : 0),
                         unit, subject.accelerator)) +
         html_tile_with("Peak memory", gibibytes(e.peak_memory), memory) + "</div>\n" +
         fmt::format("<p class=\"interval\"><b>{} {} to {}</b> {}</p>\n", interval_name(e.interval),
                     html_text(to_text(e.interval.low)), html_text(to_text(e.interval.high)),
                     html_text(interval_sentence(e.interval)));
}

// `sections` is the rest of the page.
std::string findings(const HtmlReport& report, std::string_view sections) {
  std::string out;
  const auto add = [&](const std::string& sentence, const std::string& link) {
    out += "<div class=\"finding\">" + html_text(sentence) + link + "</div>\n";
  };
  const Estimate& e = *report.estimate;
  if (!e.bottleneck.empty()) add(e.bottleneck, html_link(kBreakdownTitle, sections));
  if (e.verdict != Verdict::fits) {
    add(std::string(style_of(e.verdict).words) + ": " + gibibytes(e.peak_memory) + " expected, " +
            gibibytes(e.pessimistic_memory) + " at worst, of " + gibibytes(e.memory_capacity),
        html_link(kMemoryTitle, sections));
  }
  return out;
}

std::string breakdown(const Estimate& e) {
  std::vector<ChartSegment> segments;
  for (const BreakdownSection& group : sections(e.breakdown)) {
    for (const BreakdownLine& line : group.lines) {
      const std::string title(label(line.category));
      const std::string exposed = is_exposed_communication(line.category) ? "exposed " : "";
      segments.push_back(
          {std::string(to_text(line.category)), line.time.count(), title,
           fmt::format("{}{} · {} · {}", exposed, title, to_text(line.time.seconds()),
                       percent_of_tenths(line.tenths))});
    }
  }
  std::string remark = "where two things overlap, the time belongs to computing";
  if (e.stages.size() > 1) {
    remark = fmt::format("stage {} of {}, the last to end; {}", e.critical_stage, e.stages.size(),
                         remark);
  }
  return html_section(kBreakdownTitle, remark,
                      stacked_bar_svg(segments) + breakdown_table(e.breakdown).html());
}

std::string memory_composition(const Estimate& e, std::size_t stage) {
  const MemoryReport& memory = e.stages[stage].memory;
  std::string moment = memory.moment.empty() ? "" : " · " + html_text(memory.moment);
  if (!memory.rank_class.empty()) moment += " · on " + html_text(memory.rank_class);
  return fmt::format("<h3>Stage {}, the fullest{}</h3>\n", stage, moment) +
         memory_table(e, memory).html();
}

std::string memory(const Estimate& e, const std::string& accelerator) {
  if (e.stages.empty()) return "";
  ColumnChart chart;
  chart.name = "memory of a " + accelerator + " by pipeline stage";
  chart.unit = "GiB of a " + accelerator + ", expected peak";
  chart.axis = "pipeline stage";
  chart.limit = in_gib(e.memory_capacity);
  chart.limit_label = gibibytes(e.memory_capacity) + " capacity";
  for (std::size_t i = 0; i < e.stages.size(); ++i) {
    ChartColumn column;
    column.label = std::to_string(i);
    for (const MemoryPart& part : parts_of(e.stages[i].memory)) {
      column.segments.push_back(
          {std::string(part.css_class), in_gib(part.bytes), "",
           fmt::format("stage {} · {} · {} of {}", i, part.label, gibibytes(part.bytes),
                       gibibytes(e.stages[i].memory.peak))});
    }
    chart.columns.push_back(std::move(column));
  }
  std::vector<std::pair<std::string, std::string>> legend;
  for (const MemoryPart& part : parts_of({})) {
    legend.emplace_back(part.label, part.css_class);
  }
  return html_section(
      kMemoryTitle, "what a " + accelerator + " of each pipeline stage holds at its fullest moment",
      column_chart_svg(chart) + html_legend(legend) + memory_composition(e, *fullest_stage(e)));
}

std::string stages(const Estimate& e) {
  if (e.stages.size() < 2) return "";
  return html_section("Stages", "forward and backward of one microbatch, all chunks",
                      stage_table(e, false, e.stages.size()));
}

std::string pipeline(const HtmlReport& report) {
  const PipelineDrawing drawing = pipeline_svg(report.pipeline, report.estimate->critical_stage);
  if (drawing.svg.empty()) return "";
  std::string remark = "time to the right, one row a stage, microbatch numbers where they fit";
  if (!drawing.remark.empty()) remark += "; " + drawing.remark;
  return html_section(
      "Pipeline", remark,
      "<label class=\"zoom\" hidden>zoom <input type=\"range\" min=\"0\" max=\"6\" step=\"0.1\" "
      "value=\"0\"></label>\n<div class=\"scroll\">" +
          drawing.svg + "</div>\n" + drawing.legend);
}

std::string counts(const SearchResult& r, Seconds elapsed) {
  return counts_sentence(r) + (elapsed.value() > 0 ? ", in " + to_text(elapsed) : "") +
         (r.interrupted ? "; interrupted: the best so far" : "");
}

std::string best_plans(const SearchResult& r, std::span<const HealthyRun> runs) {
  std::string out = plans_table(r, runs).html();
  if (const std::string note = notes_of(r); !note.empty()) {
    out += "<p class=\"source\">" + html_text(note) + "</p>\n";
  }
  const auto pasted = [](const Plan& plan) {
    return "<p><code>--plan " + html_text(plan_settings(plan)) + "</code></p>";
  };
  out += pasted(r.plans.front().plan);
  if (!r.surely_fitting) return out;
  return out + "<p>" + html_text(surely_fitting_sentence(r)) + "</p>" +
         pasted(r.surely_fitting->plan);
}

// From the round number below the least to that above the most, with room for labels.
PlotAxis axis_around(std::string title, const PlotLine& line, double PlotLine::value_type::* of,
                     int most_ticks) {
  const auto [low, high] = std::ranges::minmax(line, {}, of);
  const double spread = high.*of > low.*of ? high.*of - low.*of : std::max(high.*of, 1.0) * 0.1;
  const double step = nice_step(spread * 1.1, most_ticks);
  return linear_axis(std::move(title), std::floor((low.*of - 0.05 * spread) / step) * step,
                     std::ceil((high.*of + 0.05 * spread) / step) * step, most_ticks);
}

std::string front(const SearchResult& r, const std::string& accelerator) {
  using Point = PlotLine::value_type;
  PlotLine line;
  for (const Estimate& e : r.pareto) line.emplace_back(in_gib(e.peak_memory), e.step_time.value());
  Plot plot{.name = "step time against memory of the plans no other is better than in both",
            .x = axis_around("peak memory of a " + accelerator + ", GiB", line, &Point::first, 8),
            .y = axis_around("step time, s", line, &Point::second, 5),
            .curves = {{.points = line, .css_class = "front"}},
            .height = 320,
            .width = svg::kWidth};
  for (const Estimate& e : r.pareto) {
    const bool end = &e == &r.pareto.front() || &e == &r.pareto.back();
    plot.points.push_back(
        {in_gib(e.peak_memory), e.step_time.value(), end ? plan_settings(e.plan) : "",
         fmt::format("{} · {} · {} · MFU {}", plan_settings(e.plan), to_text(e.step_time),
                     gibibytes(e.peak_memory), percent(e.mfu)),
         "c-accent"});
  }
  return plot_svg(plot);
}

// The ranking.
std::string ranking(const SearchResult& r, Seconds elapsed, std::span<const HealthyRun> runs) {
  return r.plans.empty()
             ? html_section("No plan fits", counts(r, elapsed), misses_table(r.least_memory))
             : html_section("Best plans", counts(r, elapsed), best_plans(r, runs));
}

// Why the first won, Pareto front, near misses.
std::string search_sections(const SearchResult& r, const std::string& accelerator) {
  if (r.plans.empty()) return "";
  std::string out = html_section("Why it won", "the best plan with another value on one axis",
                                 runners_up_table(r));
  if (r.pareto.size() > 1) {
    out += html_section("Step time against memory", "no plan is better than these in both",
                        front(r, accelerator));
  }
  return out + html_section("Would have been faster, but does not fit",
                            "their step time cannot be below the bound",
                            misses_table(r.near_misses));
}

std::string derivations(std::span<const Derivation> list) {
  if (list.empty()) return "";
  std::string body;
  for (const Derivation& d : list) {
    body += fmt::format("<details><summary>{}<output>{}</output></summary>\n<p><code>{}</code></p>",
                        html_text(d.figure), html_text(d.value), html_text(d.formula));
    if (!d.inputs.empty()) body += fmt::format("<p><code>= {}</code></p>", html_text(d.inputs));
    if (!d.source.empty()) body += fmt::format("<p class=\"source\">{}</p>", html_text(d.source));
    body += "</details>\n";
  }
  return html_section("Derivations", "where each figure comes from", body);
}

// What each mesh axis sends over each level; the darker, the larger the share of the level's bytes.
std::string traffic_section(const HtmlReport& report) {
  if (!report.traffic || report.traffic->axes.empty()) return "";
  const StepTraffic& traffic = *report.traffic;
  HeatTable table{.corner = "mesh axis"};
  for (const LevelTraffic& level : traffic.levels) table.columns.push_back(level.level);
  for (const AxisTraffic& axis : traffic.axes) {
    HeatRow& row = table.rows.emplace_back(HeatRow{axis.axis});
    for (std::size_t l = 0; l < traffic.levels.size(); ++l) {
      const Bytes sent = axis.by_level[l];
      const double part = sent > Bytes(0) ? sent / traffic.levels[l].bytes : 0;
      row.cells.push_back({sent > Bytes(0) ? to_text(sent) : "-", part,
                           fmt::format("{}: {} of the bytes over {}", axis.axis, percent(part),
                                       traffic.levels[l].level)});
    }
  }
  HeatRow& use = table.rows.emplace_back(HeatRow{"links are busy"});
  for (const LevelTraffic& level : traffic.levels) {
    use.cells.push_back({percent(level.use), level.use,
                         fmt::format("{} at its rate would take {} of the step",
                                     to_text(level.bytes), percent(level.use))});
  }
  std::string body = heat_table_html(table);
  for (const LevelTraffic& level : traffic.levels) {
    if (!(level.use > 0)) continue;
    TimeChart chart{.name = "use of the links of " + level.level + " over the step",
                    .unit = "%",
                    .series = {{"accent", level.level, {}}},
                    .seconds = report.estimate->step_time.value()};
    for (const double share : level.over_time) chart.series.front().values.push_back(100 * share);
    body += fmt::format("<h3>{} over the step, of its rate</h3>\n", html_text(level.level)) +
            time_chart_svg(chart);
  }
  return html_section("Network",
                      fmt::format("bytes that leave a unit below each level, of one {} in one "
                                  "step, and the share of the step in which they fill its links",
                                  report.subject.accelerator),
                      body);
}

// Shares of the kernels' time, in the colours of the lines of the breakdown that they are part of.
std::string operators(const std::vector<OperatorShare>& all) {
  if (all.empty()) return "";
  std::vector<ChartSegment> segments;
  for (const OperatorShare& o : all) {
    segments.push_back(
        {std::string(to_text(o.category)), o.time.value(), o.name,
         fmt::format("{} · {} · {}", o.name, to_text(o.time), percent(o.time_share))});
  }
  return html_section(
      "Operators", "kernels of one microbatch, all layers, forward and backward",
      stacked_bar_svg(segments, "shares of the operators") + operator_table(all).html());
}

}  // namespace

std::string html_report(const HtmlReport& report) {
  ORRERY_INVARIANT(report.estimate != nullptr);
  const Estimate& e = *report.estimate;
  std::string sections;
  if (report.found.search != nullptr) {
    sections = search_sections(*report.found.search, report.subject.accelerator);
  }
  if (report.found.sites != nullptr) sections += across_sites_html(*report.found.sites);
  sections += breakdown(e) + operators(report.operators) + memory(e, report.subject.accelerator) +
              pipeline(report) + stages(e) + traffic_section(report) +
              derivations(report.derivations) + html_assumed(e.assumed);
  std::string body = headline(report);
  if (report.found.search != nullptr)
    body += ranking(*report.found.search, report.found.elapsed, report.found.runs);
  body += tiles(e, report.subject);
  if (!report.found.runs.empty()) body += healthy_run_tiles(report.found.runs.front());
  body += findings(report, sections) + sections;
  body += "<footer>" + html_text(plan_sentence(e.plan, report.subject.accelerator)) + "<br>" +
          html_text(training_sentence(e.training)) + "</footer>\n";
  return html_page(fmt::format("{} on {}", model_in_words(report.subject), report.subject.cluster),
                   body);
}

std::string step_html(const PredictedStep& step, const Estimate& estimate, const FoundBy& found) {
  const std::vector<PipelineSpan> spans = pipeline_spans(step);
  const std::vector<Derivation> derivations = explain(step, estimate);
  HtmlReport report;
  report.subject = subject_of(step.priced->scenario);
  report.estimate = &estimate;
  report.pipeline = spans;
  report.derivations = derivations;
  report.found = found;
  report.operators = operator_shares(step).operators;
  // Of a step whose expanded graph is too large, the page leaves it out.
  if (auto sent = traffic(step)) report.traffic = std::move(*sent);
  return html_report(report);
}

}  // namespace orrery
