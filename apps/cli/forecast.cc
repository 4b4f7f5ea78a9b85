// orrery forecast: a whole training run, the time of its step, or the fit of a log of faults.
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "forecast/fault_fit.h"
#include "forecast/run_forecast.h"
#include "progress.h"
#include "question.h"
#include "report/drawing/figures.h"
#include "report/forecasts/forecast_report.h"
#include "report/forecasts/sizes_report.h"
#include "report/forecasts/step_report.h"
#include "report_files.h"
#include "search/default_step.h"

namespace orrery::cli {
namespace {

// Options that are fields of the section `forecast` as they stand.
constexpr auto kRunOptions = std::to_array<std::pair<const char*, std::string ForecastOptions::*>>({
    {"tokens", &ForecastOptions::tokens},
    {"steps", &ForecastOptions::steps},
    {"failures", &ForecastOptions::failures},
    {"restart", &ForecastOptions::restart},
    {"spares", &ForecastOptions::spares},
    {"loss", &ForecastOptions::loss},
    {"law", &ForecastOptions::law},
    {"within", &ForecastOptions::within},
    {"budget", &ForecastOptions::budget},
    {"start", &ForecastOptions::start},
    {"by", &ForecastOptions::by},
    {"step_at", &ForecastOptions::step_at},
    {"price", &ForecastOptions::price},
    {"runs", &ForecastOptions::runs},
    {"seed", &ForecastOptions::seed},
});

Value scalar(const std::string& text) {
  const bool number = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  return Value::scalar(number ? Value::Kind::number : Value::Kind::text, text, 0);
}

// "interval=30min,mode=asynchronous" as the fields of a checkpoint, over those of a specification,
// where these are a map.
Result<Value> with_fields(Value fields, const std::string& text, const char* option,
                          const char* example) {
  if (fields.kind() != Value::Kind::map) return fields;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string setting = text.substr(at, end - at);
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      return fail(ErrorCode::bad_input, "'" + setting + "' is not key=value", option,
                  std::string("write settings such as \"") + example + "\"");
    }
    fields.set(setting.substr(0, equals), scalar(setting.substr(equals + 1)));
    at = end + 1;
  }
  return fields;
}

// The options that are about the step, in the field `step`.
Result<void> set_step(const ForecastOptions& options, Value& fields) {
  const Value* before = fields.find("step");
  Value step = before != nullptr ? *before : Value::map();
  if (step.kind() != Value::Kind::map) return {};
  for (const auto& [key, value] : {std::pair{"variability", &options.variability},
                                   {"slow_node", &options.slow_node},
                                   {"exceeds", &options.exceeds},
                                   {"samples", &options.samples},
                                   {"seed", &options.seed}}) {
    if (!value->empty()) step.set(key, scalar(*value));
  }
  if (!options.spread.empty()) {
    step.set("spread", Value::scalar(Value::Kind::text, options.spread, 0));
  }
  if (!options.slow.empty()) {
    ORRERY_TRY(Value slow, with_fields(Value::map(), options.slow, "--slow", "stage=3,time=1.3"));
    Value all = Value::list();
    all.append(std::move(slow));
    step.set("slow", std::move(all));
  }
  fields.set("step", std::move(step));
  return {};
}

}  // namespace

Result<RunQuestion> run_question(const ForecastOptions& options, const Value& stated) {
  Value fields = stated.kind() == Value::Kind::null ? Value::map() : stated;
  if (fields.kind() == Value::Kind::map) {
    for (const auto& [key, option] : kRunOptions) {
      if (!(options.*option).empty()) fields.set(key, scalar(options.*option));
    }
    // The one given here replaces the other one of the specification.
    if (!options.tokens.empty() || !options.steps.empty() || !options.loss.empty()) {
      if (options.tokens.empty()) fields.set("tokens", Value::null());
      if (options.steps.empty()) fields.set("steps", Value::null());
      if (options.loss.empty()) fields.set("loss", Value::null());
    }
    if (!options.within.empty() && options.by.empty()) fields.set("by", Value::null());
    if (!options.by.empty() && options.within.empty()) fields.set("within", Value::null());
    if (!options.checkpoint.empty()) {
      const Value* before = fields.find("checkpoint");
      ORRERY_TRY(Value checkpoint,
                 with_fields(before != nullptr ? *before : Value::map(), options.checkpoint,
                             "--checkpoint", "interval=30min,mode=asynchronous"));
      fields.set("checkpoint", std::move(checkpoint));
    }
    ORRERY_RETURN_IF_ERROR(set_step(options, fields));
    const bool varies =
        !options.slow.empty() || !options.spread.empty() || !options.variability.empty();
    if (varies && fields.find("step_at") == nullptr) fields.set("step_at", scalar("mean"));
  }
  auto question = Codec<RunQuestion>::read(fields);
  if (!question) return fail(at("forecast", question.error()));
  return question;
}

