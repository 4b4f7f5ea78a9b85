#include "infer/inferred_comparison.h"

#include <algorithm>

#include "compare/earlier_work.h"
#include "compare/step_profile.h"
#include "estimate/forward_pass.h"
#include "infer/model_sizes.h"
#include "infer/prediction_gaps.h"
#include "trace/kernel_class.h"

namespace orrery {
namespace {

StepPart part_of(Category c) {
  switch (c) {
    case Category::attention_projection:
    case Category::feed_forward:
    case Category::experts:
    case Category::router:
    case Category::logits:
      return StepPart::products;
    case Category::attention_core:
      return StepPart::attention;
    case Category::normalization:
    case Category::elementwise:
    case Category::embedding:
    case Category::loss:
      return StepPart::memory_bound;
    case Category::optimizer:
      return StepPart::optimizer;
    case Category::exposed_tp:
    case Category::exposed_cp:
    case Category::exposed_ep:
    case Category::exposed_pp:
    case Category::exposed_dp:
    case Category::contention:
      return StepPart::communication;
    case Category::bubble:
    case Category::host:
      return StepPart::host;
    case Category::recompute:
      return StepPart::other;
  }
  return StepPart::other;
}

// Of a line of the profile; scores of unfused attention are batched products and their softmax.
StepPart part_of(const ProfileLine& line, bool unfused) {
  if (line.kind == LineKind::communication) return StepPart::communication;
  if (line.kind == LineKind::host) return StepPart::host;
  const auto longest =
      std::max_element(line.kernels.begin(), line.kernels.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string_view kernel =
      longest == line.kernels.end() ? std::string_view(line.name) : longest->first;
  switch (kernel_class(kernel, line.name, line.context)) {
    case KernelClass::matrix_product:
      return unfused && (line.name == "aten::bmm" || line.name == "aten::baddbmm")
                 ? StepPart::attention
                 : StepPart::products;
    case KernelClass::attention:
      return StepPart::attention;
    case KernelClass::softmax:
      return unfused ? StepPart::attention : StepPart::memory_bound;
    case KernelClass::normalization:
    case KernelClass::embedding:
    case KernelClass::reduction:
    case KernelClass::elementwise:
      return StepPart::memory_bound;
    case KernelClass::optimizer:
      return StepPart::optimizer;
    case KernelClass::communication:
      return StepPart::communication;
    case KernelClass::convolution:
    case KernelClass::copy:
      return StepPart::other;
    case KernelClass::other:
      // Kernels of eager operators and of compilers: "triton__0d1d", "CatArrayBatchedCopy".
      return line.kind == LineKind::computing ? StepPart::memory_bound : StepPart::other;
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

std::string_view name(StepPart part) {
  static constexpr std::array<std::string_view, kStepParts> kNames = {
      "products",      "attention", "memory_bound", "optimizer",
      "communication", "waiting",   "host",         "other"};
  return kNames[static_cast<std::size_t>(part)];
}

Result<InferredComparison> inferred_comparison(std::span<const RecordedTrace> run,
                                               const Catalog& catalog) {
  InferredComparison out;
  ORRERY_TRY(out.spec, inferred_spec(run, catalog));
  ORRERY_TRY(const StepProfile profile, step_profile(run));
  out.recorded_step = Seconds(profile.per_step_s(profile.step_ns));
  const auto part = [&](StepPart p) -> ComparedPart& {
    return out.parts[static_cast<std::size_t>(p)];
  };
  const bool unfused = out.spec.plan.attention == AttentionKernel::unfused;
  const ModelSizes sizes = model_sizes(out.spec);
  const bool drops_earlier = !out.spec.backward && unlaunched_is_earlier(run);
  for (const ProfileLine& line : profile.lines) {
    const LineTimes& t = line.times;
    const Seconds owned(profile.per_step_s(t.owned_ns));
    const Seconds waiting(profile.per_step_s(std::min(t.waiting_ns, t.owned_ns)));
    out.step_waiting += waiting;
    out.step_idle += Seconds(profile.per_step_s(t.late_ns + t.latency_ns));
    if (line.kind != LineKind::host) {
      out.step_launches += static_cast<double>(t.calls) / static_cast<double>(profile.steps);
    }
    if (drops_earlier && has_no_launch(line)) {
      out.earlier += owned;
      continue;
    }
    const StepPart of = part_of(line, unfused);
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
  std::stable_sort(out.work.begin(), out.work.end(),
                   [](const auto& a, const auto& b) { return a.time > b.time; });
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
  ORRERY_TRY(out.estimate, estimate(scenario, catalog));
  out.is_predicted = true;
  ORRERY_TRY(out.launching, launching_time(scenario, catalog));
  Breakdown breakdown = out.estimate.breakdown;
  if (!out.spec.backward) {
    ORRERY_TRY(const Breakdown forward, forward_breakdown(scenario, catalog));
    breakdown = forward * out.estimate.microbatches;
    breakdown[Category::host] = Picoseconds();
    breakdown[Category::bubble] = Picoseconds();
    if (!out.spec.logits) breakdown[Category::logits] = Picoseconds();
    if (!out.spec.loss) breakdown[Category::loss] = Picoseconds();
  }
  for (std::size_t c = 0; c < kCategories; ++c) {
    const auto category = static_cast<Category>(c);
    part(part_of(category)).predicted += breakdown[category].seconds();
  }
  for (const ComparedPart& p : out.parts) out.predicted += p.predicted;
  out.causes = prediction_gaps(run, out);
  return out;
}

}  // namespace orrery
