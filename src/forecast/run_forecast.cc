#include "forecast/run_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "forecast/each_site.h"
#include "forecast/ettr.h"
#include "forecast/run_loss.h"
#include "units/grouped.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr std::int64_t kKnobRuns = 1000;
constexpr double kMostKnobs = 9;  // simulations
constexpr double kShareOfSampling = 0.3;

// Steps between two saves: those of the stated interval, or of the best one for exponential
// failures that need this save; at least as many as it takes to become durable. All steps where no
// failure needs it.
std::int64_t steps_between(const std::optional<Seconds>& interval, const SaveCost& cost,
                           Hertz failures, Seconds step, Seconds shortest, std::int64_t steps) {
  double wanted = static_cast<double>(steps);
  if (interval) {
    wanted = *interval / step;
  } else if (failures > Hertz(0)) {
    wanted = std::max(best_interval(failures, cost.blocked) / step,
                      std::ceil((cost.durable - cost.blocked) / shortest));
  }
  return static_cast<std::int64_t>(std::clamp(std::round(wanted), 1.0, static_cast<double>(steps)));
}

std::vector<CheckpointLevel> levels_of(const CheckpointPolicy& policy, const CheckpointCost& cost,
                                       Hertz failures, Seconds step, Seconds shortest,
                                       std::int64_t steps) {
  std::vector<CheckpointLevel> out;
  const auto add = [&](const std::optional<Seconds>& interval, const SaveCost& save,
                       Hertz failures_to_here, double survives) {
    out.push_back({.every = steps_between(interval, save, failures_to_here, step, shortest, steps),
                   .blocked = save.blocked,
                   .durable = save.durable,
                   .restore = save.restore,
                   .survives = survives});
  };
  const double survives = cost.memory ? policy.memory->survives : 0;
  if (survives > 0) add(policy.memory->interval, *cost.memory, survives * failures, survives);
  add(policy.interval, cost.storage, (1 - survives) * failures, 1);
  return out;
}

Seconds wall_of(const RunOutcome& run) { return Seconds(static_cast<double>(run.wall_ns) * 1e-9); }

struct Means {
  Seconds wall;
  double ettr = 0;
};
Means means(const std::vector<RunOutcome>& runs, std::int64_t count) {
  Means out;
  for (std::int64_t i = 0; i < count; ++i) {
    out.wall += wall_of(runs[static_cast<std::size_t>(i)]);
    out.ettr += runs[static_cast<std::size_t>(i)].ettr();
  }
  return {out.wall / static_cast<double>(count), out.ettr / static_cast<double>(count)};
}

// Levels whose saves would not be durable before the next one stay as they are.
std::vector<CheckpointLevel> with_half_the_interval(const RunModel& model) {
  std::vector<CheckpointLevel> out = model.checkpoints;
  for (CheckpointLevel& level : out) {
    const std::int64_t half = level.every / 2;
    const Seconds between = static_cast<double>(half) * shortest_step(model) + level.blocked;
    if (half >= 1 && level.durable <= between) level.every = half;
  }
  return out;
}

