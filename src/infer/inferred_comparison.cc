#include "infer/inferred_comparison.h"

#include <algorithm>

#include "compare/step_profile.h"
#include "compare/step_work.h"
#include "estimate/forward_pass.h"
#include "infer/model_sizes.h"
#include "infer/prediction_gaps.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

StepPart part_of(StepWork work) {
  switch (work) {
    case StepWork::products:
      return StepPart::products;
    case StepWork::attention:
      return StepPart::attention;
    case StepWork::normalization:
    case StepWork::embedding:
    case StepWork::others:
      return StepPart::memory_bound;
    case StepWork::optimizer:
      return StepPart::optimizer;
    case StepWork::recomputation:
      return StepPart::recomputation;
    case StepWork::contention:
    case StepWork::communication:
      return StepPart::communication;
    case StepWork::waiting:
      return StepPart::waiting;
    case StepWork::idle:
      return StepPart::host;
    case StepWork::convolutions:
    case StepWork::copies:
    case StepWork::earlier:
      return StepPart::other;
  }
  return StepPart::other;
}

// Of products and attention, by their recorded time.
double share_of_model(const std::vector<RecordedPartWork>& work) {
  Seconds all;
  Seconds of_model;
  for (const RecordedPartWork& w : work) {
    if (w.part != StepPart::products && w.part != StepPart::attention) continue;
    all += w.time;
    if (w.of_model) of_model += w.time;
  }
  return all > Seconds(0) ? of_model / all : 1;
}

}  // namespace

Result<InferredComparison> inferred_comparison(std::span<const RecordedTrace> run,
                                               const Catalog& catalog) {
  InferredComparison out;
  ORRERY_TRY(out.spec, inferred_spec(run, catalog));
  ORRERY_TRY(const StepProfile profile, step_profile(run));
  out.recorded_step = Seconds(profile.per_step_s(profile.step_ns));
  const auto part = [&](StepPart p) -> ComparedPart& {
    return out.parts[static_cast<std::size_t>(p)];
  };
  const AttentionScores scores = attention_scores(profile);
  out.step_launches = step_launches(profile);
  const ModelSizes sizes = model_sizes(out.spec);
  const bool drops_earlier = !out.spec.backward && unlaunched_is_earlier(run);
  for (const ProfileLine& line : profile.lines) {
    const LineTimes& t = line.times;
    const Seconds owned(profile.per_step_s(t.owned_ns));
    const Seconds waiting(profile.per_step_s(std::min(t.waiting_ns, t.owned_ns)));
    out.step_waiting += waiting;
    out.step_idle += Seconds(profile.per_step_s(t.late_ns + t.latency_ns));
    if (drops_earlier && has_no_launch(line)) {
      out.earlier += owned;
      continue;
    }
    const StepPart of = part_of(work_of(line, scores));
    part(of).recorded += owned - waiting;
    if (owned > Seconds(0)) {
      const bool dense = of == StepPart::products || of == StepPart::attention;
      const bool of_model =
          line.kind == LineKind::communication || of == StepPart::optimizer || !out.spec.complete ||
          (dense ? is_of_model(sizes, line.detail) : has_tokens(sizes, line.detail));
      out.work.push_back({of, line.name, line.detail, owned - waiting,
                          static_cast<double>(t.calls) / static_cast<double>(profile.steps),
                          of_model});
    }
    // Without a backward pass neither the host nor waiting is compared.
    if (out.spec.backward) {
      part(StepPart::waiting).recorded += waiting;
      part(StepPart::host).recorded += Seconds(profile.per_step_s(t.late_ns + t.latency_ns));
    }
  }
  std::ranges::stable_sort(out.work, [](const auto& a, const auto& b) { return a.time > b.time; });
  const Seconds end(profile.per_step_s(profile.end_ns));
  out.step_idle += end;
  out.model_share = share_of_model(out.work);
  if (out.spec.backward) part(StepPart::host).recorded += end;
  for (const ComparedPart& p : out.parts) out.recorded += p.recorded;
  if (!out.spec.complete) return out;

  Scenario scenario;
  ORRERY_TRY(scenario.model, build_model(out.spec.architecture));
  ORRERY_TRY(scenario.cluster, parse_cluster_name(out.spec.cluster, catalog));
  scenario.training = out.spec.training;
  scenario.plan = out.spec.plan;
  if (!out.spec.software.empty()) {
    ORRERY_TRY(scenario.software, load_software(catalog, out.spec.software));
    scenario.software_stated = true;
  }
  ORRERY_TRY(const PredictedStep step, predict(std::move(scenario), catalog));
  out.estimate = estimate(step);
  out.is_predicted = true;
  out.launching = launching_time(step);
  Breakdown breakdown = out.estimate.breakdown;
  if (!out.spec.backward) {
    breakdown = forward_breakdown(step) * out.estimate.microbatches;
    breakdown[Category::host] = Picoseconds();
    breakdown[Category::bubble] = Picoseconds();
    if (!out.spec.logits) breakdown[Category::logits] = Picoseconds();
    if (!out.spec.loss) breakdown[Category::loss] = Picoseconds();
  }
  for (std::size_t c = 0; c < kCategories; ++c) {
    const auto category = static_cast<Category>(c);
    part(part_of(work_of(category))).predicted += breakdown[category].seconds();
  }
  for (const ComparedPart& p : out.parts) out.predicted += p.predicted;
  out.causes = prediction_gaps(run, out);
  return out;
}

}  // namespace orrery
