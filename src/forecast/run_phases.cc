#include "forecast/run_phases.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {
namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;

double tokens_of_step(const ForecastPhase& phase) {
  return static_cast<double>(phase.global_batch) * static_cast<double>(phase.sequence_length);
}

// The batches below that of the run, each for its share of the tokens.
Result<std::vector<RunPhase>> phases_of_ramp(const BatchRamp& ramp, std::int64_t global_batch) {
  const auto refused = [](std::string message, std::string hint) {
    return bad_input(std::move(message), "forecast.batch_ramp", std::move(hint));
  };
  const std::int64_t rise = global_batch - ramp.from;
  if (rise <= 0 || rise % ramp.by != 0) {
    return refused(fmt::format("from {} by {} does not lead to the batch of {}", ramp.from, ramp.by,
                               global_batch),
                   "write a difference to it that is a multiple of `by`");
  }
  if (rise / ramp.by > kMostPhases) {
    return refused(fmt::format("{} batches", rise / ramp.by),
                   fmt::format("write a larger `by`: {} at most", kMostPhases));
  }
  ORRERY_TRY(const double over, at("forecast.batch_ramp.over", parse_tokens(ramp.over)));
  std::vector<RunPhase> out;
  for (std::int64_t batch = ramp.from; batch < global_batch; batch += ramp.by) {
    RunPhase phase;
    phase.name = fmt::format("batch of {}", batch);
    phase.tokens =
        fmt::format("{}", over * static_cast<double>(ramp.by) / static_cast<double>(rise));
    phase.global_batch = batch;
    out.push_back(std::move(phase));
  }
  out.emplace_back().name = "whole batch";
  return out;
}

// The step of a phase: the one of the run where it has nothing of its own.
Result<Seconds> priced(const RunPhase& phase, ForecastPhase& out, const PredictedStep& step,
                       const Estimate& whole, bool elastic, const Catalog& catalog) {
  Scenario scenario = step.priced->scenario;
  // The plan of the step, but for what follows from the degrees, which a phase may change.
  Plan& plan = scenario.plan;
  plan = step.plan();
  plan.dp = 0;
  if (plan.etp == (plan.ep > 1 ? 1 : plan.tp)) plan.etp = 0;
  if (plan.tp == 1) plan.sequence_parallel = Plan().sequence_parallel;
  if (phase.sequence_length) scenario.training.sequence_length = *phase.sequence_length;
  if (phase.global_batch) scenario.training.global_batch = *phase.global_batch;
  out.global_batch = scenario.training.global_batch;
  out.sequence_length = scenario.training.sequence_length;
  if (phase.plan.empty() && scenario.training == step.training()) return whole.step_time;
  if (!phase.plan.empty()) {
    ORRERY_TRY(scenario.plan, parse_plan(phase.plan, scenario.plan));
  }
  ORRERY_TRY(const PredictedStep predicted, predict(std::move(scenario), catalog));
  if (elastic && predicted.plan().dp != step.plan().dp) {
    return bad_input(fmt::format("dp = {} in an elastic run whose other steps have {}",
                                 predicted.plan().dp, step.plan().dp),
                     "plan", "write plans of the same dp, or leave out `elastic`");
  }
  const Estimate own = estimate(predicted);
  if (own.verdict == Verdict::does_not_fit) {
    return bad_input(fmt::format("the plan does not fit: it needs {:.1f} GiB and has {:.1f} GiB",
                                 static_cast<double>(own.peak_memory) / kGibibyte,
                                 static_cast<double>(own.memory_capacity) / kGibibyte),
                     "plan", "write a plan of its own for the phase: plan: \"cp=2\"");
  }
  return own.step_time;
}

}  // namespace

Result<std::vector<ForecastPhase>> phases_of(const PredictedStep& step, const Estimate& whole,
                                             const RunQuestion& question,
                                             std::optional<double> tokens, const Catalog& catalog) {
  std::vector<RunPhase> asked = question.phases;
  if (question.batch_ramp) {
    ORRERY_TRY(asked, phases_of_ramp(*question.batch_ramp, step.training().global_batch));
  }
  if (asked.empty()) asked.emplace_back();
  std::vector<ForecastPhase> out;
  double trained = 0;  // tokens
  double end = 0;      // of the phase, in tokens
  std::int64_t steps_done = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const RunPhase& phase = asked[i];
    const bool last = i + 1 == asked.size();
    ForecastPhase one;
    one.name = phase.name.empty() ? fmt::format("phase {}", i + 1) : phase.name;
    const std::string place = "forecast.phases, " + one.name;
    auto step_time = priced(phase, one, step, whole, question.elastic.has_value(), catalog);
    if (!step_time) return fail(at(place, step_time.error()));
    one.step_time = *step_time;
    if (last && !tokens) {
      one.steps = *question.steps - steps_done;
    } else if (phase.steps || (phase.share && !tokens)) {
      one.steps = phase.steps ? *phase.steps
                              : std::llround(*phase.share * static_cast<double>(*question.steps));
      if (one.steps < 1) return bad_input("a share of less than a step", place);
      end = trained + static_cast<double>(one.steps) * tokens_of_step(one);
    } else {
      double length = 0;
      if (phase.share) length = *phase.share * *tokens;
      if (!phase.tokens.empty()) {
        ORRERY_TRY(length, at(place, parse_tokens(phase.tokens)));
      }
      end = last ? *tokens : end + length;
      one.steps = static_cast<std::int64_t>(std::ceil((end - trained) / tokens_of_step(one)));
    }
    if (last && one.steps < 1) {
      return bad_input("the other phases leave no step for the last one", place,
                       "write a longer run, or shorter phases");
    }
    if (one.steps < 1) continue;  // shorter than what the step before went beyond its own
    one.tokens = static_cast<double>(one.steps) * tokens_of_step(one);
    trained += one.tokens;
    steps_done += one.steps;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace orrery