std::vector<Knob> knobs_of(const RunModel& model, const std::vector<RunOutcome>& runs,
                           std::uint64_t seed, int threads, const Progressed& progressed) {
  const std::int64_t count = std::min(kKnobRuns, static_cast<std::int64_t>(runs.size()));
  const Means base = means(runs, count);
  std::vector<Knob> out;
  double done = 0;  // simulations
  const auto turned = [&](const auto& change, double by) -> std::optional<Means> {
    if (progressed) progressed(done++ / kMostKnobs);
    RunModel other = model;
    change(other, by);
    const auto simulated = simulate_runs(other, count, seed, threads);
    if (!simulated) return std::nullopt;  // such as luck with spares that runs out
    return means(*simulated, count);
  };
  const auto turn = [&](std::string name, const auto& change, bool both_ways = true) {
    const auto half = turned(change, 0.5);
    if (!half) return;
    Knob knob{std::move(name), half->ettr, base.wall - half->wall, {}};
    if (const auto twice = both_ways ? turned(change, 2) : std::nullopt) {
      knob.doubled = twice->wall - base.wall;
    }
    out.push_back(std::move(knob));
  };
  const bool fails = model.failure_rate > Hertz(0);
  if (fails) {
    turn("half the failures", [](RunModel& m, double by) { m.failure_rate *= by; });
  }
  const std::string started = fails || model.planned ? "a restart" : "the start";
  turn("half the time of " + started, [](RunModel& m, double by) {
    for (RestartStage& stage : m.restart) stage.time = scaled(stage.time, by);
    for (CheckpointLevel& level : m.checkpoints) level.restore *= by;
  });
  const auto halved = with_half_the_interval(model);
  if (halved != model.checkpoints) {
    turn("half the interval of checkpoints", [&](RunModel& m, double by) {
      if (by < 1) m.checkpoints = halved;
      for (CheckpointLevel& level : m.checkpoints) {
        if (by > 1) level.every = std::min(2 * level.every, m.steps);
      }
    });
  }
  turn("half the time of a save", [](RunModel& m, double by) {
    for (CheckpointLevel& level : m.checkpoints) {
      level.blocked *= by;
      level.durable *= by;
    }
  });
  if (model.spares && fails) {
    const auto more = [](RunModel& m, double) {
      m.spares = std::clamp<std::int64_t>(2 * *m.spares, 1, kMostSpares);
    };
    turn(*model.spares == 0 ? "one spare" : "twice the spares", more, false);
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &Knob::saved);
  return out;
}

std::string cited(const std::string& name, const std::string& source) {
  return source == name ? name : name + ", " + source;
}

// How the failures of the job follow each other.
std::string order_of_failures(const FailureRates& rates, Seconds mean) {
  if (rates.gaps.law == TimeForm::exponential) return "independent";
  std::string gaps = "gaps as " + in_words(with_mean(rates.gaps, mean));
  if (rates.gaps.law != TimeForm::sampled) return gaps;
  return gaps +
         ", stretched to the rate of the job, whose failures are taken to cluster as those of the "
         "whole cluster do";
}

std::string failures_sentence(const RunForecast& f) {
  const FailureRates& rates = f.failures;
  return fmt::format("{:.3g} failures per 1,000 node-days of {} accelerators, {}: {}",
                     rates.per_1000_node_days, rates.accelerators_per_node,
                     order_of_failures(rates, f.mean_time_to_failure),
                     cited(rates.name, rates.provenance.source));
}

