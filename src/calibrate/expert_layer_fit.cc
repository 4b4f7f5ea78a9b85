#include "calibrate/expert_layer_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "calibrate/cross_validated_fit.h"
#include "calibrate/kernel_measurements.h"
#include "calibrate/measurement_cells.h"
#include "cost/kernel/kernel_model.h"
#include "cost/step/training_conditions.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

using View = std::string_view;
constexpr std::array<View, 11> kExpertColumns = {
    "accelerator", "dtype",       "num_tokens", "hidden", "expert_ffn",
    "top_k",       "num_experts", "moe_tp",     "moe_ep", "token_distribution",
    "latency_us"};
constexpr double kMostExperts = 65536;
constexpr Seconds kLeastLayerTime(20e-6);
constexpr double kMostTokensOfSampler = 0.8;  // of all, in one expert
constexpr std::size_t kLeastExpertRows = 40;

bool holds(const CommaSeparated& table) { return has_columns(table, kExpertColumns); }

std::optional<NumberFormat> expert_format(View dtype) {
  if (dtype == "bf16") return NumberFormat::bf16;
  if (dtype == "fp8" || dtype == "fp8_block") return NumberFormat::fp8;
  if (dtype == "nvfp4") return NumberFormat::nvfp4;
  return std::nullopt;
}

// 1.01 in "power-law-1.01"; 0 for "balanced"; nothing for others.
std::optional<double> power_of(View distribution) {
  if (distribution == "balanced") return 0;
  constexpr View kHead = "power-law-";
  if (!distribution.starts_with(kHead)) return std::nullopt;
  const auto power = parsed_number<double>(distribution.substr(kHead.size()));
  return power && *power > 0 && *power < 10 ? power : std::nullopt;
}

std::string shape_of(const MeasuredExpertLayer& m) {
  return fmt::format("{} {} {} {} {} {} {}", m.tokens, m.hidden, m.ffn, m.top_k, m.experts, m.ranks,
                     m.power);
}

std::vector<MeasuredExpertLayer> read(const CommaSeparated& table, const Catalog& catalog,
                                      std::vector<RowProblem>& problems) {
  std::vector<MeasuredExpertLayer> out;
  SeenRows seen;
  std::map<std::string, std::optional<Accelerator>> accelerators;
  for_each_record(std::span(&table, 1), problems, [&](MeasurementCells cells) {
    MeasuredExpertLayer m;
    m.accelerator = cells.text("accelerator");
    m.dtype = cells.text("dtype");
    const auto format = expert_format(m.dtype);
    if (!format) cells.complain("dtype '" + m.dtype + "' is none of bf16, fp8, fp8_block, nvfp4");
    const auto power = power_of(cells.text("token_distribution"));
    if (!power) {
      cells.complain("token_distribution '" + std::string(cells.text("token_distribution")) +
                     "' is neither balanced nor power-law-a");
    }
    m.tokens = cells.count("num_tokens", 1, kMostSize);
    m.hidden = cells.count("hidden", 1, kMostSize);
    m.experts = cells.count("num_experts", 1, kMostExperts);
    m.top_k = cells.count("top_k", 1, std::max(1.0, m.experts));
    m.ranks = cells.count("moe_ep", 1, std::max(1.0, m.experts));
    const double parts = cells.count("moe_tp", 1, kMostSize);
    m.ffn = cells.count("expert_ffn", 1, kMostSize) / std::max(1.0, parts);
    m.measured = cells.microseconds("latency_us");
    if (!cells.usable()) return;
    m.format = *format;
    m.power = *power;
    if (!catalog.contains("kernels", m.accelerator)) {
      return cells.complain("no products were fitted on '" + m.accelerator + "'");
    }
    auto& accelerator = accelerators[m.accelerator];
    if (!accelerator) {
      if (auto loaded = load_accelerator(catalog, m.accelerator)) accelerator = std::move(*loaded);
    }
    const std::optional<FlopsPerSecond> peak =
        accelerator ? accelerator->peak(m.format) : std::nullopt;
    if (peak) {
      const double assigned = m.tokens * m.top_k / m.ranks;  // of a balanced rank
      const double weights = 3 * m.hidden * m.ffn;
      const Bytes moved =
          element_size(m.format) * weights * std::min(assigned, m.experts / m.ranks);
      const Seconds least = Flops(2 * assigned * weights) / *peak +
                            moved / accelerator->memory.bandwidth + kLeastLayerTime;
      if (!cells.not_too_slow(m.measured, least)) return;
    }
    if (seen.add(fmt::format("{} {} {}", m.accelerator, m.dtype, shape_of(m)), cells)) {
      out.push_back(std::move(m));
    }
  });
  return out;
}

