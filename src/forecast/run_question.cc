#include "forecast/run_question.h"

#include <fmt/format.h>

#include <charconv>

namespace orrery {

const Fields<EvaluationPauses>& fields_of(const EvaluationPauses*) {
  static const Fields<EvaluationPauses> table =
      Fields<EvaluationPauses>("description of evaluations")
          .required<&EvaluationPauses::every>("steps between two")
          .required<&EvaluationPauses::time>("that training stands still");
  return table;
}

const Fields<RunQuestion>& fields_of(const RunQuestion*) {
  static const Fields<RunQuestion> table =
      Fields<RunQuestion>("forecast")
          .optional<&RunQuestion::tokens>("of the run: 15.6T, 300B")
          .optional<&RunQuestion::steps>("of the run, in place of tokens")
          .optional<&RunQuestion::failures>("name in the catalog's failures")
          .optional<&RunQuestion::restart>("name in the catalog's restarts")
          .optional<&RunQuestion::checkpoint>("how and how often state is saved")
          .optional<&RunQuestion::evaluation>("pauses for evaluation")
          .optional<&RunQuestion::queue>("time in the queue, at the start and after each failure")
          .optional<&RunQuestion::spares>("nodes that stand ready; absent: there is always another")
          .optional<&RunQuestion::repair>("until a failed node is a spare again")
          .optional<&RunQuestion::within>("how likely the run ends by then")
          .optional<&RunQuestion::price>("name in the catalog's prices, or 2.95 $/h")
          .optional<&RunQuestion::pue>("power of the site over that of the accelerators")
          .optional<&RunQuestion::carbon>("grams of CO2 a kWh")
          .optional<&RunQuestion::runs>("to simulate")
          .optional<&RunQuestion::seed>("of the random numbers")
          .optional<&RunQuestion::step>("how the time of a step varies");
  return table;
}

Result<void> check(const RunQuestion& q) {
  const auto bad = [](std::string message, std::string key, std::string hint = "") {
    return fail(ErrorCode::bad_input, std::move(message), "forecast." + std::move(key),
                std::move(hint));
  };
  if (q.tokens.empty() == !q.steps) {
    return bad(q.steps ? "both tokens and steps are given" : "the length of the run is not given",
               "tokens", "write --tokens 15.6T, or --steps 100000");
  }
  if (q.steps && *q.steps < 1) return bad("a run without steps", "steps", "write 1 or more");
  ORRERY_RETURN_IF_ERROR(check(q.checkpoint));
  if (q.evaluation && (q.evaluation->every < 1 || q.evaluation->time < Seconds(0))) {
    return bad("an interval below a step or a negative time", "evaluation");
  }
  for (const auto& [law, key] : {std::pair{&q.queue, "queue"}, {&q.repair, "repair"}}) {
    if (!*law) continue;
    if (auto sound = check(**law); !sound) {
      return fail(at(std::string("forecast.") + key, sound.error()));
    }
  }
  if (q.within && !(*q.within > Seconds(0))) return bad("is not above 0", "within");
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

Result<double> parse_tokens(std::string_view text) {
  std::string_view digits = text;
  double scale = 1;
  if (digits.ends_with('T')) scale = 1e12;
  if (digits.ends_with('B')) scale = 1e9;
  if (scale > 1) digits.remove_suffix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      !(number * scale >= 1 && number * scale <= 1e18)) {
    return fail(ErrorCode::bad_input,
                "'" + std::string(text) + "' is not a number of tokens from 1 to 1e18",
                "forecast.tokens", "write 15.6T or 300B");
  }
  return number * scale;
}

}  // namespace orrery