std::vector<std::string> assumptions_of(const RunForecast& f, const RunQuestion& q,
                                        const RunModel& model) {
  std::vector<std::string> out;
  if (f.fails()) out.push_back(failures_sentence(f));
  out.push_back((f.restarts() ? "restarts: " : "start: ") +
                cited(f.restart.name, f.restart.provenance.source) +
                (f.restart.includes_restore ? "; loading is in them" : ""));
  for (const RestartStage& stage : f.restart.stages) {
    if (stage.at_scale.empty()) continue;
    const std::int64_t least = stage.at_scale.front().accelerators;
    const std::int64_t most = stage.at_scale.back().accelerators;
    if (f.accelerators >= least && f.accelerators <= most) continue;
    out.push_back(fmt::format("{}: known from {} to {} accelerators, {}", stage.name,
                              grouped(least), grouped(most),
                              f.accelerators < least ? "below as at the least of them"
                                                     : "above in proportion to the logarithm"));
  }
  if (!q.checkpoint.size) {
    out.push_back(
        fmt::format("a checkpoint holds {}: weights and optimizer states of the trained "
                    "parameters",
                    to_text(f.checkpoint.size)));
  }
  if (!q.checkpoint.bandwidth) {
    out.push_back(fmt::format(
        "the storage takes {}: {} a node, as BLOOM-176B measured, and {} at "
        "most, as ByteDance did",
        to_text(f.checkpoint.bandwidth), to_text(kStorageOfNode), to_text(kStorageOfAll)));
  }
  if (!q.checkpoint.interval) out.push_back("checkpoints at the best interval");
  if (q.checkpoint.mode == SaveMode::asynchronous) {
    const CheckpointLevel& l = f.levels.back();
    out.push_back(fmt::format(
        "the storage is busy with checkpoints for {:.3g} % of the time and slows no step",
        100 *
            ((l.durable - l.blocked) / (static_cast<double>(l.every) * f.step_time + l.blocked))));
  }
  if (q.checkpoint.memory && q.checkpoint.memory->survives == 1) {
    out.push_back(q.checkpoint.interval
                      ? "copies in memory survive every failure"
                      : "copies in memory survive every failure, so that the storage takes the "
                        "last state alone");
  }
  if (q.checkpoint.memory && q.checkpoint.memory->survives == 0) {
    out.push_back("copies in memory survive no failure and are not saved");
  }
  if (with_half_the_interval(model) == model.checkpoints) {
    out.push_back("checkpoints cannot come twice as often, so that it is not said what that gains");
  }
  if (f.failures.lemons.share > 0) {
    out.push_back(
        fmt::format("{:.1f} % of the nodes fail {:.1f} times as often as the others; one "
                    "that fails is replaced by any node of the cluster",
                    100 * f.failures.lemons.share, f.failures.lemons.factor));
  }
  if (f.phases.size() > 1) {
    out.push_back("checkpoints and evaluations come every so many steps in all phases");
  }
  if (model.planned) {
    out.push_back(
        fmt::format("a planned interruption after every {} of running{}: the state is "
                    "saved, the run is down for {} and starts again",
                    to_text(model.planned->every),
                    q.planned->every ? "" : " (as often as " + f.failures.name + ")",
                    in_words(model.planned->time)));
  }
  if (f.fails() && model.racks.share > 0 && q.spares) {
    out.push_back(
        fmt::format("{:.3g} % of the failures take out {} nodes, which are repaired "
                    "together",
                    100 * model.racks.share, model.racks.nodes));
  }
  if (f.fails() && model.elastic) {
    out.push_back(
        fmt::format("without spares the run goes on with {} of {} replicas or more: the "
                    "batch stays, the step takes longer in proportion, and repaired "
                    "nodes join it without a pause",
                    model.elastic->least, model.elastic->replicas));
  }
  if (f.fails() && !q.spares) out.push_back("there is always another node for one that fails");
  if (f.price) {
    out.push_back("price " + f.price_name + ", also while the run waits" +
                  (q.spares ? "; spares cost nothing" : ""));
  }
  if (f.power) {
    out.push_back(fmt::format("accelerators draw their design power all the time{}",
                              q.pue > 1 ? "" : "; nothing else draws any"));
  }
  return out;
}

// How long a step of the run takes.
Result<Seconds> step_time_of(RunForecast& out, const PredictedStep& step, const Estimate& estimate,
                             const RunQuestion& question, const Catalog& catalog,
                             const ForecastWork& work) {
  out.step_at = question.step_at;
  if (question.step_at == StepOfRun::predicted) return estimate.step_time;
  std::optional<StepTimes> times = work.sampled_step;
  if (!times) {
    ORRERY_TRY(times,
               sampled_step_times(step, estimate.step_time, question.step, catalog, work.threads,
                                  part_of_work(work.progressed, 0, kShareOfSampling)));
  }
  const Seconds taken = question.step_at == StepOfRun::mean ? times->mean : times->p95.value;
  const double longer = taken / estimate.step_time;
  std::string sentence = fmt::format(
      "every step takes the {} of its distribution, {:.1f} % {} than predicted{}: spreads {}{}",
      to_text(question.step_at), 100 * std::abs(longer - 1), longer < 1 ? "less" : "more",
      has_phases(question) ? ", in every phase as with the plan and the batch of the run" : "",
      question.step.variability, question.step.spread.empty() ? "" : ", " + question.step.spread);
  for (const SlowNodes& slow : question.step.slow) {
    sentence += fmt::format(", {} {} of stage {} {:g} times as long throughout", slow.nodes,
                            slow.nodes == 1 ? "node" : "nodes", slow.stage, slow.time);
  }
  out.assumed.push_back(std::move(sentence));
  return taken;
}