// One accelerator and format, cold and at burst clocks.
Result<std::optional<CalibratedPart>> fitted(const Accelerator& accelerator,
                                             const KernelCalibration& calibration,
                                             const std::vector<MeasuredExpertLayer>& rows,
                                             int folds) {
  const NumberFormat format = rows.front().format;
  const auto products =
      std::ranges::find(calibration.gemm, name_of(format), &GemmParameters::format);
  if (rows.size() < kLeastExpertRows || products == calibration.gemm.end()) return std::nullopt;
  ORRERY_TRY(KernelParameters joined, join_kernel_parameters(calibration, accelerator));
  const KernelParameters burst = without_power_cap(std::move(joined));
  std::vector<std::vector<double>> loads;
  FitTask task;
  task.name = "expert layer " + rows.front().dtype;
  task.parameters = {{"routing floor", "us", 30, 0, 300},
                     {"routing passes", "", 1, 0, 20},
                     {"rate", "", 0.8, 0.1, 1.5},
                     {"bandwidth", "", 0.9, 0.2, 1.4}};
  for (const MeasuredExpertLayer& m : rows) {
    task.measured.push_back(m.measured.value());
    task.keys.push_back(shape_of(m));
    loads.push_back(expert_loads(m));
  }
  task.predict = [&](std::span<const double> x, std::span<const std::size_t> chosen,
                     std::span<double> out) {
    KernelParameters p = burst;
    FormatParameters& f = p.formats[static_cast<std::size_t>(format)];
    f.ceiling = f.ceiling * x[2];
    f.bandwidth = f.bandwidth * x[3];
    const FlopsPerSecond ceiling = f.ceiling;
    const KernelModel model(std::move(p));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const MeasuredExpertLayer& m = rows[chosen[i]];
      const std::vector<double>& own = loads[chosen[i]];
      const double routed = std::accumulate(own.begin(), own.end(), 0.0);
      const Bytes moved(routed * (4 * m.hidden + 6 * m.ffn) + 4 * m.tokens * m.hidden);
      Seconds time = Seconds(x[0] * 1e-6) + moved * x[1] / burst.memory_peak;
      const auto product = [&](double n, double k) {
        const Seconds ideal = Flops(2 * routed * n * k) / ceiling;
        return heated(model.grouped_gemm(own, n, k, m.format), *products, ideal);
      };
      time += product(2 * m.ffn, m.hidden) + product(m.hidden, m.ffn);
      out[i] = time.value();
    }
  };
  ORRERY_TRY(CrossValidatedFit done, cross_validated_fit(task, folds));
  done.add_part_of_rows("balanced", task.measured,
                        [&](std::size_t i) { return rows[i].power == 0; });
  done.add_part_of_rows("power law", task.measured,
                        [&](std::size_t i) { return rows[i].power > 0; });
  done.add_part_of_rows("1024 tokens and more", task.measured,
                        [&](std::size_t i) { return rows[i].tokens >= 1024; });
  return std::optional(std::move(done.part));
}

