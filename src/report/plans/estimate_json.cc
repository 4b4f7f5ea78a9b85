#include "report/plans/estimate_json.h"

#include <cmath>

#include "report/drawing/category_style.h"
#include "report/drawing/figures.h"

namespace orrery {
namespace {

// JSON has no infinity: a figure that cannot be stated is null.
Value number_or_null(double d) { return std::isfinite(d) ? Value::number(d) : Value::null(); }

Value integer(std::int64_t i) { return Value::number(i); }

// All fields of a description, in the order of its table.
template <class T>
Value every_field(const T& t) {
  Value out = Value::map();
  for (const auto& field : fields_of(&t).fields()) out.append_member(field.key, field.write(t));
  return out;
}

Value memory_json(const MemoryReport& memory) {
  Value out = Value::map();
  for (const MemoryPart& part : parts_of(memory)) {
    out.append_member(std::string(part.key), integer(part.bytes));
  }
  out.append_member("peak", integer(memory.peak));
  out.append_member("pessimistic", integer(memory.pessimistic));
  out.append_member("outside_allocator", integer(memory.outside));
  return out;
}

Value stage_json(const StageReport& stage, std::size_t index) {
  Value layers = Value::list();
  for (const int n : stage.layers) layers.append(integer(n));
  Value out = Value::map();
  out.append_member("stage", integer(static_cast<std::int64_t>(index)));
  out.append_member("layers", std::move(layers));
  out.append_member("forward_s", seconds_json(stage.forward));
  out.append_member("backward_s", seconds_json(stage.backward));
  out.append_member("busy_s", seconds_json(stage.busy));
  out.append_member("end_s", seconds_json(stage.end));
  out.append_member("memory_bytes", memory_json(stage.memory));
  out.append_member("memory_moment", Value::text(stage.memory.moment));
  out.append_member("memory_rank_class", Value::text(stage.memory.rank_class));
  return out;
}

}  // namespace

std::string_view verdict_key(Verdict verdict) {
  switch (verdict) {
    case Verdict::fits:
      return "fits";
    case Verdict::tight:
      return "tight";
    case Verdict::does_not_fit:
      return "does-not-fit";
  }
  return "?";
}

Value seconds_json(Picoseconds time) {
  return Value::scalar(Value::Kind::number, exact_seconds(time), 0);
}

Value breakdown_json(const Breakdown& breakdown) {
  Value compute = Value::map();
  Value exposed = Value::map();
  for (std::size_t i = 0; i < kCategories; ++i) {
    const auto category = static_cast<Category>(i);
    const std::string key(name(category));
    if (is_compute(category)) compute.append_member(key, seconds_json(breakdown[category]));
    if (is_exposed_communication(category)) {
      exposed.append_member(key, seconds_json(breakdown[category]));
    }
  }
  Value out = Value::map();
  out.append_member("compute", std::move(compute));
  out.append_member("recompute", seconds_json(breakdown[Category::recompute]));
  out.append_member("exposed_communication", std::move(exposed));
  out.append_member("bubble", seconds_json(breakdown[Category::bubble]));
  out.append_member("optimizer", seconds_json(breakdown[Category::optimizer]));
  out.append_member("host", seconds_json(breakdown[Category::host]));
  return out;
}

Value plan_json(const Plan& plan) {
  Value out = every_field(plan);
  out.set("overlap", every_field(plan.overlap));
  return out;
}

Value training_json(const Training& training) { return every_field(training); }

Value derivations_json(const std::vector<Derivation>& derivations) {
  Value out = Value::list();
  for (const Derivation& d : derivations) {
    Value item = Value::map();
    item.append_member("figure", Value::text(d.figure));
    item.append_member("formula", Value::text(d.formula));
    item.append_member("inputs", Value::text(d.inputs));
    item.append_member("value", Value::text(d.value));
    item.append_member("source", Value::text(d.source));
    out.append(std::move(item));
  }
  return out;
}

Value estimate_fields_json(const Estimate& e) {
  Value stages = Value::list();
  for (std::size_t i = 0; i < e.stages.size(); ++i) stages.append(stage_json(e.stages[i], i));
  Value assumed = Value::list();
  for (const std::string& item : e.assumed) assumed.append(Value::text(item));

  Value out = Value::map();
  out.append_member("gpus", integer(e.gpus));
  out.append_member("microbatches", integer(e.microbatches));
  out.append_member("step_time_s", seconds_json(round_to_picoseconds(e.step_time)));
  Value interval = Value::map();
  interval.append_member("low", seconds_json(round_to_picoseconds(e.interval.low)));
  interval.append_member("high", seconds_json(round_to_picoseconds(e.interval.high)));
  out.append_member("step_time_interval_s", std::move(interval));
  out.append_member("interval_level", Value::number(e.interval.level));
  out.append_member("interval_regime", Value::text(e.interval.regime));
  out.append_member("extrapolates", Value::boolean(e.interval.extrapolates));
  out.append_member("extrapolation", Value::text(e.interval.distance));
  out.append_member("mfu", number_or_null(e.mfu));
  out.append_member("hfu", number_or_null(e.hfu));
  out.append_member("tflops_per_gpu", number_or_null(e.achieved_per_gpu.value() / 1e12));
  out.append_member("tokens_per_s", number_or_null(e.tokens_per_second));
  out.append_member("peak_memory_bytes", integer(e.peak_memory));
  out.append_member("peak_memory_stage", integer(e.peak_memory_stage));
  out.append_member("pessimistic_memory_bytes", integer(e.pessimistic_memory));
  out.append_member("memory_capacity_bytes", integer(e.memory_capacity));
  out.append_member("fits", Value::boolean(e.verdict != Verdict::does_not_fit));
  out.append_member("verdict", Value::text(std::string(verdict_key(e.verdict))));
  out.append_member("bottleneck", Value::text(e.bottleneck));
  out.append_member("critical_stage", integer(e.critical_stage));
  out.append_member("breakdown_s", breakdown_json(e.breakdown));
  out.append_member("plan", plan_json(e.plan));
  out.append_member("training", training_json(e.training));
  out.append_member("software", Value::text(e.software));
  out.append_member("stages", std::move(stages));
  out.append_member("assumed", std::move(assumed));
  return out;
}

Value estimate_json(const Estimate& e, const Subject& subject) {
  Value out = Value::map();
  out.append_member("schema_version", integer(kEstimateSchemaVersion));
  out.append_member("model", Value::text(subject.model));
  if (subject.adapters) out.append_member("adapters", Codec<Adapters>::write(*subject.adapters));
  out.append_member("cluster", Value::text(subject.cluster));
  const Value fields = estimate_fields_json(e);
  for (const auto& [key, value] : fields.members()) out.append_member(key, value);
  return out;
}

}  // namespace orrery
