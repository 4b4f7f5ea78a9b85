#include "report/forecasts/forecast_text.h"

#include <fmt/format.h>

#include <cmath>

#include "report/drawing/run_style.h"
#include "report/forecasts/distribution.h"

namespace orrery {
namespace {

constexpr Seconds kDay{86400};

// A figure stays with its unit where lines are broken.
std::string unbroken(const std::string& figure) {
  std::string out;
  for (const char c : figure) out += c == ' ' ? std::string("\u00A0") : std::string(1, c);
  return out;
}
std::string share_words(double share) { return unbroken(percent(share)); }
std::string unbroken_span(Seconds s) { return unbroken(span_words(s)); }
std::string tonnes(double kg) { return grouped(std::llround(kg / 1000)) + " t"; }
std::string count(double n) {
  return fmt::format("{:.{}f}", n, n < 9.95 && n != std::round(n) ? 1 : 0);
}

std::string save_words(const CheckpointLevel& level, Seconds step) {
  return fmt::format("every {} {} ({}), {} blocked, durable after {}, loaded in {}",
                     grouped(level.every), level.every == 1 ? "step" : "steps",
                     unbroken(to_text(static_cast<double>(level.every) * step)),
                     unbroken(to_text(level.blocked)), unbroken(to_text(level.durable)),
                     unbroken(to_text(level.restore)));
}

std::string lines(const std::vector<std::string>& sentences, const TextStyle& style) {
  std::string out;
  for (const std::string& one : sentences) out += wrapped(one, 2, style);
  return out;
}

}  // namespace

// What grows with the wall-clock time is known with its quantiles.
Table answer_table(const RunForecast& f) {
  Table table(left("", 4), right("p5", 3), right("median", 4), right("p95", 4), right("mean", 2));
  const auto add = [&](std::string_view name, const auto& spread, const auto& words) {
    table.row(name, words(spread.p5.value), bold(words(spread.p50.value)), words(spread.p95.value),
              words(spread.mean));
  };
  add("wall-clock time", f.wall, span_words);
  if (f.start) {
    add("ends on", f.wall, [&](Seconds s) {
      return date_text(*f.start + std::chrono::days(static_cast<std::int64_t>(s / kDay)));
    });
  }
  add("ETTR", f.ettr, percent);
  add("interruptions", f.interruptions, count);
  add("GPU-hours", f.wall, [&](Seconds s) { return compact(f.gpu_hours(s)); });
  if (f.price) add("cost", f.wall, [&](Seconds s) { return dollars(f.cost(s)); });
  if (f.power) add("energy", f.wall, [&](Seconds s) { return watt_hours(f.energy(s)); });
  if (f.carbon) add("CO2", f.wall, [&](Seconds s) { return tonnes(f.carbon_kg(s)); });
  return table;
}

std::string run_sentence(const RunForecast& f) {
  std::string out = fmt::format(
      "{} steps of {}{} on {} GPUs in {} {}: {} without a failure", grouped(f.steps),
      to_text(f.step_time), f.phases.size() > 1 ? " on average" : "", grouped(f.accelerators),
      grouped(f.nodes), f.nodes == 1 ? "node" : "nodes", span_words(f.healthy));
  return f.tokens ? compact(*f.tokens) + " tokens · " + out : out;
}

std::vector<std::string> answer_sentences(const RunForecast& f) {
  std::vector<std::string> out;
  if (f.loss) {
    const LossForecast& l = *f.loss;
    out.push_back(fmt::format(
        "a loss of {:.4g} with {} tokens, by {}; it takes {:.2f} times the least "
        "compute of a dense model, that of {} parameters and {} tokens",
        l.run.loss, unbroken(compact(l.run.tokens)), l.law, l.run.compute() / l.cheapest.compute(),
        unbroken(billions(l.cheapest.parameters)), unbroken(compact(l.cheapest.tokens))));
    const bool counted = f.tokens && l.run.tokens < *f.tokens;
    out.push_back(fmt::format(
        "a step of {} tokens is {:.2g} times the critical batch of {}{}",
        unbroken(compact(l.batch)), l.batch / l.critical, unbroken(compact(l.critical)),
        l.extra_share > 0 ? fmt::format(": it takes {} more tokens, which are {}in the run",
                                        share_words(l.extra_share), counted ? "" : "not ")
                          : " and costs no tokens"));
  }
  const auto likely = [&](std::string_view what, const RunQuantile<double>& share) {
    out.push_back(fmt::format("{} with a probability of {} ({} to {})", what,
                              share_words(share.value), share_words(share.low),
                              share_words(share.high)));
  };
  if (f.budget) likely("costs at most " + dollars(*f.budget), f.costs_at_most);
  if (f.within) {
    likely(f.by ? fmt::format("ends before {}, {} after {},", date_text(*f.by),
                              unbroken_span(*f.within), date_text(*f.start))
                : "ends within " + unbroken_span(*f.within),
           f.ends_within);
  }
  return out;
}

Table phase_table(const RunForecast& f) {
  Table table(left("", 4), right("tokens", 3), right("steps", 3), right("sequences", 2),
              right("of tokens", 2), right("step", 4), right("time", 4));
  const auto add = [&](const ForecastPhase& p) {
    table.row(shortened(printable(p.name), 24), compact(p.tokens), grouped(p.steps),
              grouped(p.global_batch), grouped(p.sequence_length), to_text(p.step_time),
              span_words(p.healthy()));
  };
  constexpr std::size_t kShown = 12;  // of a ramp: the first and the last ones
  const std::size_t all = f.phases.size();
  for (std::size_t i = 0; i < all; ++i) {
    if (all <= kShown || i < kShown / 2 || i + kShown / 2 >= all) {
      add(f.phases[i]);
    } else if (i == kShown / 2) {
      table.row("...", "", "", "", "", "", "");
    }
  }
  return table;
}

std::vector<std::string> spread_sentences(const RunForecast& f) {
  return {
      fmt::format(
          "{} simulated runs: the median lies between {} and {}, the p95 between {} and {}{}",
          grouped(f.runs), unbroken_span(f.wall.p50.low), unbroken_span(f.wall.p50.high),
          unbroken_span(f.wall.p95.low), unbroken_span(f.wall.p95.high),
          f.exact_ettr ? "; the closed form gives an ETTR of " + share_words(*f.exact_ettr) : ""),
      fmt::format("the quantiles are of luck with failures; the step time itself lies with a "
                  "probability of {} between {:.2f} and {:.2f} times that, and all times with it",
                  share_words(f.step_interval.level), f.step_interval.low / f.step_time,
                  f.step_interval.high / f.step_time)};
}

std::vector<std::string> cause_sentences(const RunForecast& f) {
  const std::string failures = std::isfinite(f.mean_time_to_failure.value())
                                   ? "a failure every " + to_text(f.mean_time_to_failure)
                                   : "no failures";
  std::vector<std::string> out{fmt::format(
      "{} ({}) · {} from a failure to the next step ({}){}", failures, f.failures.name,
      to_text(f.mean_restart), f.restart.name,
      f.planned > 0 ? fmt::format(" · {} planned interruptions", count(f.planned)) : "")};
  if (f.levels.size() > 1) {
    out.push_back("copies in memory " + save_words(f.levels.front(), f.step_time));
  }
  out.push_back("checkpoints of " + to_text(f.checkpoint.size) + " " +
                save_words(f.levels.back(), f.step_time));
  return out;
}

Table loss_table(const RunForecast& f) {
  Table table(left("", 3), right("time", 2), right("share", 3), bars(0, 48));
  std::vector<Picoseconds> parts{round_to_picoseconds(f.healthy)};
  for (const Seconds lost : f.badput) parts.push_back(round_to_picoseconds(lost));
  const std::vector<int> tenths = tenths_of_percent(parts);
  const auto add = [&](std::string_view name, Seconds time, int share, Ink ink,
                       const BarSegment& of_bar) {
    table.row(cell(name, ink), cell(span_words(time), ink), cell(percent_of_tenths(share), ink),
              bar_of({of_bar}));
  };
  add("training", f.healthy, tenths[0], kBold,
      {f.healthy / f.wall.mean, {.colour = 71}, kTraining});
  for (std::size_t i = 0; i < kBadputs; ++i) {
    if (f.badput[i] > Seconds(0)) {
      const auto badput = static_cast<Badput>(i);
      add(label(badput), f.badput[i], tenths[i + 1], {},
          {f.badput[i] / f.wall.mean, {.colour = 203}, to_text(badput)});
    }
  }
  table.add_rule();
  table.row(bold("wall-clock time"), bold(span_words(f.wall.mean)), bold("100.0 %"), "");
  return table;
}

Table knob_table(const RunForecast& f) {
  Table table(left("", 3), right("ETTR", 2), right("time saved", 3),
              right("cost saved", 2).shown_if(f.price.has_value()));
  for (const Knob& knob : f.knobs) {
    table.row(knob.name, percent(knob.ettr), span_words(knob.saved),
              f.price ? (knob.saved < Seconds(0) ? "-" : "") +
                            dollars(f.cost(std::max(knob.saved, -knob.saved)))
                      : "");
  }
  return table;
}

std::string forecast_text(const RunForecast& f, const Subject& subject, const TextStyle& style) {
  std::string out = subject_heading(subject, style);
  out += wrapped(run_sentence(f), 2, style) + "\n" + answer_table(f).text(style) + "\n";
  out += distribution_line(f.walls, span_words, style);
  for (const std::string& sentence : answer_sentences(f)) out += wrapped("→ " + sentence, 2, style);
  out += lines(spread_sentences(f), style) + "\n" + lines(cause_sentences(f), style);
  if (f.phases.size() > 1) out += section("Phases", "without a failure", phase_table(f), style);
  out += section("Where the time goes", "mean of the runs", loss_table(f), style);
  out +=
      section("What would help", "each better by a half, the rest as it is", knob_table(f), style);
  return out + assumed_text(f.assumed, style);
}

std::string fault_sentence(const FaultFit& fit) {
  return fmt::format("{} faults of {} nodes in {:g} days", grouped(fit.faults), grouped(fit.nodes),
                     fit.days);
}

Table fit_table(const FaultFit& fit) {
  const auto hours = [](Seconds s) { return fmt::format("{:.1f} h", s.value() / 3600); };
  Table table(left("", 3), right("value", 3), left("", 2));
  table.row("rate", fmt::format("{:.2f}", fit.rates.per_1000_node_days),
            "failures per 1,000 node-days");
  table.row("faults a day", fmt::format("{:.2f}", fit.faults_a_day),
            fmt::format("none on {} of the days", percent(fit.days_without)));
  table.row("dispersion over days", fmt::format("{:.2f}", fit.dispersion_by_day),
            "variance / mean of the faults of a day; 1 if independent");
  table.row("nodes that failed", grouped(fit.nodes_that_failed),
            fmt::format("one of them {} times; the worst tenth has {} of the faults",
                        fit.most_of_a_node, percent(fit.worst_tenth)));
  table.row("dispersion over nodes", fmt::format("{:.2f}", fit.dispersion_by_node),
            "variance / mean of the faults of a node");
  if (fit.rates.lemons.share > 0) {
    table.row("lemon nodes", percent(fit.rates.lemons.share),
              fmt::format("of the nodes fail {:.1f} times as often as the others",
                          fit.rates.lemons.factor));
  }
  table.row("nodes down", fmt::format("{:.2f}", fit.nodes_down), "on average");
  if (!fit.repairs.empty()) {
    table.row(
        "repair, median", hours(quantile_of(fit.repairs, 0.5)),
        fmt::format("p10 {}, p90 {}, mean {}; {} of the faults had not ended",
                    hours(quantile_of(fit.repairs, 0.1)), hours(quantile_of(fit.repairs, 0.9)),
                    hours(mean_of(*fit.rates.repair)), grouped(fit.open)));
  }
  return table;
}

std::string fault_fit_text(const FaultFit& fit, const TextStyle& style) {
  return "  " + painted(shortened(printable(fit.name), longest_line(style) - 2), kBold, style) +
         "\n" + wrapped(fault_sentence(fit), 2, style) + "\n" + fit_table(fit).text(style);
}

}  // namespace orrery
