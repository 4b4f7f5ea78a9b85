// orrery forecast: a whole training run, the time of its step, or the fit of a log of faults.
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "forecast/fault_fit.h"
#include "forecast/run_forecast.h"
#include "progress.h"
#include "question.h"
#include "report/drawing/figures.h"
#include "report/forecasts/forecast_reports.h"
#include "search/default_step.h"

namespace orrery::cli {
namespace {

struct ForecastOptions {
  Question question;  // without a model: the log alone
  FieldOptions run;
  std::string log;             // of faults, in place of --failures
  std::int64_t log_nodes = 0;  // of its cluster; 0: those that it names
  double log_days = 0;         // 0: until its last event
  const CLI::App* app = nullptr;
};

constexpr auto kForecastOptions = std::to_array<FieldOption>({
    {"loss", "nats a token to reach, in place of --tokens; without a model: the sizes that do"},
    {"law", "of orrery catalog scaling-laws (default: chinchilla-replicated)"},
    {"compute", "without a model: the best size of so many FLOPs: 1e25", Field::other},
    {"within", "say how likely the run ends by then: 60days"},
    {"budget", "say how likely the run costs no more: 10M$"},
    {"start", "date on which the run starts: 2026-12-01"},
    {"by", "say how likely the run ends before this date: 2027-03-01"},
    {"step-at",
     "every step of the run takes: predicted, or the mean or p95 of its distribution "
     "(default: predicted; with --slow, --spread or --variability: mean)"},
    {"runs", "to simulate (default: 10000)"},
    {"seed", "of the random numbers (default: 1)"},
    {"variability",
     "of the step's operations, of orrery catalog variability or a file of orrery "
     "trace spreads (default: prism)",
     Field::step},
    {"spread", "over it: products.spatial=0.03,...", Field::step},
    {"slow", "a slow node: stage=3,time=1.3,nodes=1", Field::other},
    {"slow-node", "find the best stage for a node that takes so many times as long (default: 1.2)",
     Field::step},
    {"exceeds", "say how likely a step takes longer: 7s", Field::step},
    {"samples", "of a step (default: 10000)", Field::step},
});

// What contradicts the log, or has no meaning without a model.
Result<void> check_log(const ForecastOptions& options) {
  if (!options.run["failures"].empty()) {
    return bad_input("--failures and --log are given", "--log", "the log states the failures");
  }
  if (!options.question.model.empty()) {
    if (options.log_nodes > 0) return {};
    return bad_input("a log names only nodes that failed, and the run needs the rate of all nodes",
                     "--log-nodes", "write the number of nodes of its cluster");
  }
  for (const std::string& name : options.run.given(Field::top)) {
    return bad_input("an option of a run, and no model is given", "--" + name,
                     "write a model, or leave it out to see what the log says");
  }
  return {};
}

// What only a model has.
Result<void> check_without_model(const ForecastOptions& o) {
  return refuse_given(*o.app,
                      {"--on", "--plan", "--seq", "--global-batch", "--workload", "--precision",
                       "--software", "--checkpoint", "--variability", "--spread", "--slow",
                       "--slow-node", "--exceeds", "--samples"},
                      "no model is given", "write a model, or leave this out");
}

// A run has a length; without one the question is about its step. Options of the other question
// would have no effect.
Result<void> check_meaning(const ForecastOptions& o, bool run, StepOfRun step_at) {
  const auto of_step = [&](std::initializer_list<const char*> options) {
    return refuse_given(
        *o.app, options,
        "an option of the distribution of a step, and the length of a run is given",
        "leave out --tokens and --steps to ask about the step, or write --step-at mean");
  };
  if (!run) {
    ORRERY_RETURN_IF_ERROR(
        refuse_given(*o.app,
                     {"--log", "--failures", "--restart", "--checkpoint", "--spares", "--within",
                      "--budget", "--law", "--start", "--by", "--step-at", "--price", "--runs"},
                     "an option of a run, and its length is not given",
                     "write --tokens 15T, --steps N or --loss 2"));
  } else {
    ORRERY_RETURN_IF_ERROR(of_step({"--slow-node", "--exceeds"}));
    // These are of a run as well whose steps are those of a distribution.
    if (step_at == StepOfRun::predicted) {
      ORRERY_RETURN_IF_ERROR(of_step({"--variability", "--spread", "--slow", "--samples"}));
    }
  }
  if (o.run["slow"].empty()) return {};
  return refuse_given(*o.app, {"--slow-node"},
                      "a slow node is stated, and another one is looked for",
                      "leave out one of --slow and --slow-node");
}

// Does some work and shows how far it is. There is no answer to a part of it, so that Ctrl-C ends
// the program.
template <class Work>
auto with_progress(const Common& common, const char* words, const Work& work) {
  Progress progress(!common.quiet);
  return work([&](double share) {
    if (Progress::interrupted()) end_by_signal(SIGINT);
    progress.show(share, words);
  });
}

// Writes the page that is asked for, then the answer as a document or as text.
template <class Html, class Json, class Text>
Result<int> answer(const ForecastOptions& options, const Common& common, const Html& html,
                   const Json& json, const Text& text) {
  ORRERY_TRY(const std::string files, write_all({{"report", options.question.html, html}}));
  return print(common.json ? to_json(json()) : text(text_style()) + files);
}

// Without a model: which sizes reach a loss, or what a compute reaches.
Result<int> sizes_command(const ForecastOptions& options, const Common& common) {
  for (const std::string& name : options.run.given(Field::top)) {
    if (name == "loss" || name == "law") continue;
    return bad_input("an option of a run, and no model is given", "--" + name,
                     "write a model, or leave it out to see the sizes that the law gives");
  }
  ORRERY_RETURN_IF_ERROR(check_without_model(options));
  ORRERY_RETURN_IF_ERROR(refuse_given(*options.app, {"--html"}, "no model is given",
                                      "write a model, or leave this out"));
  SizeQuestion question;
  if (!options.run["law"].empty()) question.law = options.run["law"];
  if (!options.run["loss"].empty()) {
    ORRERY_TRY(question.loss, at("--loss", read_real(scalar(options.run["loss"]))));
  }
  if (!options.run["compute"].empty()) {
    ORRERY_TRY(question.compute, parse_compute(options.run["compute"]));
  }
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const SizeAnswer sizes, sizes_of(question, catalog));
  return print(common.json ? to_json(sizes_json(sizes)) : sizes_text(sizes, text_style()));
}

Result<int> fit_command(const FaultFit& fitted, const ForecastOptions& options,
                        const Common& common) {
  ORRERY_RETURN_IF_ERROR(check_without_model(options));
  return answer(
      options, common, [&] { return fault_fit_html(fitted); },
      [&] { return fault_fit_json(fitted); },
      [&](const TextStyle& style) { return fault_fit_text(fitted, style); });
}

Result<int> forecast_question(const ForecastOptions& options, const Common& common) {
  if (!options.run["compute"].empty() && !(options.question.model.empty() && options.log.empty())) {
    return bad_input("it chooses the size of a model, and a model or a log is given", "--compute",
                     "leave out the model and the log, or leave this out");
  }
  std::optional<FailureRates> recorded;
  if (!options.log.empty()) {
    ORRERY_RETURN_IF_ERROR(check_log(options));
    ORRERY_TRY(const FaultLog log, read_fault_log(options.log));
    ORRERY_TRY(FaultFit fitted,
               fit(log, {.last_day = options.log_days, .nodes = options.log_nodes}));
    if (options.question.model.empty()) return fit_command(fitted, options, common);
    recorded = std::move(fitted.rates);
  }
  if (options.question.model.empty() && options.log.empty() &&
      (!options.run["loss"].empty() || !options.run["compute"].empty())) {
    return sizes_command(options, common);
  }
  if (options.question.model.empty()) {
    return fail(ErrorCode::bad_input, "neither a model nor a log of faults is given", "forecast",
                "write orrery forecast llama-3.1-405b --on ..., orrery forecast --log FILE, or "
                "orrery forecast --loss 1.9");
  }
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto spec, ask(options.question, catalog));
  ORRERY_TRY(const auto question, run_question(options.run, spec.forecast));
  const bool run_asked = has_length(question) || !question.phases.empty() || question.batch_ramp ||
                         question.planned || question.elastic;
  ORRERY_RETURN_IF_ERROR(check_meaning(options, run_asked, question.step_at));
  ORRERY_TRY(const auto step, default_step(spec, catalog, common.threads));
  ORRERY_TRY(const auto errors, load_uncertainty(catalog));
  const Estimate figures = estimate(step, errors);
  if (figures.verdict == Verdict::does_not_fit) {
    return bad_input(
        fmt::format("the plan does not fit: it needs {} and has {}", gibibytes(figures.peak_memory),
                    gibibytes(figures.memory_capacity)),
        "plan", "orrery search finds plans that fit");
  }
  const Subject subject = subject_of(spec.scenario);
  if (!run_asked) {
    ORRERY_TRY(const auto times, with_progress(common, "steps drawn", [&](const Progressed& tell) {
                 return step_distribution(step, figures, question.step, catalog, common.threads,
                                          tell);
               }));
    return answer(
        options, common, [&] { return step_distribution_html(times, subject); },
        [&] { return step_distribution_json(times, subject); },
        [&](const TextStyle& style) { return step_distribution_text(times, subject, style); });
  }
  ORRERY_TRY(const auto run, with_progress(common, "runs simulated", [&](const Progressed& tell) {
               return forecast(step, figures, question, recorded, catalog,
                               {.threads = common.threads, .progressed = tell});
             }));
  return answer(
      options, common, [&] { return forecast_html(run, subject); },
      [&] { return forecast_json(run, subject); },
      [&](const TextStyle& style) { return forecast_text(run, subject, style); });
}

}  // namespace

