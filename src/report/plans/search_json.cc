#include "report/plans/search_json.h"

#include "report/plans/estimate_json.h"
#include "report/plans/search_text.h"

namespace orrery {
namespace {

Value integer(std::int64_t i) { return Value::number(i); }

Value estimates(const std::vector<Estimate>& list) {
  Value out = Value::list();
  for (const Estimate& e : list) out.append(estimate_fields_json(e));
  return out;
}

// A point of the front needs no stages: the plan says how to get them.
Value pareto_json(const std::vector<Estimate>& front) {
  Value out = Value::list();
  for (const Estimate& e : front) {
    Value point = Value::map();
    point.append_member("step_time_s", seconds_json(round_to_picoseconds(e.step_time)));
    point.append_member("peak_memory_bytes", integer(e.peak_memory));
    point.append_member("mfu", Value::number(e.mfu));
    point.append_member("plan", plan_json(e.plan));
    out.append(std::move(point));
  }
  return out;
}

Value runners_up_json(const SearchResult& result) {
  Value out = Value::list();
  for (const RunnerUp& u : result.runners_up) {
    Value item = Value::map();
    item.append_member("axis", Value::text(u.axis));
    item.append_member("winner", Value::text(u.winner));
    item.append_member("other", Value::text(u.other));
    item.append_member("step_time_s", seconds_json(round_to_picoseconds(u.best_other.step_time)));
    item.append_member(
        "slowdown",
        Value::number(result.plans.empty() ? 0.0 : slowdown(result.plans[0], u.best_other)));
    item.append_member("peak_memory_bytes", integer(u.best_other.peak_memory));
    item.append_member("breakdown_s", breakdown_json(u.best_other.breakdown));
    item.append_member("plan", plan_json(u.best_other.plan));
    out.append(std::move(item));
  }
  return out;
}

Value near_misses_json(const std::vector<NearMiss>& misses) {
  Value out = Value::list();
  for (const NearMiss& miss : misses) {
    Value item = Value::map();
    item.append_member("step_time_lower_bound_s", seconds_json(round_to_picoseconds(miss.bound)));
    item.append_member("peak_memory_bytes", integer(miss.peak_memory));
    item.append_member("shortfall_bytes", integer(miss.shortfall));
    item.append_member("stage", integer(miss.stage));
    item.append_member("plan", plan_json(miss.plan));
    out.append(std::move(item));
  }
  return out;
}

}  // namespace

Value search_json(const SearchResult& r, const Subject& subject, Seconds elapsed) {
  Value out = Value::map();
  out.append_member("schema_version", integer(kSearchSchemaVersion));
  out.append_member("model", Value::text(subject.model));
  if (subject.adapters) out.append_member("adapters", Codec<Adapters>::write(*subject.adapters));
  out.append_member("cluster", Value::text(subject.cluster));
  out.append_member("considered", integer(r.considered));
  out.append_member("too_large", integer(r.too_large));
  out.append_member("bounded", integer(r.bounded));
  out.append_member("evaluated", integer(r.evaluated));
  out.append_member("interrupted", Value::boolean(r.interrupted));
  out.append_member("elapsed_s", Value::number(elapsed.value()));
  out.append_member("plans", estimates(r.plans));
  out.append_member("pareto", pareto_json(r.pareto));
  out.append_member("runners_up", runners_up_json(r));
  out.append_member("near_misses", near_misses_json(r.near_misses));
  out.append_member("least_memory", near_misses_json(r.least_memory));
  return out;
}

}  // namespace orrery
