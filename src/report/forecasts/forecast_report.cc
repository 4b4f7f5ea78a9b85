#include <fmt/format.h>

#include <cmath>

#include "document/results.h"
#include "report/drawing/category_style.h"
#include "report/forecasts/forecast_reports.h"
#include "report/plans/plan_reports.h"

namespace orrery {
namespace {

constexpr Seconds kDay{86400};

std::string share_words(double share) { return unbroken(percent(share)); }
std::string unbroken_span(Seconds s) { return unbroken(span_words(s)); }
std::string tonnes(double kg) { return grouped(std::llround(kg / 1000)) + " t"; }
std::string count(double n) {
  return fmt::format("{:.{}f}", n, n < 9.95 && n != std::round(n) ? 1 : 0);
}

std::string save_words(const CheckpointLevel& level, Seconds step) {
  return fmt::format(
      "every {} ({}), {} blocked, durable after {}, loaded in {}", counted(level.every, "step"),
      unbroken(to_text(static_cast<double>(level.every) * step)), unbroken(to_text(level.blocked)),
      unbroken(to_text(level.durable)), unbroken(to_text(level.restore)));
}

std::string lines(const std::vector<std::string>& sentences, const TextStyle& style) {
  std::string out;
  for (const std::string& one : sentences) out += paragraph(style, one);
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

std::string run_sentence(const RunForecast& f, const Subject& subject) {
  std::string out = fmt::format(
      "{} steps of {}{} on {} in {}: {} without a failure", grouped(f.steps), to_text(f.step_time),
      f.phases.size() > 1 ? " on average" : "", counted(f.accelerators, subject.accelerator),
      counted(f.nodes, "node"), span_words(f.healthy));
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
  std::vector<std::string> out;
  if (span_words(f.wall.p5.value) != span_words(f.wall.p95.value)) {
    out.push_back(fmt::format(
        "{} simulated runs: the median lies between {} and {}, the p95 between {} and {}{}",
        grouped(f.runs), unbroken_span(f.wall.p50.low), unbroken_span(f.wall.p50.high),
        unbroken_span(f.wall.p95.low), unbroken_span(f.wall.p95.high),
        f.exact_ettr ? "; the closed form gives an ETTR of " + share_words(*f.exact_ettr) : ""));
  }
  const StepTimeInterval& step = f.step_interval;
  out.push_back(fmt::format(
      "{}the step time is {:.2f} to {:.2f} times the predicted one{}; all times scale with it",
      f.fails() ? "the quantiles are of luck with failures; " : "", step.low / f.step_time,
      step.high / f.step_time,
      step.calibrated ? " with a probability of " + share_words(step.level) : ""));
  if (!step.calibrated) out.push_back(interval_sentence(step));
  return out;
}

std::vector<std::string> cause_sentences(const RunForecast& f) {
  std::string failures = "no failures";
  if (f.fails()) {
    failures = fmt::format("a failure every {} ({}) · {} from a failure to the next step ({})",
                           to_text(f.mean_time_to_failure), f.failures.name,
                           to_text(f.mean_restart), f.restart.name);
  }
  if (f.planned > 0) failures += fmt::format(" · {} planned interruptions", count(f.planned));
  std::vector<std::string> out{std::move(failures)};
  if (f.levels.size() > 1) {
    out.push_back("copies in memory " + save_words(f.levels.front(), f.step_time));
  }
  out.push_back("checkpoints of " + to_text(f.checkpoint.size) + " " +
                save_words(f.levels.back(), f.step_time));
  return out;
}

std::string_view badput_name(const RunForecast& f, Badput badput) {
  const bool starts = badput == Badput::infrastructure_recovery_from_disruption && !f.restarts();
  return starts ? "start" : label(badput);
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
      add(badput_name(f, badput), f.badput[i], tenths[i + 1], {},
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
  out += paragraph(style, run_sentence(f, subject)) + "\n" + answer_table(f).text(style) + "\n";
  out += distribution_line(f.walls, span_words, style);
  for (const std::string& sentence : answer_sentences(f)) out += paragraph(style, "→ " + sentence);
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
  return title_line(fit.name, style) + paragraph(style, fault_sentence(fit)) + "\n" +
         fit_table(fit).text(style);
}

namespace {

struct ForecastDocument {
  const RunForecast& run;
  const Subject& subject;
};

// A figure that is proportional to the wall-clock time.
struct OfWall {
  double p5, p50, p95, mean;
};
template <class F>
OfWall of_wall(const RunForecast& f, const F& figure) {
  return {figure(f.wall.p5.value), figure(f.wall.p50.value), figure(f.wall.p95.value),
          figure(f.wall.mean)};
}

template <class F>
std::optional<OfWall> of_wall_if(bool known, const RunForecast& f, const F& figure) {
  return known ? std::optional(of_wall(f, figure)) : std::nullopt;
}

struct QuantileRow {
  double value, low, high;
};
struct SpreadRow {
  QuantileRow p5, p50, p95;
  double mean;
};
double plain_number(double d) { return d; }
double plain_number(Seconds s) { return s.value(); }
template <class Q>
SpreadRow row_of(const RunSpread<Q>& s) {
  const auto row = [](const RunQuantile<Q>& q) {
    return QuantileRow{plain_number(q.value), plain_number(q.low), plain_number(q.high)};
  };
  return {row(s.p5), row(s.p50), row(s.p95), plain_number(s.mean)};
}

struct LostTime {
  std::array<Seconds, kBadputs> badput;
};
template <Badput kBadput>
constexpr auto lost(std::string_view sentence) {
  return entry<kBadput>(
      sentence, [](const LostTime& t, Badput b) { return t.badput[static_cast<std::size_t>(b)]; });
}

std::optional<Seconds> repair_quantile(const FaultFit& f, double p) {
  return f.repairs.empty() ? std::nullopt : std::optional(quantile_of(f.repairs, p));
}

struct Probability {
  Seconds within;
  RunQuantile<double> share;
};

struct Affordable {
  Dollars budget;
  RunQuantile<double> share;
};

}  // namespace

template <>
inline constexpr auto kResults<QuantileRow> =
    table<QuantileRow>("quantile", "A quantile of the simulated runs.",
                       field<&QuantileRow::value>("of the simulated runs"),
                       field<&QuantileRow::low>("lower end of its 95 % interval"),
                       field<&QuantileRow::high>("upper end of its 95 % interval"));

template <>
inline constexpr auto kResults<SpreadRow> = table<SpreadRow>(
    "spread", "A figure over the simulated runs.",
    field<&SpreadRow::p5>("5 % of the runs have less"), field<&SpreadRow::p50>("the median"),
    field<&SpreadRow::p95>("95 % of the runs have less"), field<&SpreadRow::mean>("of the runs"));

template <>
inline constexpr auto kResults<OfWall> = table<OfWall>(
    "figure", "A figure that is proportional to the wall-clock time.",
    field<&OfWall::p5>("in the run of the 5 % quantile"), field<&OfWall::p50>("in the median run"),
    field<&OfWall::p95>("in the run of the 95 % quantile"), field<&OfWall::mean>("of the runs"));

template <>
inline constexpr auto kResults<LostTime> = table<LostTime>(
    "badput",
    "Time of a run that is not training, mean of the runs, by the types of goodput libraries.",
    lost<Badput::tpu_initialization>("initialization of accelerators and communicators"),
    lost<Badput::program_startup>("program start, compilation, slow first steps"),
    lost<Badput::unproductive_checkpoint_save_time>("training stands still for a save"),
    lost<Badput::unproductive_checkpoint_restore_time>("a checkpoint is loaded"),
    lost<Badput::wasted_progress_from_disruption>("steps since the last checkpoint, done again"),
    lost<Badput::infrastructure_recovery_from_disruption>(
        "from a failure until the accelerators can start again"),
    lost<Badput::planned_interruptions>("stops for maintenance"),
    lost<Badput::fewer_replicas>("steps that take longer until a node is repaired"),
    lost<Badput::custom_badput_events>("evaluation pauses"));

template <>
inline constexpr auto kResults<CheckpointLevel> = table<CheckpointLevel>(
    "checkpoint", "A kind of checkpoint.", field<&CheckpointLevel::every>("steps between two"),
    field<&CheckpointLevel::blocked>("blocked_s", "training stands still"),
    field<&CheckpointLevel::durable>("durable_s", "from the start of a save until it is of use"),
    field<&CheckpointLevel::restore>("restore_s", "to load it"),
    field<&CheckpointLevel::survives>("probability that a failure leaves it intact"));

template <>
inline constexpr auto kResults<ForecastPhase> = table<ForecastPhase>(
    "phase", "A stretch of steps that are alike.", field<&ForecastPhase::name>("as it was called"),
    field<&ForecastPhase::steps>("of the phase"), field<&ForecastPhase::tokens>("of the phase"),
    field<&ForecastPhase::global_batch>("sequences of a step"),
    field<&ForecastPhase::sequence_length>("tokens of a sequence"),
    field<&ForecastPhase::step_time>("step_time_s", "of one step"));

template <>
inline constexpr auto kResults<Knob> = table<Knob>(
    "change", "A cause made better by a half, on the same random numbers.",
    field<&Knob::name>("change", "what is better"), field<&Knob::ettr>("mean with it"),
    field<&Knob::saved>("saved_s", "of the mean wall-clock time; below 0: it costs"),
    field<&Knob::doubled>("doubled_s",
                          "what the cause doubled would add to it; null: the run would not end, or "
                          "nothing is doubled"));

template <>
inline constexpr auto kResults<Probability> = table<Probability>(
    "probability", "How likely the run ends in time.",
    field<&Probability::within>("within_s", "the time that was asked for"),
    field("probability", "share of the simulated runs", [](auto& p) { return p.share.value; }),
    field("low", "lower end of its 95 % interval", [](auto& p) { return p.share.low; }),
    field("high", "upper end of its 95 % interval", [](auto& p) { return p.share.high; }));

template <>
inline constexpr auto kResults<Affordable> = table<Affordable>(
    "affordable", "How likely the run costs no more.",
    field("budget_dollars", "the amount that was asked for",
          [](auto& a) { return a.budget.value(); }),
    field("probability", "share of the simulated runs", [](auto& a) { return a.share.value; }),
    field("low", "lower end of its 95 % interval", [](auto& a) { return a.share.low; }),
    field("high", "upper end of its 95 % interval", [](auto& a) { return a.share.high; }));

template <>
inline constexpr auto kResults<LossForecast> = table<LossForecast>(
    "loss", "What a scaling law says of the run.", field<&LossForecast::law>("name in the catalog"),
    field<&LossForecast::run, &Allocation::loss>("loss", "nats a token"),
    field<&LossForecast::run, &Allocation::parameters>("parameters", "that the law counts"),
    field<&LossForecast::worth>("dense_parameters", "what they are worth with their experts"),
    field<&LossForecast::run, &Allocation::tokens>("tokens", "that the law says"),
    field<&LossForecast::cheapest, &Allocation::parameters>("cheapest_parameters",
                                                            "of that loss for the least compute"),
    field<&LossForecast::cheapest, &Allocation::tokens>("cheapest_tokens",
                                                        "of that loss for the least compute"),
    field("compute_over_cheapest", "6 x parameters x tokens over that of the least compute",
          [](auto& l) { return l.run.compute() / l.cheapest.compute(); }),
    field<&LossForecast::batch>("batch_tokens", "of a step"),
    field<&LossForecast::critical>("critical_batch_tokens", "beyond which a batch costs tokens"),
    field<&LossForecast::extra_share>("tokens beyond the law's, for the batch"));

template <>
inline constexpr auto kResults<RunForecast> = table<RunForecast>(
    "forecast", "A whole training run.",
    field("tokens", "of the run; null: steps were given", [](auto& f) { return f.tokens; }),
    field<&RunForecast::steps>("of the run"),
    field<&RunForecast::step_at>(
        "as orrery estimate predicts it, or the mean or p95 of its distribution"),
    field<&RunForecast::step_time>("step_time_s", "of every step of the run; the mean of phases"),
    field<&RunForecast::phases>("one or more"),
    field("step_time_low_s", "lower end of the interval of the step time",
          [](auto& f) { return f.step_interval.low; }),
    field("step_time_high_s", "upper end of the interval of the step time",
          [](auto& f) { return f.step_interval.high; }),
    field<&RunForecast::healthy>("healthy_s", "all steps, without a failure or a save"),
    field("gpus", "accelerators of the job", [](auto& f) { return f.accelerators; }),
    field<&RunForecast::nodes>("of the job"),
    field("failures", "name of the failure rates", [](auto& f) { return f.failures.name; }),
    field("failures_per_1000_node_days", "of the nodes that were counted",
          [](auto& f) { return f.failures.per_1000_node_days; }),
    field("mean_time_to_failure_s", "of the job; null: it never fails",
          [](auto& f) { return f.fails() ? std::optional(f.mean_time_to_failure) : std::nullopt; }),
    field("restart", "name of the restart times", [](auto& f) { return f.restart.name; }),
    field<&RunForecast::mean_restart>("mean_restart_s",
                                      "from a failure to the next step, loading included"),
    field("checkpoint_bytes", "of the training state", [](auto& f) { return f.checkpoint.size; }),
    field<&RunForecast::levels>("checkpoints", "copies in memory first, the storage last"),
    field<&RunForecast::runs>("simulated"), field<&RunForecast::seed>("of the random numbers"),
    field("wall_s", "wall-clock time of the run", [](auto& f) { return row_of(f.wall); }),
    field("wall_cdf_s",
          "41 wall-clock times, shortest to longest: from one to the next, 2.5 % of the runs end",
          [](auto& f) { return cdf_of(f.walls); }),
    field("ettr", "effective training time ratio: productive over wall-clock time",
          [](auto& f) { return row_of(f.ettr); }),
    field("interruptions", "failures of a run, those during restarts included",
          [](auto& f) { return row_of(f.interruptions); }),
    field<&RunForecast::planned>("planned_interruptions", "mean of the runs"),
    field("badput_s", "where the rest of the mean wall-clock time goes",
          [](auto& f) { return LostTime{f.badput}; }),
    field<&RunForecast::exact_ettr>(
        "closed_form_ettr",
        "from the exact equation of independent failures and blocking saves; null: the run has "
        "others, copies in memory, spares, or evaluations"),
    optional_field(
        "start", "with --start: the date",
        [](auto& f) { return f.start ? std::optional(date_text(*f.start)) : std::nullopt; }),
    optional_field("by", "with --by: the date",
                   [](auto& f) { return f.by ? std::optional(date_text(*f.by)) : std::nullopt; }),
    optional_field("in_time", "with --within or --by",
                   [](auto& f) {
                     return f.within ? std::optional(Probability{*f.within, f.ends_within})
                                     : std::nullopt;
                   }),
    optional_field("affordable", "with --budget",
                   [](auto& f) {
                     return f.budget ? std::optional(Affordable{*f.budget, f.costs_at_most})
                                     : std::nullopt;
                   }),
    optional_field("loss", "with --loss or --law", [](auto& f) { return f.loss; }),
    field("gpu_hours", "accelerators x wall-clock time",
          [](auto& f) { return of_wall(f, [&](Seconds s) { return f.gpu_hours(s); }); }),
    optional_field("price", "name in the catalog, or as given; where there is one",
                   [](auto& f) { return f.price ? std::optional(f.price_name) : std::nullopt; }),
    optional_field("cost_dollars", "where there is a price",
                   [](auto& f) {
                     return of_wall_if(f.price.has_value(), f,
                                       [&](Seconds s) { return f.cost(s).value(); });
                   }),
    optional_field("energy_joules", "where the design power is known",
                   [](auto& f) {
                     return of_wall_if(f.power.has_value(), f,
                                       [&](Seconds s) { return f.energy(s).value(); });
                   }),
    optional_field("carbon_kg", "of CO2, where an intensity is given",
                   [](auto& f) {
                     return of_wall_if(f.carbon.has_value(), f,
                                       [&](Seconds s) { return f.carbon_kg(s); });
                   }),
    field<&RunForecast::knobs>("changes", "what would help, most first"),
    field<&RunForecast::assumed>("sentences"));

template <>
inline constexpr auto kResults<ForecastDocument> = table<ForecastDocument>(
    "forecast document", "A whole training run, forecast.", schema_version<1>(),
    field("model", "name of the model", [](auto& d) { return d.subject.model; }),
    field("cluster", "name of the cluster", [](auto& d) { return d.subject.cluster; }),
    fields_within([](auto& d) -> const RunForecast& { return d.run; }));

template <>
inline constexpr auto kResults<FaultFit> = table<FaultFit>(
    "fault fit document", "What a log of faults says of its cluster.", schema_version<1>(),
    field<&FaultFit::name>("log", "its file"), field<&FaultFit::days>("of the log"),
    field<&FaultFit::nodes>("of the cluster"), field<&FaultFit::faults>("that began"),
    field("failures_per_1000_node_days", "faults over nodes x days",
          [](auto& f) { return f.rates.per_1000_node_days; }),
    field<&FaultFit::faults_a_day>("mean"),
    field<&FaultFit::days_without>("share of the days on which none began"),
    field<&FaultFit::dispersion_by_day>("variance / mean of the faults of a day"),
    field<&FaultFit::nodes_that_failed>("at least once"),
    field<&FaultFit::most_of_a_node>("faults of the node that failed most often"),
    field<&FaultFit::worst_tenth>("share of the faults on the tenth of the nodes that fails most"),
    field<&FaultFit::dispersion_by_node>("variance / mean of the faults of a node"),
    field<&FaultFit::rates, &FailureRates::lemons, &LemonNodes::share>(
        "lemon_share", "share of the nodes that fail more often than the others; 0: none found"),
    field<&FaultFit::rates, &FailureRates::lemons, &LemonNodes::factor>(
        "lemon_factor", "their rate over that of the others"),
    field<&FaultFit::nodes_down>("mean over time"),
    field<&FaultFit::open>("faults that had not ended"),
    field("repair_p10_s", "10 % of the repairs took less; null: none had ended",
          [](auto& f) { return repair_quantile(f, 0.1); }),
    field("repair_p50_s", "median; null: none had ended",
          [](auto& f) { return repair_quantile(f, 0.5); }),
    field("repair_p90_s", "90 % of the repairs took less; null: none had ended",
          [](auto& f) { return repair_quantile(f, 0.9); }),
    field("repair_mean_s", "too low by the faults that had not ended; null: none had", [](auto& f) {
      return f.rates.repair ? std::optional(mean_of(*f.rates.repair)) : std::nullopt;
    }));

Value forecast_json(const RunForecast& forecast, const Subject& subject) {
  return answer(ForecastDocument{forecast, subject});
}
const Description& forecast_document() { return description_of<ForecastDocument>(); }

Value fault_fit_json(const FaultFit& fit) { return answer(fit); }
const Description& fault_fit_document() { return description_of<FaultFit>(); }

}  // namespace orrery
