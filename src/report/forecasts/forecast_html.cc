#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "forecast/ettr.h"
#include "forecast/run_timeline.h"
#include "report/drawing/category_style.h"
#include "report/drawing/html_page.h"
#include "report/drawing/plot_svg.h"
#include "report/drawing/svg_chart.h"
#include "report/forecasts/forecast_reports.h"

namespace orrery {
namespace {

constexpr std::int64_t kMostDrawnInterruptions = 20'000;
constexpr double kClosedFormHolds = 0.02;

std::string wide(const std::string& chart) { return "<div class=\"pan\">" + chart + "</div>\n"; }

std::string finding(std::string_view subject, const std::string& sentence) {
  if (sentence.empty()) return "";
  return fmt::format("<div class=\"finding\">{} {}</div>\n", subject, html_text(sentence));
}

std::string paragraphs(const std::vector<std::string>& sentences) {
  std::string out;
  for (const std::string& one : sentences) {
    out += "<p class=\"source\">" + html_text(one) + "</p>\n";
  }
  return out;
}

// How times are distributed: their histogram, and beside it how likely each is not exceeded.
struct Times {
  std::string of;       // "wall-clock time"
  std::string counted;  // "runs"
  std::span<const Seconds> times;
  std::vector<PlotMark> marks;  // in seconds
  std::vector<PlotMark> of_cdf;
  std::span<const Seconds> others = {};  // a second curve beside the first; may be empty
};

// Wider by marks that are near.
TimeRange with_marks(TimeRange range, const std::vector<PlotMark>& marks) {
  const Seconds near = (range.high - range.low) / 2;
  TimeRange out = range;
  for (const PlotMark& mark : marks) {
    const Seconds at(mark.at);
    if (at < range.low - near || at > range.high + near) continue;
    out = {std::min(out.low, at), std::max(out.high, at)};
  }
  return out;
}

std::string distribution_plots(const Times& t) {
  const TimeRange range = with_marks(usual_range(t.times), t.marks);
  const TimeRange of_cdf = t.others.empty() ? range : with_marks(usual_range(t.others), t.of_cdf);
  const AxisUnit unit = axis_unit_of(range.low);
  const auto marks = [&](const std::vector<PlotMark>& in_seconds, const TimeRange& shown) {
    std::vector<PlotMark> out;
    for (PlotMark mark : in_seconds) {
      if (mark.at < shown.low.value() || mark.at > shown.high.value()) continue;
      mark.at /= unit.one.value();
      out.push_back(std::move(mark));
    }
    return out;
  };
  const auto axis = [&](const TimeRange& shown) {
    return linear_axis(t.of + ", " + unit.name, shown.low / unit.one, shown.high / unit.one, 5);
  };
  const PlotLine bins = histogram_line(t.times, range, unit.one);
  const double most =
      std::ranges::max_element(bins, {}, &std::pair<double, double>::second)->second;
  const Plot histogram{.name = "histogram of the " + t.of,
                       .x = axis(range),
                       .y = linear_axis("% of the " + t.counted, 0, 1.05 * most, 4),
                       .curves = {{.points = bins, .css_class = "body c-accent", .area = true}},
                       .marks = marks(t.marks, range)};
  Plot cumulative{.name = "share of the " + t.counted + " by " + t.of,
                  .x = axis(of_cdf),
                  .y = linear_axis("% of the " + t.counted + " are not longer", 0, 100, 5),
                  .marks = marks(t.of_cdf, of_cdf)};
  if (!t.others.empty()) {
    cumulative.curves.push_back(
        {.points = cdf_line(t.others, of_cdf, unit.one), .css_class = "over thick o-soft"});
  }
  cumulative.curves.push_back(
      {.points = cdf_line(t.times, of_cdf, unit.one), .css_class = "over thick o-accent"});
  return html_halves(plot_svg(histogram), plot_svg(cumulative));
}

std::vector<PlotMark> quantile_marks(const RunForecast& f) {
  std::vector<PlotMark> out{{f.wall.p5.value.value(), "p5 " + span_words(f.wall.p5.value)},
                            {f.wall.p50.value.value(), "median " + span_words(f.wall.p50.value)},
                            {f.wall.p95.value.value(), "p95 " + span_words(f.wall.p95.value)}};
  if (f.within) {
    out.push_back({f.within->value(),
                   fmt::format("{} in {}", percent(f.ends_within.value), span_words(*f.within)),
                   "deadline"});
  }
  return out;
}

std::string run_tiles(const RunForecast& f) {
  const auto between = [](const std::string& low, const std::string& high) {
    return "p5 " + low + " · p95 " + high;
  };
  std::string out = "<div class=\"tiles\">\n" +
                    html_tile("Wall-clock time, median", span_words(f.wall.p50.value),
                              between(span_words(f.wall.p5.value), span_words(f.wall.p95.value))) +
                    html_tile("ETTR, median", percent(f.ettr.p50.value),
                              between(percent(f.ettr.p5.value), percent(f.ettr.p95.value)));
  if (f.price) {
    out += html_tile("Cost, median", dollars(f.cost(f.wall.p50.value)),
                     between(dollars(f.cost(f.wall.p5.value)), dollars(f.cost(f.wall.p95.value))));
  }
  out += html_tile("Interruptions, median", grouped(std::llround(f.interruptions.p50.value)),
                   f.fails() ? "one every " + to_text(f.mean_time_to_failure) : "it never fails");
  return out + "</div>\n";
}

std::string when_it_ends(const RunForecast& f) {
  std::string body;
  if (f.walls.back() > f.walls.front()) {
    const auto marks = quantile_marks(f);
    body = distribution_plots({.of = "wall-clock time",
                               .counted = "runs",
                               .times = f.walls,
                               .marks = marks,
                               .of_cdf = marks});
  }
  return html_section("When it ends", "over the simulated runs, which differ in their failures",
                      body + answer_table(f).html() + paragraphs(spread_sentences(f)));
}

std::string where_time_goes(const RunForecast& f) {
  std::vector<ChartSegment> segments{{std::string(kTraining), f.healthy.value(), "training",
                                      "training · " + span_words(f.healthy)}};
  for (std::size_t i = 0; i < kBadputs; ++i) {
    if (!(f.badput[i] > Seconds(0))) continue;
    const auto badput = static_cast<Badput>(i);
    const std::string name(badput_name(f, badput));
    segments.push_back({std::string(to_text(badput)), f.badput[i].value(), name,
                        fmt::format("{} · {} · {}", name, span_words(f.badput[i]),
                                    percent(f.badput[i] / f.wall.mean))});
  }
  return html_section(
      "Where the time goes", "mean of the runs",
      stacked_bar_svg(segments, "shares of the wall-clock time") + loss_table(f).html());
}

// The length of a row, such that there are few.
Seconds row_of_run(Seconds wall) {
  constexpr double kHourOfRow = 3600;
  for (const double hours : {1.0, 6.0, 24.0, 168.0, 672.0}) {
    if (wall.value() <= 16 * hours * kHourOfRow) return Seconds(hours * kHourOfRow);
  }
  return Seconds(672 * kHourOfRow * std::ceil(wall.value() / (16 * 672 * kHourOfRow)));
}

std::string row_name(std::size_t row, Seconds length) {
  if (length >= Seconds(672 * 3600.0)) {
    return fmt::format("day {:.0f}", static_cast<double>(row) * length.value() / 86400);
  }
  if (length >= Seconds(168 * 3600.0)) return fmt::format("week {}", row + 1);
  if (length >= Seconds(86400)) return fmt::format("day {}", row + 1);
  return fmt::format("hour {:.0f}", static_cast<double>(row) * length.value() / 3600);
}

struct DrawnRun {
  BandChart chart;
  std::vector<std::pair<std::string, std::string>> legend;
};

DrawnRun drawn(const RunForecast& f, const std::vector<RunStretch>& stretches,
               std::int64_t wall_ns) {
  constexpr std::size_t kBins = 494;  // of a row
  const Seconds length = row_of_run(Seconds(static_cast<double>(wall_ns) * 1e-9));
  const double bin_ns = length.value() * 1e9 / kBins;
  const auto rows = static_cast<std::size_t>(
      std::max(1.0, std::ceil(static_cast<double>(wall_ns) / (bin_ns * kBins))));
  // Training and then the losses, from below.
  constexpr std::size_t kKinds = kBadputs + 1;
  DrawnRun out;
  out.chart = {.name = "one simulated run over time, a row after the other",
               .css_classes = {std::string(kTraining)},
               .seconds = length.value()};
  out.legend = {{"training", std::string(kTraining)}};
  std::vector<std::vector<std::vector<double>>> shares(
      rows, std::vector(kKinds, std::vector<double>(kBins)));
  std::vector<std::int64_t> interruptions(rows);
  std::vector<double> trained(rows);
  std::array<bool, kBadputs> seen{};
  for (const RunStretch& s : stretches) {
    const auto begin = static_cast<double>(s.start_ns) / bin_ns;
    const auto end = static_cast<double>(s.end_ns) / bin_ns;
    const auto ns = static_cast<double>(s.end_ns - s.start_ns);
    for (auto bin = static_cast<std::size_t>(begin); static_cast<double>(bin) < end; ++bin) {
      const std::size_t row = std::min(bin / kBins, rows - 1);
      const double part =
          std::min(end, static_cast<double>(bin + 1)) - std::max(begin, static_cast<double>(bin));
      const auto add = [&](std::size_t kind, std::int64_t of_ns) {
        shares[row][kind][bin % kBins] += part * static_cast<double>(of_ns) / ns;
      };
      add(0, s.productive_ns());
      trained[row] += part * static_cast<double>(s.productive_ns()) / ns;
      for (std::size_t b = 0; b < kBadputs; ++b) {
        if (s.lost_ns[b] > 0) add(b + 1, s.lost_ns[b]);
      }
    }
    for (std::size_t b = 0; b < kBadputs; ++b) seen[b] = seen[b] || s.lost_ns[b] > 0;
    if (s.interrupted) ++interruptions[std::min(static_cast<std::size_t>(end) / kBins, rows - 1)];
  }
  for (std::size_t b = 0; b < kBadputs; ++b) {
    const auto badput = static_cast<Badput>(b);
    out.chart.css_classes.emplace_back(to_text(badput));
    if (seen[b]) out.legend.emplace_back(badput_name(f, badput), to_text(badput));
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const double lasts =
        std::min(static_cast<double>(kBins),
                 static_cast<double>(wall_ns) / bin_ns - static_cast<double>(row * kBins));
    out.chart.bands.push_back(
        {row_name(row, length),
         fmt::format("{} · {} · {} of it training", row_name(row, length),
                     counted(interruptions[row], "interruption"), percent(trained[row] / lasts)),
         std::move(shares[row])});
  }
  return out;
}

std::string one_run(const RunForecast& f) {
  if (f.median_interruptions > kMostDrawnInterruptions) return "";
  RunRecord record{.run = f.median_run};
  const auto run = simulate_runs(f.model, 1, f.seed, 1, {}, &record);
  if (!run) return "";
  const RunOutcome& outcome = run->front();
  const DrawnRun picture = drawn(f, run_timeline(record, outcome), outcome.wall_ns);
  return html_section(
      "One run",
      fmt::format("the one of median wall-clock time, with {}; time runs to the right and "
                  "continues in the next row, and what shares a moment is stacked",
                  counted(outcome.interruptions, "interruption")),
      wide(band_chart_svg(picture.chart)) + html_legend(picture.legend));
}

std::string what_would_help(const RunForecast& f) {
  if (f.knobs.empty()) return "";
  Seconds most;
  for (const Knob& k : f.knobs) {
    most = std::max({most, k.saved, -k.saved, k.doubled.value_or(Seconds(0))});
  }
  const AxisUnit unit = axis_unit_of(most);
  Tornado chart{.name = "change of the mean wall-clock time by each cause, halved and doubled",
                .axis = "change of the mean wall-clock time, " + unit.name};
  const auto words = [](Seconds s) { return (s > Seconds(0) ? "+" : "") + span_words(s); };
  for (const Knob& k : f.knobs) {
    constexpr std::string_view kHalf = "half the ";
    const bool halved = k.name.starts_with(kHalf);
    TornadoRow row{.label = halved ? k.name.substr(kHalf.size()) : k.name,
                   .half = -k.saved / unit.one,
                   .half_text = words(-k.saved)};
    if (k.doubled) {
      row.twice = *k.doubled / unit.one;
      row.twice_text = words(*k.doubled);
    }
    chart.rows.push_back(std::move(row));
  }
  return html_section(
      "What would help", "each cause halved or doubled, the rest as it is, on the same failures",
      html_halves(tornado_svg(chart) + html_legend(std::vector<std::pair<std::string, std::string>>{
                                           {"halved", "good"}, {"doubled", "bad"}}),
                  knob_table(f).html()));
}

// The run as the closed form has it; nothing where that does not hold.
std::optional<CheckpointedJob> closed_form(const RunForecast& f) {
  const CheckpointLevel& level = f.model.checkpoints.back();
  const CheckpointedJob job{1 / f.mean_time_to_failure, f.mean_restart,
                            static_cast<double>(level.every) * f.step_time, level.blocked};
  const bool holds = f.model.checkpoints.size() == 1 && job.failures > Hertz(0) &&
                     std::abs(exact_ettr(job) - f.ettr.mean) <= kClosedFormHolds;
  return holds ? std::optional(job) : std::nullopt;
}

// Its ETTR with other intervals.
std::string interval_table(CheckpointedJob job) {
  const Seconds own = job.interval;
  std::vector<std::pair<Seconds, std::string>> rows{{best_interval(job.failures, job.save), "best"},
                                                    {own, "this run"}};
  for (const double factor : {0.25, 0.5, 2.0, 4.0}) rows.emplace_back(factor * own, "");
  std::ranges::sort(rows);
  Table table(left("training between checkpoints"), left(""), right("ETTR, closed form"));
  for (const auto& [interval, name] : rows) {
    if (!(interval > Seconds(0))) continue;
    job.interval = interval;
    table.row(to_text(interval), name, percent(exact_ettr(job)));
    if (interval == own) table.mark(RowLook::strong);
  }
  return table.html();
}

// Contours of the closed form around the run's own interval and failure rate.
std::string contours(const RunForecast& f, CheckpointedJob job) {
  const Hertz rate = job.failures;
  constexpr double kDay = 86400;
  constexpr int kAlong = 160;
  const double own = job.interval.value();
  const double best = best_interval(rate, job.save).value();
  const double low = std::clamp(std::min(own / 30, best / 3), own / 1000, own / 10);
  const double high = std::clamp(std::max(own * 30, best * 3), own * 10, own * 1000);
  const double own_rate = rate.value() * kDay;
  const double least = own_rate / 12;
  const double most = own_rate * 12;
  Plot plot{.name = fmt::format("ETTR by checkpoint interval and failures a day; the run itself "
                                "has an interval of {}, {:.3g} failures a day and {}",
                                to_text(job.interval), own_rate, percent(f.ettr.mean)),
            .x = log_time_axis("training between checkpoints", low, high),
            .y = log_axis("failures of the job a day", least, most),
            .points = {{own, own_rate, "this run " + percent(f.ettr.mean),
                        fmt::format("{} between checkpoints · a failure every {} · ETTR {}",
                                    to_text(job.interval), to_text(f.mean_time_to_failure),
                                    percent(f.ettr.mean))}},
            .height = 400};
  std::vector<PlotCurve> over;
  for (const double ettr : {0.5, 0.7, 0.8, 0.9, 0.95}) {
    PlotLine line;
    for (int i = 0; i <= kAlong; ++i) {
      const double interval = low * std::pow(high / low, i / double{kAlong});
      job.interval = Seconds(interval);
      const auto largest = largest_failure_rate(job, ettr);
      if (!largest || largest->value() * kDay < least) continue;
      line.emplace_back(interval, largest->value() * kDay);
    }
    if (line.size() < 2) continue;
    const std::string name = fmt::format("{:.0f} %", 100 * ettr);
    plot.curves.push_back({.points = line, .css_class = "shade c-accent", .area = true});
    over.push_back({.points = std::move(line),
                    .css_class = "over o-accent",
                    .label = name,
                    .tip = "ETTR " + name});
  }
  PlotLine optimum;
  for (int i = 0; i <= kAlong; ++i) {
    const double failures = least * std::pow(most / least, i / double{kAlong});
    const double interval = best_interval(Hertz(failures / kDay), job.save).value();
    if (interval >= low && interval <= high) optimum.emplace_back(interval, failures);
  }
  if (optimum.size() > 1) {
    over.push_back({.points = std::move(optimum),
                    .css_class = "over dashes o-good",
                    .label = "best interval",
                    .tip = "the interval of the highest ETTR"});
  }
  std::ranges::move(over, std::back_inserter(plot.curves));
  return plot_svg(plot);
}

std::string failures_and_checkpoints(const RunForecast& f) {
  const auto job = closed_form(f);
  if (!job) return html_section("Failures and checkpoints", "", paragraphs(cause_sentences(f)));
  return html_section(
      "Failures and checkpoints", "ETTR by how often a job fails and how often it saves",
      html_halves(
          contours(f, *job),
          paragraphs(cause_sentences(f)) + interval_table(*job) +
              paragraphs({"the closed form is that of independent failures and of saves for "
                          "which training stands still; the run itself is simulated"})));
}

std::string page(std::string_view what, const Subject& subject, const std::string& sentence,
                 const std::string& body) {
  const std::string model = model_in_words(subject);
  return html_page(fmt::format("{} on {}: {}", model, subject.cluster, what),
                   html_headline(what, model, "on " + subject.cluster) + "<p class=\"remark\">" +
                       html_text(sentence) + "</p>\n" + body);
}

}  // namespace

std::string forecast_html(const RunForecast& f, const Subject& subject) {
  std::string answers;
  for (const std::string& sentence : answer_sentences(f)) {
    answers += finding(sentence.starts_with("a ") ? "Scaling law:" : "The run", sentence);
  }
  const std::string phases =
      f.phases.size() > 1 ? html_section("Phases", "without a failure", phase_table(f).html()) : "";
  return page("forecast of a run", subject, run_sentence(f, subject),
              run_tiles(f) + answers + when_it_ends(f) + phases + where_time_goes(f) + one_run(f) +
                  what_would_help(f) + failures_and_checkpoints(f) + html_assumed(f.assumed));
}

std::string step_distribution_html(const StepDistribution& d, const Subject& subject) {
  const StepTimes& t = d.times;
  const auto over_median = [&](Seconds s) {
    return signed_percent(s / t.p50.value - 1) + " over the median";
  };
  std::string body =
      "<div class=\"tiles\">\n" +
      html_tile("Step time, median", to_text(t.p50.value), "predicted: " + to_text(d.predicted)) +
      html_tile("p95", to_text(t.p95.value), over_median(t.p95.value)) +
      html_tile("p99", to_text(t.p99.value), over_median(t.p99.value)) +
      html_tile("p99.9", to_text(t.p99_9.value), over_median(t.p99_9.value)) + "</div>\n" +
      finding("A step", exceeds_sentence(d));
  std::string plots;
  if (d.sampled.back() > d.sampled.front()) {
    std::vector<PlotMark> marks;
    for (const auto& [name, quantile] : {std::pair{"p5", &t.p5},
                                         {"p50", &t.p50},
                                         {"p95", &t.p95},
                                         {"p99", &t.p99},
                                         {"p99.9", &t.p99_9}}) {
      marks.push_back(
          {quantile->value.value(), fmt::format("{} {}", name, to_text(quantile->value)), "mark"});
    }
    std::vector<PlotMark> of_cdf{marks[1], marks[2]};
    if (d.exceeds) {
      of_cdf.push_back(
          {d.exceeds->value(),
           fmt::format("{} above {}", percent(d.exceeds_share.value), to_text(*d.exceeds)),
           "deadline"});
      marks.push_back(of_cdf.back());
    }
    plots = distribution_plots({.of = "step time",
                                .counted = "steps",
                                .times = d.sampled,
                                .marks = marks,
                                .of_cdf = of_cdf,
                                .others = d.sampled_together}) +
            html_legend(std::vector<std::pair<std::string, std::string>>{
                {"what varies", "accent"}, {"and the prediction's own error", "soft"}});
  }
  body += html_section("How long a step takes",
                       "on machines that differ, on a network that is busy now and then",
                       plots + quantile_table(d).html() + paragraphs(sample_sentences(d)));
  body += html_section("What makes the tail",
                       "by how much p95 falls if it took the same time always", tail_table(d));
  if (!d.slow_stages.empty()) {
    ColumnChart chart{.name = "how much longer p95 is with one slow node, by its stage",
                      .unit = "% by which p95 is longer",
                      .axis = "pipeline stage of the slow node"};
    const auto [best, worst] = std::ranges::minmax(d.slow_stages, {}, &SlowStage::over_p95);
    for (const SlowStage& s : d.slow_stages) {
      const double longer = 100 * (s.over_p95 - 1);
      const char* const colour = s.stage == best.stage    ? "good"
                                 : s.stage == worst.stage ? "bad"
                                                          : "accent";
      chart.columns.push_back({std::to_string(s.stage),
                               {{colour, std::max(longer, 0.0), "",
                                 fmt::format("stage {} · p95 {} · {:.1f} % longer", s.stage,
                                             to_text(s.over_p95 * t.p95.value), longer)}}});
    }
    body += html_section("Where a slow node hurts least",
                         fmt::format("a node whose kernels take {:g} times as long", d.slow_node),
                         wide(column_chart_svg(chart)));
  }
  body += html_section("What spare replicas and gradient coding would save", "", replica_table(d));
  return page("distribution of a step", subject, step_sentence(d), body + html_assumed(d.assumed));
}

std::string fault_fit_html(const FaultFit& fit) {
  std::string body = "<div class=\"tiles\">\n" +
                     html_tile("Rate", fmt::format("{:.2f}", fit.rates.per_1000_node_days),
                               "failures per 1,000 node-days") +
                     html_tile("Faults a day", fmt::format("{:.2f}", fit.faults_a_day),
                               fmt::format("none on {} of the days", percent(fit.days_without))) +
                     html_tile("Nodes down", fmt::format("{:.1f}", fit.nodes_down),
                               fmt::format("on average, of {}", grouped(fit.nodes)));
  if (!fit.repairs.empty()) {
    const Seconds median = quantile_of(fit.repairs, 0.5);
    body += html_tile("Repair, median", span_words(median),
                      "nine of ten take less than " + span_words(quantile_of(fit.repairs, 0.9)));
  }
  body += "</div>\n";
  ColumnChart chart{.name = "faults of each day",
                    .unit = "faults that began on the day",
                    .axis = "day of the log"};
  for (std::size_t day = 0; day < fit.by_day.size(); ++day) {
    chart.columns.push_back({std::to_string(day),
                             {{"accent", static_cast<double>(fit.by_day[day]), "",
                               fmt::format("day {} · {} faults", day, fit.by_day[day])}}});
  }
  if (!chart.columns.empty()) {
    body += html_section("Faults by day", "", wide(column_chart_svg(chart)));
  }
  const auto first = std::ranges::upper_bound(fit.repairs, Seconds(0));
  if (first != fit.repairs.end()) {
    const double low = first->value();
    const double high = std::max(fit.repairs.back().value(), 2 * low);
    PlotLine line;
    for (auto i = static_cast<std::size_t>(first - fit.repairs.begin()); i < fit.repairs.size();
         ++i) {
      line.emplace_back(fit.repairs[i].value(),
                        100 * static_cast<double>(i + 1) / static_cast<double>(fit.repairs.size()));
    }
    body += html_section(
        "What the log says", "",
        html_halves(plot_svg({.name = "share of the repairs by their time",
                              .x = log_time_axis("time of a repair", low, high),
                              .y = linear_axis("% of the repairs are not longer", 0, 100, 5),
                              .curves = {{.points = line, .css_class = "over thick o-accent"}}}),
                    fit_table(fit).html()));
  } else {
    body += html_section("What the log says", "", fit_table(fit));
  }
  return html_page(fit.name + ": faults", html_headline("log of faults", fit.name, "") +
                                              "<p class=\"remark\">" +
                                              html_text(fault_sentence(fit)) + "</p>\n" + body);
}

}  // namespace orrery
