#include "calibrate/gemm_fit.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {
namespace {

constexpr double kMilli = 1e-3;
constexpr double kNano = 1e-9;

std::string gemm_key(const MeasuredGemm& row) {
  return fmt::format("{}x{}x{}x{}", row.shape.m, row.shape.n, row.shape.k, row.shape.groups);
}

std::vector<FitParameter> wide_parameters() {
  return {{"peak_fraction", "", 0.8, 0.2, 1, 1e-3},   {"tile_half_size", "", 40, 0, 600, 1e-3},
          {"wave_rounding", "", 0.3, 0, 1, 1e-3},     {"ramp_depth", "", 150, 0, 3000, 1e-3},
          {"heating_loss", "", 0.1, 0, 0.5, 1e-3},    {"heating_time", "ms", 0.5, 0.05, 1, 1e-3},
          {"memory_fraction", "", 0.8, 0.2, 1, 1e-3}, {"floor", "us", 2.5, 0.5, 8, 1e-3},
          {"unit_bandwidth", "", 4, 0.5, 10, 1e-3},   {"split_latency", "us", 0.5, 0, 5, 1e-3},
          {"cache_speed", "", 2, 1, 8, 1e-3}};
}

// The first four of those, then what was timed beside.
std::vector<FitParameter> narrow_parameters() {
  std::vector<FitParameter> out = wide_parameters();
  out.resize(4);
  out.push_back({"quantisation floor", "us", 4, 0, 20, 1e-3});
  out.push_back({"quantisation passes", "", 1.5, 0, 6, 1e-3});
  out.push_back({"quantisation per depth", "ns", 0.3, 0, 5, 1e-3});
  return out;
}

GemmParameters parameters_of(std::span<const double> x, NumberFormat format,
                             const GemmParameters* wide) {
  GemmParameters g;
  if (wide != nullptr) g = *wide;
  g.format = name_of(format);
  g.peak_fraction = x[0];
  g.tile_half_size = x[1];
  g.wave_rounding = x[2];
  g.ramp_depth = x[3];
  if (wide != nullptr) {
    g.beside = TimedBeside{"quantisation of the inputs", Seconds(x[4] * kMicro), x[5],
                           Seconds(x[6] * kNano)};
  } else {
    g.heating_loss = x[4];
    g.heating_time = Seconds(x[5] * kMilli);
    g.memory_fraction = x[6];
    g.floor = Seconds(x[7] * kMicro);
    g.unit_bandwidth = x[8];
    g.split_latency = Seconds(x[9] * kMicro);
    g.cache_speed = x[10];
  }
  return g;
}

void round(GemmParameters& g) {
  for (double* x : {&g.peak_fraction, &g.tile_half_size, &g.wave_rounding, &g.ramp_depth,
                    &g.memory_fraction, &g.unit_bandwidth, &g.cache_speed, &g.heating_loss}) {
    *x = catalog_digits(*x);
  }
  for (Seconds* t : {&g.floor, &g.split_latency, &g.heating_time}) {
    *t = Seconds(catalog_digits(t->value()));
  }
  if (g.beside) {
    g.beside->floor = Seconds(catalog_digits(g.beside->floor.value()));
    g.beside->passes = catalog_digits(g.beside->passes);
    g.beside->per_depth = Seconds(catalog_digits(g.beside->per_depth.value()));
  }
}

// Only what a product of one format needs.
KernelModel model_of(const Accelerator& accelerator, const GemmParameters& g, NumberFormat format) {
  KernelParameters p;
  p.compute_units = static_cast<double>(accelerator.compute_units);
  p.memory_peak = p.memory_bandwidth = accelerator.memory.bandwidth;
  for (FormatParameters& f : p.formats) f.ceiling = f.peak = FlopsPerSecond(1);
  FormatParameters& f = p.formats[static_cast<std::size_t>(format)];
  f.peak = accelerator.peak(format).value_or(FlopsPerSecond(1));
  f.ceiling = f.peak * g.peak_fraction;
  f.bandwidth = accelerator.memory.bandwidth * g.memory_fraction;
  f.tile_half_size = g.tile_half_size;
  f.wave_rounding = g.wave_rounding;
  f.ramp_depth = g.ramp_depth;
  f.floor = g.floor;
  f.unit_bandwidth = f.bandwidth * (g.unit_bandwidth / p.compute_units);
  f.split_latency = g.split_latency;
  f.cache_speed = g.cache_speed;
  return KernelModel(std::move(p));
}

}  // namespace

