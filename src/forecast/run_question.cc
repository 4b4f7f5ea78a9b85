#include "forecast/run_question.h"

#include <fmt/format.h>

#include <charconv>
#include <initializer_list>
#include <utility>

#include "forecast/run_simulation.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

Result<void> check_phases(const RunQuestion& q) {
  if (static_cast<std::int64_t>(q.phases.size()) > kMostPhases) {
    return bad_input(fmt::format("{} phases", q.phases.size()), "forecast.phases",
                     fmt::format("{} at most", kMostPhases));
  }
  for (std::size_t i = 0; i < q.phases.size(); ++i) {
    const RunPhase& phase = q.phases[i];
    const std::string place = fmt::format("forecast.phases[{}]", i);
    const int lengths = static_cast<int>(!phase.tokens.empty()) +
                        static_cast<int>(phase.steps.has_value()) +
                        static_cast<int>(phase.share.has_value());
    const bool last = i + 1 == q.phases.size();
    if (last && lengths > 0) {
      return bad_input("the last phase states its length", place,
                       "leave it out: it lasts until the run ends");
    }
    if (!last && lengths != 1) {
      return bad_input("exactly one of tokens, steps and share is needed", place,
                       "write one of them");
    }
    if (!phase.tokens.empty() && q.steps) {
      return bad_input("tokens of a phase of a run that is given in steps", place,
                       "write its steps or its share");
    }
    if (phase.steps.value_or(1) < 1 || phase.global_batch.value_or(1) < 1 ||
        phase.sequence_length.value_or(1) < 1) {
      return bad_input("a number below 1", place, "write 1 or more");
    }
    if (phase.steps.value_or(1) > kMostSteps) return bad_input("more than 1e15 steps", place);
    if (phase.share && !(*phase.share > 0 && *phase.share < 1)) {
      return bad_input(fmt::format("a share of {}", *phase.share), place,
                       "write one between 0 and 1");
    }
  }
  if (!q.batch_ramp) return {};
  if (!q.phases.empty()) {
    return bad_input("both phases and batch_ramp are given", "forecast.batch_ramp",
                     "write its batches as phases");
  }
  if (q.steps) {
    return bad_input("a ramp over tokens of a run that is given in steps", "forecast.batch_ramp",
                     "write tokens in place of steps");
  }
  if (q.batch_ramp->from < 1 || q.batch_ramp->by < 1) {
    return bad_input("a batch below 1", "forecast.batch_ramp", "write 1 or more");
  }
  return {};
}

Result<void> check_parts(const RunQuestion& q) {
  ORRERY_RETURN_IF_ERROR(check_phases(q));
  if (q.planned) {
    if (q.planned->every && !(*q.planned->every > Seconds(0))) {
      return bad_input("an interval that is not above 0", "forecast.planned.every", "write 27 h");
    }
    ORRERY_RETURN_IF_ERROR(at("forecast.planned.time", check(q.planned->time)));
  }
  if (q.racks) {
    ORRERY_RETURN_IF_ERROR(at("forecast", check(*q.racks)));
    if (!q.spares) {
      return bad_input("without a number of spares there is always another node", "forecast.racks",
                       "write spares as well: 0 or more");
    }
  }
  if (q.elastic && !q.spares) {
    return bad_input("without a number of spares there is always another node", "forecast.elastic",
                     "write spares as well: 0 or more");
  }
  if (q.elastic && !(q.elastic->least >= kLeastReplicas && q.elastic->least <= 1)) {
    return bad_input(fmt::format("a share of {}", q.elastic->least), "forecast.elastic.least",
                     fmt::format("write {} to 1", kLeastReplicas));
  }
  return {};
}

}  // namespace

Fields<RunPhase> fields_of(const RunPhase*) {
  return Fields<RunPhase>("phase")
      .optional<&RunPhase::name>("what it is called in the answer")
      .optional<&RunPhase::tokens>("that it lasts: 2.87T, 300B")
      .optional<&RunPhase::steps>("that it lasts")
      .optional<&RunPhase::share>("of the run that it lasts")
      .optional<&RunPhase::global_batch>("sequences")
      .optional<&RunPhase::sequence_length>("tokens")
      .optional<&RunPhase::plan>("settings over those of the plan: cp=16,dp=8");
}

Fields<BatchRamp> fields_of(const BatchRamp*) {
  return Fields<BatchRamp>("ramp of the batch")
      .required<&BatchRamp::from>("sequences of the first batch")
      .required<&BatchRamp::by>("sequences by which it grows")
      .required<&BatchRamp::over>("tokens until the whole batch: 12B");
}