Result<Calibration> calibrate_layers(std::span<const CommaSeparated> tables,
                                     const CalibrationRequest& request) {
  Calibration out;
  std::map<std::string, std::map<std::string, std::vector<MeasuredExpertLayer>>> all;
  for (const CommaSeparated& table : tables) {
    out.rows += table.records.size() + table.refused.size();
    for (MeasuredExpertLayer& m : read(table, *request.catalog, out.problems)) {
      if (!request.accelerator.empty() && request.accelerator != m.accelerator) continue;
      ++out.used;
      all[m.accelerator][m.dtype].push_back(std::move(m));
    }
  }
  for (const auto& [name, by_format] : all) {
    ORRERY_TRY(const Accelerator accelerator, load_accelerator(*request.catalog, name));
    ORRERY_TRY(const Document document, request.catalog->find("kernels", name));
    ORRERY_TRY(const KernelCalibration calibration, read_kernel_calibration(document));
    CalibrationReport report;
    report.kind = "expert layers";
    report.subject = name;
    for (const auto& [dtype, rows] : by_format) {
      ORRERY_TRY(auto part, fitted(accelerator, calibration, rows,
                                   request.cross_validate ? request.folds : 0));
      if (part) {
        report.parts.push_back(std::move(*part));
      } else {
        report.notes.push_back(
            fmt::format("{} layers in {} are too few to fit, or no product of the format is known.",
                        rows.size(), dtype));
      }
    }
    out.reports.push_back(std::move(report));
  }
  return out;
}

}  // namespace

std::vector<double> expert_loads(const MeasuredExpertLayer& row) {
  const double local = std::max(1.0, std::floor(row.experts / row.ranks));
  const double mean = row.tokens * row.top_k / row.experts;
  const auto count = static_cast<std::size_t>(local);
  if (row.power == 0) {
    if (mean >= 1) return std::vector<double>(count, mean);
    // Fewer rows than experts: as many experts as rows have one each.
    std::vector<double> out(count, 0);
    const auto busy = static_cast<std::size_t>(std::ceil(mean * local));
    std::fill_n(out.begin(), std::min(busy, count), 1.0);
    return out;
  }
  // Quantiles of x^(1-a), uniform between its ends; the bounds of the sampler for few tokens are
  // 0.01 and 2.
  const bool few = row.tokens * row.top_k <= row.experts;
  const double low = few ? 0.01 : 1;
  const double high = few ? 2 : std::max(2.0, kMostTokensOfSampler * row.tokens);
  const double e = 1 - row.power;
  const auto quantile = [&](double u) {
    if (std::abs(e) < 1e-9) return low * std::pow(high / low, u);
    return std::pow((std::pow(high, e) - std::pow(low, e)) * u + std::pow(low, e), 1 / e);
  };
  const auto experts = static_cast<std::size_t>(row.experts);
  std::vector<double> all(experts);
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < experts; ++i) {
    all[i] = quantile((static_cast<double>(i) + 0.5) / row.experts);
    sum += all[i];
    squares += all[i] * all[i];
  }
  const double average = sum / row.experts;
  const double variation =
      std::sqrt(std::max(0.0, squares / row.experts / (average * average) - 1));
  double busiest = 1;
  if (row.ranks > 1) {
    busiest +=
        variation * std::sqrt((1 - local / row.experts) / local) * expected_maximum(row.ranks);
  }
  // The rank's experts at the quantiles of all; whole rows, no more than there are tokens.
  std::vector<double> out(count);
  double own = 0;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = quantile((static_cast<double>(i) + 0.5) / local);
    own += out[i];
  }
  const double rows = std::min(row.tokens * row.top_k, mean * local * busiest);
  for (double& load : out) load = std::min(row.tokens, std::round(load * rows / own));
  if (std::ranges::all_of(out, [](double m) { return m == 0; })) out.back() = 1;
  return out;
}

MeasurementKind expert_layer_measurement_kind() {
  return {"expert layers",
          "accelerator, dtype, num_tokens, hidden, expert_ffn, top_k, num_experts, moe_tp, moe_ep, "
          "token_distribution, latency_us",
          holds, calibrate_layers};
}

}  // namespace orrery