double catalog_digits(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::abs(x))));
  // Through text, so that the file reads back to the same number.
  return std::stod(fmt::format("{:.4g}", std::round(x * scale) / scale));
}

Result<GemmFit> fit_gemm(const Accelerator& accelerator, std::span<const MeasuredGemm> rows,
                         const GemmParameters* wide, int folds) {
  const NumberFormat format = rows.empty() ? NumberFormat::bf16 : rows.front().format;
  const Bytes cache = accelerator.last_level_cache.value_or(Bytes(0));
  FitTask task =
      fit_task("gemm " + std::string(name_of(format)),
               wide == nullptr ? wide_parameters() : narrow_parameters(), rows,
               &MeasuredGemm::measured, gemm_key, [&, cache, format](std::span<const double> x) {
                 const GemmParameters g = parameters_of(x, format, wide);
                 return [g, cache, model = model_of(accelerator, g, format)](
                            const MeasuredGemm& row) { return predict(model, g, cache, row); };
               });
  task.options.robust_scale = kKernelRobust;
  std::vector<double> other;
  for (const FitParameter& p : task.parameters) other.push_back(p.start);
  other[1] = 120;
  other[2] = 0.8;
  task.options.more_starts = {other};
  ORRERY_TRY(CrossValidatedFit done, cross_validated_fit(task, folds));
  const auto at_least = [&](double m) {
    return [&rows, m](std::size_t i) { return rows[i].shape.m >= m; };
  };
  done.add_part_of_rows("m >= 1024", task.measured, at_least(1024));
  done.add_part_of_rows("m < 1024", task.measured,
                        [&](std::size_t i) { return rows[i].shape.m < 1024; });
  GemmFit out;
  out.parameters = parameters_of(done.fit.values(), format, wide);
  round(out.parameters);
  out.part = std::move(done.part);
  return out;
}

Result<SustainedFit> fit_sustained(const Accelerator& accelerator,
                                   const KernelCalibration& calibration,
                                   std::span<const MeasuredGemm> rows, int folds) {
  KernelCalibration uncapped = calibration;
  uncapped.sustained_fraction = 1;
  ORRERY_TRY(const KernelParameters hot, join_kernel_parameters(uncapped, accelerator));
  FitTask task = fit_task("sustained clock", {{"sustained_fraction", "", 0.9, 0.3, 1, 1e-3}}, rows,
                          &MeasuredGemm::measured, gemm_key, [&](std::span<const double> x) {
                            KernelParameters p = hot;
                            for (FormatParameters& f : p.formats) f.ceiling = f.ceiling * x[0];
                            return [model = KernelModel(std::move(p))](const MeasuredGemm& row) {
                              return model.gemm(row.shape, row.format);
                            };
                          });
  task.options.robust_scale = kKernelRobust;
  ORRERY_TRY(CrossValidatedFit done, cross_validated_fit(task, folds));
  const auto is_grouped = [&](std::size_t i) { return rows[i].shape.groups > 1; };
  done.add_part_of_rows("grouped", task.measured, is_grouped);
  done.add_part_of_rows("accumulating in fp32", task.measured,
                        [&](std::size_t i) { return rows[i].shape.accumulates && !is_grouped(i); });
  done.add_part_of_rows("other", task.measured, [&](std::size_t i) {
    return !rows[i].shape.accumulates && !is_grouped(i);
  });
  return SustainedFit{catalog_digits(done.fit.values()[0]), std::move(done.part)};
}

}  // namespace orrery
