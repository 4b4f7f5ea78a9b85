#include "validate/impossible_step.h"

#include <fmt/core.h>

#include "model/model.h"

namespace orrery {
namespace {

constexpr double kLeastUtilization = 1e-3;
constexpr double kDisagreement = 2;

// Utilization as a share of the peak; 0 where the peak is unknown.
double utilization(Seconds step, const Scenario& s) {
  const Cluster& cluster = s.cluster;
  const auto peak = cluster.accelerator.peak(s.training.precision);
  if (!peak) return 0;
  const Flops work =
      model_flops_per_sequence(s.model, static_cast<double>(s.training.sequence_length),
                               AttentionCount::causal) *
      static_cast<double>(s.training.global_batch);
  return work / step / (*peak * static_cast<double>(cluster.accelerators));
}

}  // namespace

std::string impossible_step(const MeasuredRow& row, const Scenario& scenario) {
  if (!row.step_time || row.status == "oom") return "";
  const double step = row.step_time->value();
  const double used = utilization(*row.step_time, scenario);
  if (used > 1) {
    return fmt::format("{}: a step of {:.4g} s is {:.3g} times the peak rate: wrong unit?",
                       row.row_id, step, used);
  }
  if (used > 0 && used < kLeastUtilization) {
    return fmt::format("{}: a step of {:.4g} s is {:.2g} % of the peak rate: wrong unit?",
                       row.row_id, step, 100 * used);
  }
  const double tokens = static_cast<double>(scenario.training.global_batch) *
                        static_cast<double>(scenario.training.sequence_length);
  const double accelerators = static_cast<double>(scenario.cluster.accelerators);
  for (const auto& [column, stated, own] :
       {std::tuple("tokens_per_s", row.tokens_per_s, tokens / step),
        std::tuple("tokens_per_s_per_gpu", row.tokens_per_s_per_gpu,
                   tokens / step / accelerators)}) {
    if (stated && (*stated > own * kDisagreement || *stated * kDisagreement < own)) {
      return fmt::format("{}: {} is {:.4g}, but a step of {:.4g} s gives {:.4g}", row.row_id,
                         column, *stated, step, own);
    }
  }
  return "";
}

}  // namespace orrery