// Its length and its size.
Result<void> describe_run(RunForecast& out, const PredictedStep& step, const Estimate& estimate,
                          const RunQuestion& question, const Catalog& catalog, Seconds taken) {
  if (!question.tokens.empty()) {
    ORRERY_TRY(out.tokens, parse_tokens(question.tokens));
  }
  const Training& training = step.training();
  if (training.workload != Workload::training) {
    return bad_input("a run that trains nothing has no checkpoints and reaches no loss", "workload",
                     "orrery estimate predicts its step");
  }
  if ((question.loss || !question.law.empty()) &&
      trained_parameters(step.model()) < parameters(step.model())) {
    return bad_input("scaling laws are of pre-training, and the model has adapters",
                     "forecast.loss", "write --tokens or --steps, without --law");
  }
  const double batch =
      static_cast<double>(training.global_batch) * static_cast<double>(training.sequence_length);
  if (question.loss) {
    ORRERY_TRY(out.loss, loss_of(out, step.model(), question, batch, catalog));
    out.tokens = out.loss->run.tokens * (1 + out.loss->extra_share);
  }
  ORRERY_TRY(out.phases, phases_of(step, estimate, question, out.tokens, catalog));
  for (ForecastPhase& phase : out.phases) {
    if (out.step_at != StepOfRun::predicted) {
      phase.step_time = phase.step_time / estimate.step_time * taken;
    }
    out.steps += phase.steps;
    out.healthy += phase.healthy();
  }
  out.step_time = out.phases.size() == 1 ? out.phases.front().step_time
                                         : out.healthy / static_cast<double>(out.steps);
  if (!question.loss && !question.law.empty()) {
    ORRERY_TRY(out.loss, loss_of(out, step.model(), question, batch, catalog));
  }
  out.step_interval = estimate.interval;
  out.step_interval.low *= out.step_time / estimate.step_time;
  out.step_interval.high *= out.step_time / estimate.step_time;
  out.accelerators = step.cluster().accelerators;
  out.nodes = nodes_of(step.cluster());
  out.checkpoint =
      checkpoint_cost(step.model(), step.training(), step.cluster(), question.checkpoint);
  return {};
}

Result<void> choose_facts(RunForecast& out, const RunQuestion& question,
                          const std::optional<FailureRates>& failures, const Catalog& catalog) {
  if (failures) {
    out.failures = *failures;
  } else {
    ORRERY_TRY(out.failures,
               at("forecast.failures", load_failure_rates(catalog, question.failures)));
  }
  ORRERY_TRY(out.restart, at("forecast.restart", load_restart_times(catalog, question.restart)));
  return {};
}

Result<PlannedStops> planned_stops_of(const PlannedQuestion& planned, const FailureRates& rates) {
  if (planned.every) return PlannedStops{*planned.every, planned.time};
  if (!rates.planned || *rates.planned < 1 || !rates.days) {
    return bad_input(
        "how often the run is stopped is not given, and " + rates.name + " does not say it",
        "forecast.planned.every", "write every: 27 h");
  }
  const Seconds every = *rates.days / static_cast<double>(*rates.planned) * Seconds(86400);
  return PlannedStops{every, planned.time};
}

// Of a node, where there are spares.
Result<TimeLaw> repair_of(const RunQuestion& question, const FailureRates& failures) {
  const auto& repair = question.repair ? question.repair : failures.repair;
  if (repair || !question.spares) return repair.value_or(TimeLaw{});
  return bad_input("spares need a time of repair, which " + failures.name + " does not have",
                   "forecast.spares",
                   "write repair: {law: log_normal, median: 30 h, spread: 1.5} in the section "
                   "forecast of a specification");
}

