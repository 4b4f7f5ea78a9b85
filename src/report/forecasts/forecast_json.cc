#include "report/forecasts/forecast_json.h"

#include "document/results.h"
#include "report/forecasts/distribution.h"

namespace orrery {
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
                       field<&QuantileRow::value>("value", "of the simulated runs"),
                       field<&QuantileRow::low>("low", "lower end of its 95 % interval"),
                       field<&QuantileRow::high>("high", "upper end of its 95 % interval"));

template <>
inline constexpr auto kResults<SpreadRow> =
    table<SpreadRow>("spread", "A figure over the simulated runs.",
                     field<&SpreadRow::p5>("p5", "5 % of the runs have less"),
                     field<&SpreadRow::p50>("p50", "the median"),
                     field<&SpreadRow::p95>("p95", "95 % of the runs have less"),
                     field<&SpreadRow::mean>("mean", "of the runs"));

template <>
inline constexpr auto kResults<OfWall> =
    table<OfWall>("figure", "A figure that is proportional to the wall-clock time.",
                  field<&OfWall::p5>("p5", "in the run of the 5 % quantile"),
                  field<&OfWall::p50>("p50", "in the median run"),
                  field<&OfWall::p95>("p95", "in the run of the 95 % quantile"),
                  field<&OfWall::mean>("mean", "of the runs"));

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
    "checkpoint", "A kind of checkpoint.",
    field<&CheckpointLevel::every>("every", "steps between two"),
    field<&CheckpointLevel::blocked>("blocked_s", "training stands still"),
    field<&CheckpointLevel::durable>("durable_s", "from the start of a save until it is of use"),
    field<&CheckpointLevel::restore>("restore_s", "to load it"),
    field<&CheckpointLevel::survives>("survives", "probability that a failure leaves it intact"));

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
    field<&Knob::name>("change", "what is better"), field<&Knob::ettr>("ettr", "mean with it"),
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
    field<&LossForecast::extra_share>("extra_share", "tokens beyond the law's, for the batch"));

template <>
inline constexpr auto kResults<RunForecast> = table<RunForecast>(
    "forecast", "A whole training run.",
    field("tokens", "of the run; null: steps were given", [](auto& f) { return f.tokens; }),
    field<&RunForecast::steps>("steps", "of the run"),
    field<&RunForecast::step_at>(
        "step_at", "as orrery estimate predicts it, or the mean or p95 of its distribution"),
    field<&RunForecast::step_time>("step_time_s", "of every step of the run; the mean of phases"),
    field<&RunForecast::phases>("one or more"),
    field("step_time_low_s", "lower end of the interval of the step time",
          [](auto& f) { return f.step_interval.low; }),
    field("step_time_high_s", "upper end of the interval of the step time",
          [](auto& f) { return f.step_interval.high; }),
    field<&RunForecast::healthy>("healthy_s", "all steps, without a failure or a save"),
    field("gpus", "accelerators of the job", [](auto& f) { return f.accelerators; }),
    field<&RunForecast::nodes>("nodes", "of the job"),
    field("failures", "name of the failure rates", [](auto& f) { return f.failures.name; }),
    field("failures_per_1000_node_days", "of the nodes that were counted",
          [](auto& f) { return f.failures.per_1000_node_days; }),
    field("mean_time_to_failure_s", "of the job; null: it never fails",
          [](auto& f) {
            return std::isfinite(f.mean_time_to_failure.value())
                       ? std::optional(f.mean_time_to_failure)
                       : std::nullopt;
          }),
    field("restart", "name of the restart times", [](auto& f) { return f.restart.name; }),
    field<&RunForecast::mean_restart>("mean_restart_s",
                                      "from a failure to the next step, loading included"),
    field("checkpoint_bytes", "of the training state", [](auto& f) { return f.checkpoint.size; }),
    field<&RunForecast::levels>("checkpoints", "copies in memory first, the storage last"),
    field<&RunForecast::runs>("runs", "simulated"),
    field<&RunForecast::seed>("seed", "of the random numbers"),
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
    field<&RunForecast::assumed>("assumed", "sentences"));

template <>
inline constexpr auto kResults<ForecastDocument> = table<ForecastDocument>(
    "forecast document", "A whole training run, forecast.", schema_version<1>(),
    field("model", "name of the model", [](auto& d) { return d.subject.model; }),
    field("cluster", "name of the cluster", [](auto& d) { return d.subject.cluster; }),
    fields_within([](auto& d) -> const RunForecast& { return d.run; }));

template <>
inline constexpr auto kResults<FaultFit> = table<FaultFit>(
    "fault fit document", "What a log of faults says of its cluster.", schema_version<1>(),
    field<&FaultFit::name>("log", "its file"), field<&FaultFit::days>("days", "of the log"),
    field<&FaultFit::nodes>("nodes", "of the cluster"),
    field<&FaultFit::faults>("faults", "that began"),
    field("failures_per_1000_node_days", "faults over nodes x days",
          [](auto& f) { return f.rates.per_1000_node_days; }),
    field<&FaultFit::faults_a_day>("faults_a_day", "mean"),
    field<&FaultFit::days_without>("days_without", "share of the days on which none began"),
    field<&FaultFit::dispersion_by_day>("dispersion_by_day",
                                        "variance / mean of the faults of a day"),
    field<&FaultFit::nodes_that_failed>("nodes_that_failed", "at least once"),
    field<&FaultFit::most_of_a_node>("most_of_a_node", "faults of the node that failed most often"),
    field<&FaultFit::worst_tenth>("worst_tenth",
                                  "share of the faults on the tenth of the nodes that fails most"),
    field<&FaultFit::dispersion_by_node>("dispersion_by_node",
                                         "variance / mean of the faults of a node"),
    field<&FaultFit::rates, &FailureRates::lemons, &LemonNodes::share>(
        "lemon_share", "share of the nodes that fail more often than the others; 0: none found"),
    field<&FaultFit::rates, &FailureRates::lemons, &LemonNodes::factor>(
        "lemon_factor", "their rate over that of the others"),
    field<&FaultFit::nodes_down>("nodes_down", "mean over time"),
    field<&FaultFit::open>("open", "faults that had not ended"),
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