Command forecast_command(CLI::App& orrery) {
  auto [app, o] = subcommand<ForecastOptions>(
      orrery, "forecast", "a whole training run: days, failures, cost, and how likely");
  o->app = app;
  add_question(app, o->question);
  app->get_option("model")->required(false);
  for (const char* file : {"--timeline", "--expanded"}) app->remove_option(app->get_option(file));
  add_run(app, o->run);
  o->run.add(app, kForecastOptions);
  CLI::Option* log = app->add_option(
      "--log", o->log,
      "a log of faults, JSON or CSV: its rates in place of --failures; without a model, the fit");
  app->add_option("--log-nodes", o->log_nodes,
                  "nodes of its cluster; without a model: those it names")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000'000}))
      ->needs(log);
  app->add_option("--log-days", o->log_days, "that it covers (default: until its last event)")
      ->check(number_within(1, 36525))
      ->needs(log);
  app->footer(
      "Examples:\n"
      "  orrery forecast llama-3.1-405b --on h100-sxm:16384 --plan tp=8,pp=16,chunks=8 --seq 8192 "
      "--global-batch 2048 --tokens 15.6T --failures meta-rsc-1 --within 90days\n"
      "  orrery forecast llama-3.1-405b --on h100-sxm:16384 --plan tp=8,pp=16,chunks=8 --seq 8192 "
      "--global-batch 2048\n"
      "  orrery forecast --loss 1.9 --compute 1e25\n"
      "  orrery forecast --log faults.json --log-nodes 400");
  return command(app, o, forecast_question);
}

}  // namespace orrery::cli