Fields<PlannedQuestion> fields_of(const PlannedQuestion*) {
  return Fields<PlannedQuestion>("description of planned interruptions")
      .optional<&PlannedQuestion::every>("time between; absent: that of the failure rates")
      .required<&PlannedQuestion::time>("that the run is down, apart from its start");
}

Fields<ElasticQuestion> fields_of(const ElasticQuestion*) {
  return Fields<ElasticQuestion>("description of an elastic run")
      .required<&ElasticQuestion::least>("share of the replicas with which it goes on");
}

Fields<EvaluationPauses> fields_of(const EvaluationPauses*) {
  return Fields<EvaluationPauses>("description of evaluations")
      .required<&EvaluationPauses::every>("steps between two")
      .required<&EvaluationPauses::time>("that training stands still");
}

Fields<RunQuestion> fields_of(const RunQuestion*) {
  return Fields<RunQuestion>("forecast")
      .optional<&RunQuestion::tokens>("of the run: 15.6T, 300B")
      .optional<&RunQuestion::steps>("of the run, in place of tokens")
      .optional<&RunQuestion::loss>("to reach, in place of tokens: nats a token")
      .optional<&RunQuestion::law>("name in the catalog's scaling laws")
      .optional<&RunQuestion::routing>("name in the catalog's routed laws: what experts are worth")
      .optional<&RunQuestion::failures>("name in the catalog's failures")
      .optional<&RunQuestion::restart>("name in the catalog's restarts")
      .optional<&RunQuestion::checkpoint>("how and how often state is saved")
      .optional<&RunQuestion::evaluation>("pauses for evaluation")
      .optional<&RunQuestion::queue>("time in the queue, at the start and after each failure")
      .optional<&RunQuestion::spares>("nodes that stand ready; absent: there is always another")
      .optional<&RunQuestion::repair>("until a failed node is a spare again")
      .optional<&RunQuestion::phases>("of batch, sequence length or plan, in order")
      .optional<&RunQuestion::batch_ramp>("batches that grow until that of the run")
      .optional<&RunQuestion::planned>("planned interruptions")
      .optional<&RunQuestion::racks>("failures of racks or switches, where there are spares")
      .optional<&RunQuestion::elastic>("goes on with fewer replicas, where there are spares")
      .optional<&RunQuestion::within>("how likely the run ends by then")
      .optional<&RunQuestion::start>("date on which the run starts: 2026-12-01")
      .optional<&RunQuestion::by>("how likely the run ends before this date: 2027-03-01")
      .optional<&RunQuestion::budget>("how likely the run costs no more: 10M$")
      .optional<&RunQuestion::price>("name in the catalog's prices, or 2.95 $/h")
      .optional<&RunQuestion::pue>("power of the site over that of the accelerators")
      .optional<&RunQuestion::carbon>("grams of CO2 a kWh")
      .optional<&RunQuestion::runs>("to simulate")
      .optional<&RunQuestion::seed>("of the random numbers")
      .optional<&RunQuestion::step_at>("how long every step takes")
      .optional<&RunQuestion::step>("how the time of a step varies");
}

namespace {

// "300B": a number in such units, or a plain one.
std::optional<double> scaled_number(std::string_view text,
                                    std::initializer_list<std::pair<char, double>> units) {
  double scale = 1;
  for (const auto& [unit, size] : units) {
    if (text.ends_with(unit)) scale = size;
  }
  if (scale > 1) text.remove_suffix(1);
  const auto number = parsed_number<double>(text);
  return number ? std::optional(*number * scale) : std::nullopt;
}

Result<void> check_dates(const RunQuestion& q) {
  for (const auto& [date, key] : {std::pair{&q.start, "forecast.start"}, {&q.by, "forecast.by"}}) {
    if (date->empty()) continue;
    ORRERY_RETURN_IF_ERROR(at(key, parse_date(*date)));
  }
  if (q.by.empty()) return {};
  if (q.start.empty()) {
    return bad_input("an end, and no start of the run", "forecast.by", "write --start 2026-12-01");
  }
  if (q.within) return bad_input("both within and by are given", "forecast.by", "leave out one");
  if (*parse_date(q.by) > *parse_date(q.start)) return {};
  return bad_input(q.by + " is not after the start, " + q.start, "forecast.by");
}

}  // namespace