namespace {

// What contradicts the log, or has no meaning without a model.
Result<void> check_log(const ForecastOptions& options) {
  const auto bad = [](std::string message, std::string where, std::string hint) {
    return fail(ErrorCode::bad_input, std::move(message), std::move(where), std::move(hint));
  };
  if (!options.failures.empty()) {
    return bad("--failures and --log are given", "--log", "the log states the failures");
  }
  if (!options.question.model.empty()) {
    if (options.log_nodes > 0) return {};
    return bad("a log names only nodes that failed, and the run needs the rate of all nodes",
               "--log-nodes", "write the number of nodes of its cluster");
  }
  for (const auto& [key, option] : kRunOptions) {
    if ((options.*option).empty()) continue;
    return bad("an option of a run, and no model is given", "--" + std::string(key),
               "write a model, or leave it out to see what the log says");
  }
  return {};
}

// What only a model has.
Result<void> check_without_model(const ForecastOptions& o, bool page) {
  const Question& q = o.question;
  for (const auto& [option, value] : {std::pair{"--on", &q.cluster},
                                      {"--plan", &q.plan},
                                      {"--seq", &q.sequence_length},
                                      {"--global-batch", &q.global_batch},
                                      {"--workload", &q.workload},
                                      {"--precision", &q.precision},
                                      {"--software", &q.software},
                                      {"--checkpoint", &o.checkpoint},
                                      {"--variability", &o.variability},
                                      {"--spread", &o.spread},
                                      {"--slow", &o.slow},
                                      {"--slow-node", &o.slow_node},
                                      {"--exceeds", &o.exceeds},
                                      {"--samples", &o.samples},
                                      {"--html", page ? &q.model : &q.html}}) {
    if (value->empty()) continue;
    return bad_input("no model is given", option, "write a model, or leave this out");
  }
  return {};
}

// A run has a length; without one the question is about its step. Options of the other question
// would have no effect.
Result<void> check_meaning(const ForecastOptions& o, bool run, StepOfRun step_at) {
  struct Given {
    const char* option;
    bool given;
  };
  const auto of_run = std::to_array<Given>({{"--log", !o.log.empty()},
                                            {"--failures", !o.failures.empty()},
                                            {"--restart", !o.restart.empty()},
                                            {"--checkpoint", !o.checkpoint.empty()},
                                            {"--spares", !o.spares.empty()},
                                            {"--within", !o.within.empty()},
                                            {"--budget", !o.budget.empty()},
                                            {"--law", !o.law.empty()},
                                            {"--start", !o.start.empty()},
                                            {"--by", !o.by.empty()},
                                            {"--step-at", !o.step_at.empty()},
                                            {"--price", !o.price.empty()},
                                            {"--runs", !o.runs.empty()}});
  // The last four are of a run as well whose steps are those of a distribution.
  const auto of_step = std::to_array<Given>({{"--slow-node", !o.slow_node.empty()},
                                             {"--exceeds", !o.exceeds.empty()},
                                             {"--variability", !o.variability.empty()},
                                             {"--spread", !o.spread.empty()},
                                             {"--slow", !o.slow.empty()},
                                             {"--samples", !o.samples.empty()}});
  const std::span<const Given> refused = !run ? std::span<const Given>(of_run)
                                         : step_at == StepOfRun::predicted
                                             ? std::span<const Given>(of_step)
                                             : std::span<const Given>(of_step).first(2);
  for (const Given& one : refused) {
    if (!one.given) continue;
    return run ? bad_input(
                     "an option of the distribution of a step, and the length of a run is given",
                     one.option,
                     "leave out --tokens and --steps to ask about the step, or write --step-at "
                     "mean")
               : bad_input("an option of a run, and its length is not given", one.option,
                           "write --tokens 15T, --steps N or --loss 2");
  }
  if (!o.slow.empty() && !o.slow_node.empty()) {
    return bad_input("a slow node is stated, and another one is looked for", "--slow-node",
                     "leave out one of --slow and --slow-node");
  }
  return {};
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
  const std::string& file = options.question.html;
  if (!file.empty()) ORRERY_RETURN_IF_ERROR(write_file(file, html()));
  if (common.json) return print(to_json(json()));
  return print(text(text_style()) + (file.empty() ? "" : "\nreport    " + file + "\n"));
}

// Without a model: which sizes reach a loss, or what a compute reaches.
Result<int> sizes_command(const ForecastOptions& options, const Common& common) {
  for (const auto& [key, option] : kRunOptions) {
    if ((options.*option).empty() || option == &ForecastOptions::loss ||
        option == &ForecastOptions::law) {
      continue;
    }
    return bad_input("an option of a run, and no model is given", "--" + std::string(key),
                     "write a model, or leave it out to see the sizes that the law gives");
  }
  ORRERY_RETURN_IF_ERROR(check_without_model(options, false));
  SizeQuestion question;
  if (!options.law.empty()) question.law = options.law;
  if (!options.loss.empty()) {
    ORRERY_TRY(question.loss, at("--loss", read_real(scalar(options.loss))));
  }
  if (!options.compute.empty()) {
    ORRERY_TRY(question.compute, parse_compute(options.compute));
  }
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const SizeAnswer sizes, sizes_of(question, catalog));
  return print(common.json ? to_json(sizes_json(sizes)) : sizes_text(sizes, text_style()));
}

Result<int> fit_command(const FaultFit& fitted, const ForecastOptions& options,
                        const Common& common) {
  ORRERY_RETURN_IF_ERROR(check_without_model(options, true));
  return answer(
      options, common, [&] { return fault_fit_html(fitted); },
      [&] { return fault_fit_json(fitted); },
      [&](const TextStyle& style) { return fault_fit_text(fitted, style); });
}

}  // namespace

Result<int> forecast_command(const ForecastOptions& options, const Common& common) {
  if (!options.compute.empty() && !(options.question.model.empty() && options.log.empty())) {
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
      (!options.loss.empty() || !options.compute.empty())) {
    return sizes_command(options, common);
  }
  if (options.question.model.empty()) {
    return fail(ErrorCode::bad_input, "neither a model nor a log of faults is given", "forecast",
                "write orrery forecast llama-3.1-405b --on ..., orrery forecast --log FILE, or "
                "orrery forecast --loss 1.9");
  }
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto spec, ask(options.question, catalog));
  ORRERY_TRY(const auto question, run_question(options, spec.forecast));
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

}  // namespace orrery::cli
