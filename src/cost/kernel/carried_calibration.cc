#include "cost/kernel/carried_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "graph/kernel_shape.h"
#include "units/number_format.h"

namespace orrery {
namespace {

constexpr double kSynchronousOnHopper = 0.629;  // of the peak
constexpr double kSameRate = 0.1;               // clocks of data sheets are no closer
constexpr double kWidestTile = 2.0 * 128 * 256 / (128 + 256);  // w* of gemm.cc

double peak(const Accelerator& a, std::string_view format) {
  for (const auto& f : names_of(NumberFormat{})) {
    if (f.name == format) return a.peak(f.value).value_or(FlopsPerSecond(0)).value();
  }
  return 0;
}

// Clocks of all processors in a second; 0: not known.
double clocks(const Accelerator& a) {
  return static_cast<double>(a.compute_units) * a.clock.value_or(Hertz(0)).value();
}

// q; 1 where a rate is not known.
double ratio_of_rates(const Accelerator& from, const Accelerator& to, std::string_view format) {
  const double before = peak(from, format) * clocks(to);
  const double after = peak(to, format) * clocks(from);
  return before > 0 && after > 0 ? after / before : 1;
}

void carry(GemmParameters& g, const Accelerator& from, const Accelerator& to) {
  const double q = ratio_of_rates(from, to, g.format);
  const double at_widest = std::pow(g.tile_half_size / kWidestTile, 2);
  const double narrow = q / g.peak_fraction / (1 + at_widest);  // C of T'(w) = B + C (w0/w)^2
  const double whole = std::max(1 - q + narrow, 1e-6 * narrow);
  const double fraction = std::min(1.0, 1 / (whole + narrow * at_widest));
  if (from.power && to.power && peak(to, g.format) > 0) {
    const double affordable =
        peak(from, g.format) * g.peak_fraction * (1 - g.heating_loss) * (*to.power / *from.power);
    g.heating_loss =
        std::clamp(1 - affordable / (peak(to, g.format) * fraction), 0.0, g.heating_loss);
  }
  g.ramp_depth *= q * fraction / g.peak_fraction;
  g.tile_half_size *= std::sqrt(narrow / whole);
  g.peak_fraction = fraction;
}

void carry(AttentionParameters& a, const Accelerator& from, const Accelerator& to) {
  const bool synchronous =
      a.kernel == AttentionKernel::flash_1 || a.kernel == AttentionKernel::flash_2;
  const double q = ratio_of_rates(from, to, "bf16");
  const double before = 1 / a.peak_fraction;
  const double matrix =
      synchronous && from.architecture == "hopper" ? std::min(1 / kSynchronousOnHopper, before) : 1;
  const double after = matrix + q * (before - matrix);
  a.peak_fraction = std::min(1.0, 1 / after);
  a.ramp_keys *= q * before / after;
}

Result<KernelCalibration> calibration_of(const Catalog& catalog, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find("kernels", name));
  return read_kernel_calibration(document);
}

}  // namespace

Result<KernelCalibration> carried_calibration(const Catalog& catalog,
                                              const KernelRelative& relative,
                                              const Accelerator& accelerator) {
  ORRERY_TRY(KernelCalibration out, calibration_of(catalog, relative.like));
  ORRERY_TRY(const Accelerator from, load_accelerator(catalog, relative.like));
  if (from.architecture == accelerator.architecture &&
      std::abs(ratio_of_rates(from, accelerator, "bf16") - 1) >= kSameRate) {
    for (GemmParameters& g : out.gemm) carry(g, from, accelerator);
    for (AttentionParameters& a : out.attention) carry(a, from, accelerator);
  }
  ORRERY_RETURN_IF_ERROR(add_missing_kernels(out, catalog, accelerator));
  return out;
}

Result<std::vector<KernelAssumption>> add_missing_kernels(KernelCalibration& calibration,
                                                          const Catalog& catalog,
                                                          const Accelerator& accelerator) {
  ORRERY_TRY(const KernelDefaults defaults, load_kernel_defaults(catalog));
  const std::vector<AttentionParameters> own = calibration.attention;
  std::vector<KernelAssumption> assumed;
  for (const KernelRelative& other : defaults.relatives) {
    if (other.architecture != accelerator.architecture || other.like == calibration.accelerator) {
      continue;
    }
    ORRERY_TRY(const KernelCalibration older, calibration_of(catalog, other.like));
    ORRERY_TRY(const Accelerator measured, load_accelerator(catalog, other.like));
    for (AttentionParameters a : older.attention) {
      const auto same = [&](const AttentionParameters& b) { return b.kernel == a.kernel; };
      if (std::ranges::any_of(own, same)) continue;
      carry(a, measured, accelerator);
      calibration.attention.push_back(a);
      if (!assumed.empty() && assumed.back().attention == a.kernel) continue;
      assumed.push_back({fmt::format("attention kernel {} on {} takes the fractions of {} ({})",
                                     to_text(a.kernel), accelerator.name, other.like, other.reason),
                         std::nullopt, a.kernel});
    }
  }
  return assumed;
}

}  // namespace orrery