Result<void> check(const RunQuestion& q) {
  const auto bad = [](std::string message, std::string key, std::string hint = "") {
    return bad_input(std::move(message), "forecast." + std::move(key), std::move(hint));
  };
  const int lengths = static_cast<int>(!q.tokens.empty()) + static_cast<int>(q.steps.has_value()) +
                      static_cast<int>(q.loss.has_value());
  if (lengths != 1) {
    return bad(lengths == 0 ? "the length of the run is not given"
               : q.loss     ? "a loss and another length are given"
                            : "both tokens and steps are given",
               "tokens",
               q.loss ? "leave one out" : "write --tokens 15.6T, --steps 100000 or --loss 2");
  }
  if (!q.tokens.empty()) ORRERY_RETURN_IF_ERROR(parse_tokens(q.tokens));
  if (q.steps && *q.steps < 1) return bad("a run without steps", "steps", "write 1 or more");
  if (q.steps.value_or(1) > kMostSteps) return bad("more than 1e15 steps", "steps");
  if (!q.routing.empty() && !q.loss && q.law.empty()) {
    return bad("what experts are worth matters to a loss alone", "routing",
               "write loss or law as well");
  }
  ORRERY_RETURN_IF_ERROR(check_parts(q));
  ORRERY_RETURN_IF_ERROR(check(q.checkpoint));
  if (q.evaluation && (q.evaluation->every < 1 || q.evaluation->time < Seconds(0))) {
    return bad("an interval below a step or a negative time", "evaluation");
  }
  for (const auto& [law, key] : {std::pair{&q.queue, "queue"}, {&q.repair, "repair"}}) {
    if (*law) ORRERY_RETURN_IF_ERROR(at(std::string("forecast.") + key, check(**law)));
  }
  if (q.within && !(*q.within > Seconds(0))) return bad("is not above 0", "within");
  ORRERY_RETURN_IF_ERROR(check_dates(q));
  if (!(q.pue >= 1 && q.pue <= 10)) {
    return bad(fmt::format("a factor of {}", q.pue), "pue", "write 1 or more, such as 1.2");
  }
  if (q.carbon && !(*q.carbon >= 0 && *q.carbon <= kMostCarbon)) {
    return bad(fmt::format("an intensity of {}", *q.carbon), "carbon",
               fmt::format("write grams of CO2 a kWh, 0 to {}", kMostCarbon));
  }
  if (q.runs < 100 || q.runs > kMostRuns) {
    return bad(fmt::format("{} runs", q.runs), "runs",
               fmt::format("write 100 to {}: quantiles of fewer mean little", kMostRuns));
  }
  return {};
}

Result<Dollars> parse_budget(std::string_view text) {
  std::string_view digits = text;
  if (digits.ends_with('$')) digits.remove_suffix(1);
  const auto number = scaled_number(digits, {{'k', 1e3}, {'M', 1e6}, {'B', 1e9}});
  if (number && *number >= 1 && *number <= 1e15) return Dollars(*number);
  return bad_input("'" + std::string(text) + "' is not an amount of 1 to 1e15 dollars",
                   "forecast.budget", "write 10M$");
}

Result<double> parse_tokens(std::string_view text) {
  const auto number = scaled_number(text, {{'T', 1e12}, {'B', 1e9}});
  if (number && *number >= 1 && *number <= 1e18) return *number;
  return bad_input("'" + std::string(text) + "' is not a number of tokens from 1 to 1e18",
                   "forecast.tokens", "write 15.6T or 300B");
}

Result<std::chrono::sys_days> parse_date(std::string_view text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  const auto number = [&](std::size_t from, std::size_t digits, auto& out) {
    const char* begin = text.data() + from;
    return std::from_chars(begin, begin + digits, out).ptr == begin + digits;
  };
  if (text.size() == 10 && text[4] == '-' && text[7] == '-' && number(0, 4, year) &&
      number(5, 2, month) && number(8, 2, day) && year >= 1970 && year < 2200) {
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                           std::chrono::day(day)};
    if (date.ok()) return std::chrono::sys_days(date);
  }
  return bad_input("'" + std::string(text) + "' is not a date of the years 1970 to 2199", "",
                   "write 2026-12-01");
}

std::string date_text(std::chrono::sys_days date) {
  const std::chrono::year_month_day d(date);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(d.year()),
                     static_cast<unsigned>(d.month()), static_cast<unsigned>(d.day()));
}

bool has_length(const RunQuestion& q) { return !q.tokens.empty() || q.steps || q.loss; }

bool has_phases(const RunQuestion& q) { return !q.phases.empty() || q.batch_ramp; }

std::optional<Seconds> time_allowed(const RunQuestion& q) {
  if (q.by.empty()) return q.within;
  return Seconds(std::chrono::duration<double>(*parse_date(q.by) - *parse_date(q.start)).count());
}

}  // namespace orrery