// The run to simulate; notes in `out` what follows from it without a simulation.
Result<RunModel> model_of(RunForecast& out, const PredictedStep& step,
                          const RunQuestion& question) {
  RunModel model;
  model.steps = out.steps;
  model.step = out.phases.front().step_time;
  std::int64_t before = 0;
  for (std::size_t i = 1; i < out.phases.size(); ++i) {
    before += out.phases[i - 1].steps;
    model.later.push_back({before, out.phases[i].step_time});
  }
  if (question.evaluation) {
    model.evaluate_every = question.evaluation->every;
    model.evaluation = question.evaluation->time;
  }
  model.nodes = out.nodes;
  each_site(step.cluster(), [&](const Cluster& part, std::int64_t accelerators) {
    const std::int64_t nodes = accelerators / part.accelerators_per_node;
    model.failure_rate += rate_of_node(out.failures, part.accelerators_per_node) *
                          (static_cast<double>(nodes) / static_cast<double>(out.nodes));
  });
  model.gaps = out.failures.gaps;
  model.lemons = out.failures.lemons;
  model.node_share = node_share(out.failures);
  model.restart = stages_at(out.restart, out.accelerators);
  if (question.queue) {
    model.restart.push_back({.name = "queue", .time = *question.queue, .first_start = true});
  }
  model.spares = question.spares;
  ORRERY_TRY(model.repair, repair_of(question, out.failures));
  model.racks = question.racks.value_or(out.failures.racks);
  if (question.elastic) {
    ORRERY_RETURN_IF_ERROR(check_alike(step.cluster(), "an elastic run"));
    const Plan& plan = step.plan();
    // Ranks whose experts are divided among them leave together.
    const std::int64_t together = std::max<std::int64_t>(
        1, plan.ep * std::max<std::int64_t>(plan.etp, 1) / (plan.tp * plan.cp));
    const std::int64_t replicas = std::max<std::int64_t>(1, plan.dp / together);
    model.elastic = ElasticReplicas{
        replicas, std::llround(std::ceil(question.elastic->least * static_cast<double>(replicas)))};
  }
  if (question.planned) {
    ORRERY_TRY(model.planned, planned_stops_of(*question.planned, out.failures));
  }
  const Hertz rate = static_cast<double>(model.nodes) * model.failure_rate;
  model.checkpoints = levels_of(question.checkpoint, out.checkpoint, rate, out.step_time,
                                shortest_step(model), model.steps);
  out.levels = model.checkpoints;
  if (out.restart.includes_restore) {
    for (CheckpointLevel& level : model.checkpoints) level.restore = {};
  }
  out.mean_time_to_failure = mean_time_to_failure(model.nodes, model.failure_rate);
  out.mean_restart = mean_of(model.restart);
  const std::vector<double> shares = shares_of_failures(model.checkpoints);
  for (std::size_t l = 0; l < shares.size(); ++l) {
    out.mean_restart += shares[l] * model.checkpoints[l].restore;
  }
  const CheckpointLevel& last = model.checkpoints.back();
  Seconds first_start;  // which the closed form leaves out
  for (const RestartStage& stage : model.restart) {
    if (stage.first_start) first_start += mean_of(stage.time) * stage.share;
  }
  if (model.checkpoints.size() == 1 && first_start < 0.01 * out.healthy &&
      last.durable <= last.blocked && !model.spares && model.gaps.law == TimeForm::exponential &&
      !(model.lemons.share > 0) && model.evaluate_every == 0 && model.later.empty() &&
      !model.planned) {
    out.exact_ettr = exact_ettr(
        {rate, out.mean_restart, static_cast<double>(last.every) * model.step, last.blocked});
  }
  return model;
}

