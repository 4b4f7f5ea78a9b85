#include "report/inferred_report.h"

#include <fmt/format.h>

#include "report/estimate_json.h"
#include "report/figures.h"
#include "report/plan_text.h"
#include "report/table.h"
#include "report/time_axis.h"

namespace orrery {
namespace {

std::string time(Seconds t) { return tick_text(t, {}); }

// "1f1b" without the fields a specification leaves to defaults.
Value spec_value(const InferredSpec& spec) {
  const Architecture& a = spec.architecture;
  Value model = Value::map();
  const auto whole = [](std::int64_t n) { return Value::number(n); };
  model.set("name", Value::text(a.name));
  model.set("num_layers", whole(a.num_layers));
  model.set("hidden", whole(a.hidden));
  model.set("ffn_hidden", whole(a.ffn_hidden));
  model.set("ffn", Value::text(a.ffn == FeedForwardKind::swiglu ? "swiglu" : "gelu"));
  model.set("num_heads", whole(a.num_heads));
  model.set("num_kv_heads", whole(a.num_kv_heads));
  model.set("head_dim", whole(a.head_dim));
  model.set("vocab", whole(a.vocab));
  model.set("norm", Value::text(a.norm == NormKind::rmsnorm ? "rmsnorm" : "layernorm"));
  model.set("linear_bias", Value::boolean(a.linear_bias));
  Value training = Value::map();
  training.set("sequence_length", whole(spec.training.sequence_length));
  training.set("global_batch", whole(spec.training.global_batch));
  training.set("precision", Value::text(std::string(name_of(spec.training.precision))));
  Value plan = Value::map();
  plan.set("tp", whole(spec.plan.tp));
  plan.set("micro_batch", whole(spec.plan.micro_batch));
  plan.set("sequence_parallel", Value::boolean(spec.plan.sequence_parallel));
  plan.set("attention",
           Value::text(spec.plan.attention == AttentionKernel::unfused ? "unfused" : "flash_2"));
  Value out = Value::map();
  out.set("model", std::move(model));
  out.set("cluster", Value::text(spec.cluster));
  out.set("training", std::move(training));
  out.set("plan", std::move(plan));
  return out;
}

std::string what_is_compared(const InferredComparison& c) {
  return c.spec.backward ? "the step" : "forward passes, kernels without waiting";
}

}  // namespace

std::string inferred_text(const InferredComparison& c, const TextStyle& style) {
  const double error = c.recorded > Seconds(0) ? c.predicted / c.recorded - 1 : 0;
  std::string out =
      wrapped(fmt::format("Predicted {}, recorded {} ({}): {}.", time(c.predicted),
                          time(c.recorded), what_is_compared(c), signed_percent(error)),
              2, style);
  if (!c.spec.backward) {
    out += wrapped(fmt::format("The recorded step, with its host and waiting, takes {}.",
                               time(c.recorded_step)),
                   2, style);
  }
  out += heading("Inferred", "", style);
  Table table({{"", Align::left, 9}, {"", Align::right, 8}, {"from", Align::left, 3}});
  for (const InferredFact& fact : c.spec.facts) {
    table.add_row({{fact.name}, {printable(fact.value)}, {printable(fact.from)}});
  }
  return out + table.text(style);
}

Value inferred_json(const InferredComparison& c) {
  Value out = Value::map();
  out.set("schema_version", Value::number(std::int64_t{kInferredSchemaVersion}));
  out.set("compared", Value::text(what_is_compared(c)));
  out.set("predicted_s", Value::number(c.predicted.value()));
  out.set("recorded_s", Value::number(c.recorded.value()));
  out.set("recorded_step_s", Value::number(c.recorded_step.value()));
  out.set("microbatches", Value::number(c.spec.microbatches));
  Value facts = Value::list();
  for (const InferredFact& fact : c.spec.facts) {
    Value entry = Value::map();
    entry.set("name", Value::text(fact.name));
    entry.set("value", Value::text(printable(fact.value)));
    entry.set("from", Value::text(printable(fact.from)));
    facts.append(std::move(entry));
  }
  out.set("facts", std::move(facts));
  out.set("spec", spec_value(c.spec));
  return out;
}

std::string inferred_yaml(const InferredSpec& spec) { return to_yaml(spec_value(spec)); }

}  // namespace orrery
