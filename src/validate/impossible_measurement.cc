#include "validate/impossible_measurement.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "model/model.h"
#include "plan/plan_rules.h"

namespace orrery {
namespace {

constexpr double kLeastUtilization = 1e-3;
constexpr double kDisagreement = 2;
constexpr double kOrderOfMagnitude = 10;
constexpr double kGibibyte = 1024.0 * 1024 * 1024;
constexpr double kTera = 1e12;
constexpr double kPercent = 100;
// Tables write GB for GiB and the other way round (1.074), and round to whole ones.
constexpr double kUnitsOfMemory = 1.08;
// Hardware FLOPs count a forward pass again, some sources even where it was not done.
constexpr double kRecomputed = 4.0 / 3;

// FLOP/s of one accelerator.
FlopsPerSecond rate_of(Seconds step, const Scenario& s) {
  const Flops work =
      model_flops_per_sequence(s.model, static_cast<double>(s.training.sequence_length),
                               AttentionCount::causal) *
      static_cast<double>(s.training.global_batch);
  return work / step / static_cast<double>(s.cluster.accelerators);
}

// A figure, and what it would be at the step time of its row. The lower one may be short of what
// rounding to a whole number took away.
bool contradicts(double stated, double own, double factor) {
  const double rounding = std::floor(stated) == stated ? 1 : 0;
  return stated > own * factor || (stated + rounding) * factor < own;
}

std::string too_much_memory(const MeasuredRow& row, const Accelerator& accelerator) {
  if (!row.memory_per_gpu) return "";
  const Bytes most = std::max(accelerator.memory.capacity,
                              accelerator.memory.marketed.value_or(accelerator.memory.capacity));
  if (*row.memory_per_gpu <= most * kUnitsOfMemory) return "";
  return fmt::format("{}: memory_per_gpu_gib is {:.4g}, but {} has {:.4g} GiB: wrong unit?",
                     row.row_id, row.memory_per_gpu->value() / kGibibyte, row.accelerator,
                     most.value() / kGibibyte);
}

std::string too_fast(const MeasuredRow& row, const Scenario& scenario) {
  const auto peak = scenario.cluster.accelerator.peak(scenario.training.precision);
  if (!peak || !row.tflops_per_gpu || *row.tflops_per_gpu <= *peak * kRecomputed) return "";
  return fmt::format("{}: tflops_per_gpu is {:.4g}, but the peak of {} in {} is {:.4g}", row.row_id,
                     row.tflops_per_gpu->value() / kTera, row.accelerator, row.precision,
                     peak->value() / kTera);
}

// The step time itself, by the share of the peak rate that it makes of the model's work.
std::string no_step(const MeasuredRow& row, double used) {
  const double step = row.step_time->value();
  if (used > 1) {
    return fmt::format("{}: a step of {:.4g} s is {:.3g} times the peak rate: wrong unit?",
                       row.row_id, step, used);
  }
  if (used > 0 && used < kLeastUtilization) {
    return fmt::format("{}: a step of {:.4g} s is {:.2g} % of the peak rate: wrong unit?",
                       row.row_id, step, kPercent * used);
  }
  return "";
}

// Figures beside the step time that another step time would have.
std::string contradicted(const MeasuredRow& row, const Scenario& scenario, FlopsPerSecond rate,
                         double used) {
  const double step = row.step_time->value();
  const double sequences = static_cast<double>(scenario.training.global_batch) / step;
  const double tokens = sequences * static_cast<double>(scenario.training.sequence_length);
  const double accelerators = static_cast<double>(scenario.cluster.accelerators);
  std::optional<double> tflops;
  if (row.tflops_per_gpu) tflops = row.tflops_per_gpu->value() / kTera;
  for (const auto& [column, stated, own, factor] :
       {std::tuple("tokens_per_s", row.tokens_per_s, tokens, kDisagreement),
        std::tuple("tokens_per_s_per_gpu", row.tokens_per_s_per_gpu, tokens / accelerators,
                   kDisagreement),
        std::tuple("samples_per_s", row.samples_per_s, sequences, kDisagreement),
        std::tuple("tflops_per_gpu", tflops, rate.value() / kTera, kOrderOfMagnitude),
        std::tuple("mfu_percent", row.mfu_percent, kPercent * used, kOrderOfMagnitude),
        std::tuple("hfu_percent", row.hfu_percent, kPercent * used, kOrderOfMagnitude)}) {
    if (stated && own > 0 && contradicts(*stated, own, factor)) {
      return fmt::format("{}: {} is {:.4g}, but a step of {:.4g} s gives {:.4g}", row.row_id,
                         column, *stated, step, own);
    }
  }
  return "";
}

}  // namespace

std::string impossible_measurement(const MeasuredRow& row, const Scenario& scenario) {
  if (std::string why = format_problem(scenario.cluster.accelerator, scenario.training.precision);
      !why.empty()) {
    return fmt::format("{}: precision is '{}', but {}", row.row_id, row.precision, why);
  }
  if (row.status == "oom") return "";
  if (std::string why = too_much_memory(row, scenario.cluster.accelerator); !why.empty()) {
    return why;
  }
  if (std::string why = too_fast(row, scenario); !why.empty()) return why;
  if (!row.step_time) return "";
  const FlopsPerSecond rate = rate_of(*row.step_time, scenario);
  const auto peak = scenario.cluster.accelerator.peak(scenario.training.precision);
  const double used = peak ? rate / *peak : 0;  // 0: the peak is unknown
  if (std::string why = no_step(row, used); !why.empty()) return why;
  return contradicted(row, scenario, rate, used);
}

}  // namespace orrery
