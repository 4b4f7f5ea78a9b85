#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "document/results.h"
#include "plan/software.h"
#include "report/drawing/table.h"
#include "report/traces/recorded_style.h"
#include "report/traces/trace_reports.h"

namespace orrery {
namespace {

// Some fields of a part of a specification.
template <Described T>
void add(Value& out, const T& part, std::initializer_list<std::string_view> keys) {
  const Value all = all_fields(part);
  for (const std::string_view key : keys) out.set(std::string(key), *all.find(key));
}

// What a specification states; everything else has its default.
Value spec_value(const InferredSpec& spec) {
  const Architecture& a = spec.architecture;
  Value model = Value::map();
  add(model, a, {"name"});
  if (a.vision) add(model, a, {"kind", "vision"});
  add(model, a,
      {"num_layers", "hidden", "ffn_hidden", "ffn", "num_heads", "num_kv_heads", "head_dim",
       "vocab"});
  if (a.position_encoding == PositionEncoding::learned) {
    add(model, a, {"position_encoding", "max_position"});
  }
  add(model, a, {"norm", "linear_bias"});
  Value training = Value::map();
  add(training, spec.training, {"sequence_length", "global_batch", "precision"});
  Value plan = Value::map();
  add(plan, spec.plan, {"tp", "cp", "pp", "zero", "recompute", "micro_batch", "sequence_parallel"});
  plan.set("attention",
           Value::text(spec.plan.attention == AttentionKernel::unfused ? "unfused" : "flash_2"));
  return map_of({{"model", model},
                 {"cluster", spec.cluster},
                 {"software", spec.software.empty() ? SoftwareProfile().name : spec.software},
                 {"training", training},
                 {"plan", plan}});
}

std::string what_is_compared(const InferredComparison& c) {
  return c.spec.backward ? "the step" : "forward passes, kernels without waiting";
}

std::string_view in_words(StepPart part) {
  static constexpr std::array<std::string_view, kStepParts> kWords = {
      "matrix products",       "attention",         "memory-bound", "recomputation", "optimizer",
      "exposed communication", "waiting for ranks", "idle",         "other"};
  return kWords[static_cast<std::size_t>(part)];
}

Table part_table(const InferredComparison& c) {
  Table table(left("", 9), right("predicted", 9), right("recorded", 9), right("difference", 8),
              right("", 5));
  const auto add = [&](std::string_view of, Seconds predicted, Seconds recorded) {
    const Seconds difference = predicted - recorded;
    table.row(of, to_text(predicted), to_text(recorded), signed_time(difference),
              recorded > Seconds(0) ? signed_percent(predicted / recorded - 1) : std::string());
  };
  for (std::size_t p = 0; p < kStepParts; ++p) {
    const ComparedPart& part = c.parts[p];
    if (!(part.predicted > Seconds(0)) && !(part.recorded > Seconds(0))) continue;
    add(in_words(static_cast<StepPart>(p)), part.predicted, part.recorded);
  }
  table.add_rule();
  add("all", c.predicted, c.recorded);
  return table;
}

}  // namespace

std::string other_model_warning(const InferredComparison& c) {
  constexpr double kMost = 0.5;
  if (!c.is_predicted || c.model_share >= kMost) return "";
  return fmt::format(
      "Products and attention with the shapes of the inferred model are {} of those recorded: most "
      "of what ran is not this model.",
      percent(c.model_share));
}

std::string inferred_text(const InferredComparison& c, const TextStyle& style) {
  std::string out;
  const auto say = [&](const std::string& sentence) { out += paragraph(style, sentence); };
  if (c.is_predicted) {
    const double error = c.recorded > Seconds(0) ? c.predicted / c.recorded - 1 : 0;
    say(fmt::format("Predicted {}, recorded {} ({}): {}.", to_text(c.predicted),
                    to_text(c.recorded), what_is_compared(c), signed_percent(error)));
  } else {
    say("Nothing is predicted: a specification needs what is not inferred.");
  }
  if (!c.spec.backward && c.recorded_step > Seconds(0)) {
    const std::string waiting =
        c.step_waiting > Seconds(0)
            ? fmt::format(", {} waiting for other ranks", to_text(c.step_waiting))
            : "";
    say(
        fmt::format("The recorded step, with its host and waiting, takes {}: the device "
                    "is idle for {}{}.",
                    to_text(c.recorded_step), to_text(c.step_idle), waiting));
  }
  if (c.earlier > Seconds(0)) {
    say(fmt::format("Work launched before the recording began, {}, is left out.",
                    to_text(c.earlier)));
  }
  const std::string other_model = other_model_warning(c);
  say(other_model);
  if (c.is_predicted) {
    out += section("Where they differ", "", part_table(c), style);
    if (!c.causes.empty()) out += heading("Why", "the largest differences", style);
    for (const PredictionGap& cause : c.causes) {
      const bool less = cause.difference < Seconds(0);
      say(fmt::format("{}, {} {}: {}", in_words(cause.part),
                      to_text(less ? Seconds(0) - cause.difference : cause.difference),
                      !cause.compared ? "not compared"
                      : less          ? "more than predicted"
                                      : "less than predicted",
                      printable(cause.why)));
    }
  }
  Table table(left("", 9), right("", 8), left("from", 3));
  for (const InferredFact& fact : c.spec.facts) table.row(fact.name, fact.value, fact.from);
  out += heading("Inferred", "", style) + table.text(style);
  if (!c.spec.not_inferred.empty()) {
    out += heading("Not inferred", "", style);
    for (const std::string& what : c.spec.not_inferred) say(printable(what));
  }
  return out;
}

Value inferred_json(const InferredComparison& c) {
  const auto predicted = [&](Seconds time) {
    return c.is_predicted ? std::optional(time) : std::nullopt;
  };
  Value parts = Value::map();
  for (std::size_t p = 0; p < kStepParts; ++p) {
    parts.set(std::string(to_text(static_cast<StepPart>(p))),
              map_of({{"predicted_s", predicted(c.parts[p].predicted)},
                      {"recorded_s", c.parts[p].recorded}}));
  }
  const auto cause_json = [](const PredictionGap& cause) {
    return map_of({{"part", cause.part},
                   {"difference_s", cause.difference},
                   {"compared", cause.compared},
                   {"why", words(cause.why)}});
  };
  const auto fact_json = [](const InferredFact& fact) {
    return map_of({{"name", fact.name}, {"value", words(fact.value)}, {"from", words(fact.from)}});
  };
  return map_of({{"schema_version", kInferredSchemaVersion},
                 {"compared", what_is_compared(c)},
                 {"kind", "trace-spec"},
                 {"predicted_s", predicted(c.predicted)},
                 {"recorded_s", c.recorded},
                 {"recorded_step_s", c.recorded_step},
                 {"earlier_s", c.earlier},
                 {"parts", parts},
                 {"causes", list_of(c.causes, cause_json)},
                 {"model_share", c.model_share},
                 {"step_waiting_s", c.step_waiting},
                 {"step_idle_s", c.step_idle},
                 {"step_launches", c.step_launches},
                 {"launching_s", predicted(c.launching)},
                 {"microbatches", c.spec.microbatches},
                 {"facts", list_of(c.spec.facts, fact_json)},
                 {"not_inferred", words(c.spec.not_inferred)},
                 {"spec", c.spec.complete ? spec_value(c.spec) : Value::null()}});
}

std::string inferred_yaml(const InferredSpec& spec) { return to_yaml(spec_value(spec)); }

}  // namespace orrery
