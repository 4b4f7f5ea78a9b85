#include "numerics/plan_numerics.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "estimate/predicted_step.h"
#include "numerics/products.h"
#include "plan/plan_rules.h"

namespace orrery {
namespace {

TensorFormat operands_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp8:
      return {"fp8-e4m3/tensor", kFp8E4m3, ScaleRule::fp32, 0};
    case NumberFormat::mxfp8:
      return {"mxfp8-e4m3", kFp8E4m3, ScaleRule::power_of_two, 32};
    case NumberFormat::nvfp4:
      return {"nvfp4", kFp4E2m1, ScaleRule::e4m3, 16};
    case NumberFormat::bf16:
      return {"bf16", kBf16};
    case NumberFormat::fp16:
      return {"fp16", kFp16};
    case NumberFormat::tf32:
      return {"tf32", kTf32};
    case NumberFormat::fp32:
      return {"fp32", kFloat32};
    case NumberFormat::fp64:
      return {"fp64", kFp64};
  }
  return {"bf16", kBf16};
}

Result<double> product_deviation(NumberFormat format, int threads) {
  ProductQuestion q;
  q.rows = q.columns = 32;
  q.format = operands_of(format);
  q.accumulation.group = 16;
  q.seeds = 1;
  ORRERY_TRY(const DeviationStudy study, product_study(q, "", threads));
  return study.rows.back().deviation.relative_rms;  // operands and accumulation
}

std::optional<std::string> product_change(const Training& training) {
  if (training.precision == NumberFormat::bf16) return std::nullopt;
  return fmt::format("products of operands in {}", to_text(training.precision));
}

std::optional<std::string> reduction_change(const Training& training, const Plan& plan) {
  const std::int64_t ranks = plan.dp * plan.cp;
  const NumberFormat format = training.gradients;
  if (training.workload != Workload::training || ranks <= 1 || format == NumberFormat::fp32 ||
      format == NumberFormat::fp64) {
    return std::nullopt;
  }
  return fmt::format("gradients reduced in {} over {} ranks, not in fp32", to_text(format), ranks);
}

NumericChange change(std::string what, double deviation, double of_bf16) {
  const double times = of_bf16 > 0 ? deviation / of_bf16 : 0;
  return {std::move(what), deviation, times, class_of(times)};
}

}  // namespace

std::vector<std::string> numeric_changes(const Training& training, const Plan& plan) {
  std::vector<std::string> out;
  for (auto& what : {product_change(training), reduction_change(training, plan)}) {
    if (what) out.push_back(*what);
  }
  return out;
}

DeviationClass class_of(double times_bf16) {
  return times_bf16 <= 0.5  ? DeviationClass::below_bf16
         : times_bf16 <= 2  ? DeviationClass::like_bf16
         : times_bf16 <= 32 ? DeviationClass::above_bf16
                            : DeviationClass::far_above_bf16;
}

Result<PlanNumerics> plan_numerics(const PredictedStep& step, const Catalog& catalog, int threads) {
  PlanNumerics out;
  ORRERY_TRY(const double of_bf16, product_deviation(NumberFormat::bf16, threads));
  std::optional<Seconds> bf16_time;
  for (const auto& format : names_of(NumberFormat{})) {
    if (!format_problem(step.cluster().accelerator, format.value).empty()) continue;
    FormatChoice choice;
    choice.format = format.value;
    choice.chosen = format.value == step.training().precision;
    if (choice.chosen) {
      choice.step_time = step.folded.time.seconds();
    } else {
      Scenario other = step.priced->scenario;
      other.plan = step.plan();
      other.training.precision = format.value;
      const auto predicted = predict(std::move(other), catalog);
      if (!predicted) continue;
      choice.step_time = predicted->folded.time.seconds();
    }
    ORRERY_TRY(choice.deviation, product_deviation(format.value, threads));
    choice.times_bf16 = choice.deviation / of_bf16;
    choice.deviation_class = class_of(choice.times_bf16);
    if (format.value == NumberFormat::bf16) bf16_time = choice.step_time;
    if (const auto what = product_change(step.training()); choice.chosen && what) {
      out.changes.push_back(change(*what, choice.deviation, of_bf16));
    }
    out.formats.push_back(choice);
  }
  std::ranges::stable_sort(out.formats, {}, &FormatChoice::step_time);
  double least = std::numeric_limits<double>::infinity();
  for (FormatChoice& f : out.formats) {
    f.on_front = f.deviation < least;
    least = std::min(least, f.deviation);
    if (bf16_time) f.saved = 1 - f.step_time / *bf16_time;
  }

  if (const auto what = reduction_change(step.training(), step.plan())) {
    ReductionQuestion q;
    q.ranks =
        static_cast<std::size_t>(std::min<std::int64_t>(step.plan().dp * step.plan().cp, 256));
    q.elements = 1024;
    q.seeds = 1;
    q.format = operands_of(step.training().gradients);
    ORRERY_TRY(const DeviationStudy narrow, reduction_study(q, "", threads));
    q.format = operands_of(NumberFormat::bf16);
    ORRERY_TRY(const DeviationStudy bf16, reduction_study(q, "", threads));
    out.changes.push_back(change(*what, narrow.rows.front().deviation.relative_rms,
                                 bf16.rows.front().deviation.relative_rms));
  }
  return out;
}

}  // namespace orrery
