#include "calibrate/attention_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "calibrate/gemm_fit.h"

namespace orrery {
namespace {

// Calculon's memory efficiency of large accesses (constants-published.csv); rows of operations that
// found part of their operands in a cache would go beyond.
constexpr double kMostMemoryFraction = 0.9;

std::string attention_key(const MeasuredAttention& row) {
  const AttentionShape& s = row.shape;
  return fmt::format("{}x{}x{}x{}x{}x{} {}", s.batch, s.queries, s.heads, s.kv_heads,
                     s.query_key_dim, s.value_dim, s.causal);
}

FitParameter share(std::string name) { return {std::move(name), "", 0.5, 0.02, 1, 1e-3}; }
FitParameter ramp(std::string name) { return {std::move(name), "", 150, 0, 2000, 1e-3}; }

Result<KernelParameters> burst_parameters(const Accelerator& accelerator,
                                          const KernelCalibration& calibration) {
  ORRERY_TRY(KernelParameters joined, join_kernel_parameters(calibration, accelerator));
  return without_power_cap(std::move(joined));
}

AttentionCurve& curve(KernelParameters& p, AttentionKernel kernel, Direction direction) {
  return p.attention[static_cast<std::size_t>(kernel)][static_cast<std::size_t>(direction)];
}

// The kernel model with parameters that `parameters_with(x)` makes.
template <class ParametersWith>
auto model_with(ParametersWith parameters_with) {
  return [parameters_with](std::span<const double> x) {
    return
        [model = KernelModel(parameters_with(x))](const auto& row) { return predict(model, row); };
  };
}

template <class ModelWith>
FitTask task_of(std::string name, std::vector<FitParameter> parameters,
                std::span<const MeasuredAttention> rows, ModelWith model) {
  FitTask task = fit_task(std::move(name), std::move(parameters), rows,
                          &MeasuredAttention::measured, attention_key, model);
  task.options.robust_scale = kKernelRobust;
  return task;
}

double head_dim_of(const MeasuredAttention& row) {
  return (row.shape.query_key_dim + row.shape.value_dim) / 2;
}

}  // namespace

Result<PrefillFit> fit_prefill(const Accelerator& accelerator, const KernelCalibration& calibration,
                               std::span<const MeasuredAttention> rows, int folds) {
  ORRERY_TRY(const KernelParameters burst, burst_parameters(accelerator, calibration));
  std::set<double> dims;
  for (const MeasuredAttention& row : rows) dims.insert(head_dim_of(row));
  const std::vector<double> head_dims(dims.begin(), dims.end());
  if (head_dims.size() > AttentionCurve::kMaxPoints) {
    return unsupported("prefill attention of more than four head dimensions", accelerator.name);
  }
  const NumberFormat format = rows.front().format;
  const auto own = std::ranges::find_if(calibration.gemm,
                                        [](const GemmParameters& g) { return g.format == "bf16"; });
  const GemmParameters& product = own == calibration.gemm.end() ? calibration.gemm.front() : *own;
  const Bytes cache = accelerator.last_level_cache.value_or(Bytes(0));

  std::vector<FitParameter> parameters = {{"preparation floor", "us", 6, 0, 40, 1e-3},
                                          {"preparation passes", "", 0.6, 0, 5, 1e-3}};
  for (const double d : head_dims) {
    parameters.push_back(share(fmt::format("peak_fraction, head {}", d)));
    parameters.push_back(ramp(fmt::format("ramp_keys, head {}", d)));
  }
  const auto points = [&](std::span<const double> x) {
    AttentionCurve c;
    for (const double d : head_dims) {
      c.points[c.size] = {d, x[2 + 2 * c.size], x[3 + 2 * c.size]};
      ++c.size;
    }
    return c;
  };
  const auto model = [&](std::span<const double> x) {
    KernelParameters p = burst;
    curve(p, AttentionKernel::library, Direction::forward) = points(x);
    KernelParameters warm = p;
    warm.memory_bandwidth = p.memory_bandwidth * product.cache_speed;
    const TimedBeside beside{"", Seconds(x[0] * kMicro), x[1], Seconds(0)};
    return [beside, &product, cache, cold_model = KernelModel(std::move(p)),
            warm_model = KernelModel(std::move(warm))](const MeasuredAttention& row) {
      const KernelModel& kernels = prepared_bytes(row) * 1.5 < cache ? warm_model : cold_model;
      const Seconds ideal =
          KernelModel::attention_flops(row.shape, Direction::forward, row.kernel) /
          kernels.parameters().format(row.format).peak;
      return heated(predict(kernels, row), product, ideal) +
             time_of(beside, prepared_bytes(row), 0, kernels.parameters().memory_bandwidth);
    };
  };
  const FitTask task =
      task_of("prefill " + std::string(name_of(format)), std::move(parameters), rows, model);
  ORRERY_TRY(CrossValidatedFit done, cross_validated_fit(task, folds));
  done.add_part_of_rows("s >= 2048", task.measured,
                        [&](std::size_t i) { return rows[i].shape.queries >= 2048; });
  done.add_part_of_rows("s < 2048", task.measured,
                        [&](std::size_t i) { return rows[i].shape.queries < 2048; });
  PrefillFit out;
  const std::vector<double> x = done.fit.values();
  out.parameters.format = name_of(format);
  out.parameters.beside = {"split, rotation and caching of queries, keys and values",
                           Seconds(catalog_digits(x[0] * kMicro)), catalog_digits(x[1]),
                           Seconds(0)};
  for (std::size_t i = 0; i < head_dims.size(); ++i) {
    out.parameters.points.push_back(
        {head_dims[i], catalog_digits(x[2 + 2 * i]), catalog_digits(x[3 + 2 * i])});
  }
  out.part = std::move(done.part);
  return out;
}

Result<AttentionFit> fit_attention(const Accelerator& accelerator,
                                   const KernelCalibration& calibration,
                                   std::span<const MeasuredAttention> rows, Clock clock,
                                   int folds) {
  ORRERY_TRY(const KernelParameters joined, join_kernel_parameters(calibration, accelerator));
  const KernelParameters base = clock == Clock::burst ? without_power_cap(joined) : joined;
  const AttentionKernel kernel = rows.front().kernel;
  const double head_dim = head_dim_of(rows.front());
  const auto has = [&](MeasuredDirection d) {
    return std::ranges::any_of(rows, [&](const auto& r) { return r.direction == d; });
  };
  // The sum of both directions tells them apart only where one of them is known alone.
  const bool forward = has(MeasuredDirection::forward);
  const bool backward =
      has(MeasuredDirection::backward) || (forward && has(MeasuredDirection::forward_and_backward));
  const bool two = forward && backward;
  std::vector<FitParameter> parameters = {share(two ? "forward peak_fraction" : "peak_fraction"),
                                          ramp(two ? "forward ramp_keys" : "ramp_keys")};
  if (two) {
    parameters.push_back(share("backward peak_fraction"));
    parameters.push_back(ramp("backward ramp_keys"));
  }
  const auto point = [&](std::span<const double> x, Direction direction) {
    if (two) {
      const std::size_t i = direction == Direction::forward ? 0 : 2;
      return AttentionCurve::Point{head_dim, x[i], x[i + 1]};
    }
    return AttentionCurve::Point{
        head_dim, x[0] * (direction == Direction::backward ? kBackwardShare : 1), x[1]};
  };
  const FitTask task =
      task_of(fmt::format("{} head {}", to_text(kernel), head_dim), std::move(parameters), rows,
              model_with([&](std::span<const double> x) {
                KernelParameters p = base;
                for (const Direction d : {Direction::forward, Direction::backward}) {
                  AttentionCurve& c = curve(p, kernel, d);
                  c.points[0] = point(x, d);
                  c.size = 1;
                }
                return p;
              }));
  ORRERY_TRY(CrossValidatedFit done, cross_validated_fit(task, folds));
  if (two) {
    done.add_part_of_rows("forward", task.measured, [&](std::size_t i) {
      return rows[i].direction == MeasuredDirection::forward;
    });
    done.add_part_of_rows("with backward", task.measured, [&](std::size_t i) {
      return rows[i].direction != MeasuredDirection::forward;
    });
  }
  AttentionFit out;
  const std::vector<double> x = done.fit.values();
  for (const Direction d : {Direction::forward, Direction::backward}) {
    const AttentionCurve::Point p = point(x, d);
    AttentionParameters a;
    a.kernel = kernel;
    a.direction = d;
    a.head_dim = head_dim;
    a.peak_fraction = catalog_digits(p.peak_fraction);
    a.ramp_keys = catalog_digits(p.ramp_keys);
    a.source = "fitted on published rates";
    if (!two && (d == Direction::backward || !forward)) {
      a.source +=
          fmt::format("; backward is {} of forward as for flash-2 on h100-sxm", kBackwardShare);
    }
    out.parameters.push_back(std::move(a));
  }
  out.part = std::move(done.part);
  return out;
}

Result<ScoreFit> fit_scores(const Accelerator& accelerator, const KernelCalibration& calibration,
                            std::span<const MeasuredAttention> rows, int folds) {
  ORRERY_TRY(const KernelParameters burst, burst_parameters(accelerator, calibration));
  const FitTask task = task_of("unfused attention", {{"score_passes", "", 6, 2, 40, 1e-3}}, rows,
                               model_with([&](std::span<const double> x) {
                                 KernelParameters p = burst;
                                 p.score_passes = x[0];
                                 return p;
                               }));
  ORRERY_TRY(CrossValidatedFit done, cross_validated_fit(task, folds));
  return ScoreFit{catalog_digits(done.fit.values()[0]), std::move(done.part)};
}

Result<MemoryFit> fit_memory(const Accelerator& accelerator, const KernelCalibration& calibration,
                             std::span<const MeasuredLayerOperation> rows, int folds) {
  ORRERY_TRY(const KernelParameters burst, burst_parameters(accelerator, calibration));
  FitTask task = fit_task(
      "memory-bound", {{"memory_fraction", "", 0.8, 0.2, kMostMemoryFraction, 1e-3}}, rows,
      &MeasuredLayerOperation::measured,
      [](const MeasuredLayerOperation& row) {
        return fmt::format("{} {}", row.operation, row.moved.value());
      },
      model_with([&](std::span<const double> x) {
        KernelParameters p = burst;
        p.memory_bandwidth = p.memory_peak * x[0];
        return p;
      }));
  task.options.robust_scale = kKernelRobust;
  ORRERY_TRY(CrossValidatedFit done, cross_validated_fit(task, folds));
  return MemoryFit{catalog_digits(done.fit.values()[0]), std::move(done.part)};
}

}  // namespace orrery