void summarize(RunForecast& out, const std::vector<RunOutcome>& runs, const RunQuestion& question) {
  out.runs = question.runs;
  out.seed = question.seed;
  std::vector<Seconds> wall;
  std::vector<double> ettr;
  std::vector<double> interruptions;
  const double share = 1 / static_cast<double>(runs.size());
  for (const RunOutcome& run : runs) {
    wall.push_back(wall_of(run));
    ettr.push_back(run.ettr());
    interruptions.push_back(static_cast<double>(run.interruptions));
    out.planned += static_cast<double>(run.planned) * share;
    for (std::size_t i = 0; i < kBadputs; ++i) {
      out.badput[i] += Seconds(static_cast<double>(run.badput_ns[i]) * 1e-9) * share;
    }
  }
  out.within = time_allowed(question);
  if (!question.start.empty()) out.start = *parse_date(question.start);
  if (!question.by.empty()) out.by = *parse_date(question.by);
  if (out.within) {
    const auto in_time = std::ranges::count_if(wall, [&](Seconds w) { return w <= *out.within; });
    out.ends_within = share_of(static_cast<std::size_t>(in_time), wall.size());
  }
  out.wall = run_spread_of(wall);
  const auto median = std::ranges::find(wall, out.wall.p50.value) - wall.begin();
  out.median_run = static_cast<std::uint64_t>(median);
  out.median_interruptions = runs[out.median_run].interruptions;
  std::ranges::sort(wall);
  out.walls = std::move(wall);
  out.ettr = run_spread_of(std::move(ettr));
  out.interruptions = run_spread_of(std::move(interruptions));
}

Result<void> price_run(RunForecast& out, const Cluster& cluster, const RunQuestion& question,
                       const Catalog& catalog) {
  ORRERY_TRY(static_cast<RunCosts&>(out), run_costs(cluster, question, catalog));
  if (question.budget.empty()) return {};
  if (!out.price) {
    return bad_input("a budget, and no price of " + accelerators_in_words(cluster),
                     "forecast.budget", "write --price 2.95$/h");
  }
  ORRERY_TRY(out.budget, parse_budget(question.budget));
  return {};
}

}  // namespace

Result<std::optional<DollarsPerSecond>> check_run(const RunQuestion& question,
                                                  const Cluster& cluster, const Catalog& catalog) {
  ORRERY_RETURN_IF_ERROR(check(question));
  RunForecast out;
  ORRERY_RETURN_IF_ERROR(choose_facts(out, question, std::nullopt, catalog));
  ORRERY_RETURN_IF_ERROR(repair_of(question, out.failures));
  ORRERY_RETURN_IF_ERROR(price_run(out, cluster, question, catalog));
  return out.price;
}

Result<RunForecast> forecast(const PredictedStep& step, const Estimate& estimate,
                             const RunQuestion& question,
                             const std::optional<FailureRates>& failures, const Catalog& catalog,
                             const ForecastWork& work) {
  ORRERY_RETURN_IF_ERROR(check(question));
  RunForecast out;
  out.assumed = step.defaults;
  ORRERY_TRY(const Seconds taken, step_time_of(out, step, estimate, question, catalog, work));
  ORRERY_RETURN_IF_ERROR(describe_run(out, step, estimate, question, catalog, taken));
  ORRERY_RETURN_IF_ERROR(choose_facts(out, question, failures, catalog));
  ORRERY_TRY(out.model, model_of(out, step, question));
  const RunModel& model = out.model;
  const double begin = question.step_at == StepOfRun::predicted ? 0 : kShareOfSampling;
  const auto simulated_runs = static_cast<double>(question.runs);
  const double end = begin + (1 - begin) * simulated_runs /
                                 (simulated_runs + kMostKnobs * static_cast<double>(kKnobRuns));
  ORRERY_TRY(const auto runs, simulate_runs(model, question.runs, question.seed, work.threads,
                                            part_of_work(work.progressed, begin, end)));
  summarize(out, runs, question);
  ORRERY_RETURN_IF_ERROR(price_run(out, step.cluster(), question, catalog));
  if (out.budget) {
    const auto affordable = std::ranges::count_if(
        out.walls, [&](Seconds wall) { return out.cost(wall) <= *out.budget; });
    out.costs_at_most = share_of(static_cast<std::size_t>(affordable), runs.size());
  }
  if (work.knobs) {
    out.knobs =
        knobs_of(model, runs, question.seed, work.threads, part_of_work(work.progressed, end, 1));
  }
  std::ranges::move(assumptions_of(out, question, model), std::back_inserter(out.assumed));
  if (!step.cluster().further_sites.empty()) {
    out.assumed.emplace_back(
        "nodes of all sites fail and are repaired alike, by their number of accelerators, and a "
        "node of any site replaces one of any other");
  }
  return out;
}

}  // namespace orrery
