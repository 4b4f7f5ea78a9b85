#include "cost/kernel/kernel_parameters.h"

#include <algorithm>
#include <utility>

#include "cost/kernel/carried_calibration.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, kNumberFormats> kFormatNames = {
    "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4"};

constexpr std::size_t index(NumberFormat f) { return static_cast<std::size_t>(f); }

// The formats that can replace another one, best first: the same matrix units, then wider ones.
std::span<const NumberFormat> substitutes(NumberFormat f) {
  using enum NumberFormat;
  static const std::array<std::vector<NumberFormat>, kNumberFormats> kOfFormat = {{
      {fp32, tf32, bf16, fp16},             // fp64
      {tf32, bf16, fp16, fp64},             // fp32
      {fp32, bf16, fp16, fp64},             // tf32
      {bf16, tf32, fp32, fp64},             // fp16
      {tf32, fp32, fp16, fp64},             // bf16
      {bf16, fp16, tf32, fp32},             // fp8
      {fp8, bf16, fp16, tf32, fp32},        // mxfp8
      {mxfp8, fp8, bf16, fp16, tf32, fp32}  // nvfp4
  }};
  return kOfFormat[index(f)];
}

// The formats whose fitted fractions serve a format without its own fit, best first.
const GemmParameters* fitted(const KernelCalibration& c, NumberFormat f) {
  using enum NumberFormat;
  const auto named = [&](NumberFormat g) -> const GemmParameters* {
    for (const GemmParameters& p : c.gemm) {
      if (p.format == name_of(g)) return &p;
    }
    return nullptr;
  };
  if (const GemmParameters* own = named(f)) return own;
  const bool narrow = f == fp8 || f == mxfp8 || f == nvfp4;
  const std::array<NumberFormat, 4> order =
      narrow ? std::array{fp8, mxfp8, bf16, fp16} : std::array{bf16, fp16, tf32, fp32};
  for (const NumberFormat g : order) {
    if (const GemmParameters* other = named(g)) return other;
  }
  return &c.gemm.front();
}

// A figure and what it has to be.
struct Bounded {
  std::string field;
  double value;
  bool holds;
  std::string_view range;
};

Bounded fraction(const std::string& field, double value) {
  return {field, value, value > 0 && value <= 1, "above 0, at most 1"};
}
Bounded within(const std::string& field, double value, double least, double most,
               std::string_view range) {
  return {field, value, value >= least && value <= most, range};
}

Result<void> check(const std::string& document, const std::string& place,
                   std::span<const Bounded> figures) {
  for (const Bounded& f : figures) {
    if (f.holds) continue;
    return bad_input(place + f.field + " " + std::to_string(f.value) + " is out of range", document,
                     std::string(f.range));
  }
  return {};
}

Result<void> check(const GemmParameters& g, const std::string& document) {
  const std::string place = "gemm " + g.format + ": ";
  if (std::ranges::find(kFormatNames, g.format) == kFormatNames.end()) {
    const std::vector<std::string> known(kFormatNames.begin(), kFormatNames.end());
    return bad_input("unknown number format '" + g.format + "'", document,
                     name_hint(g.format, known));
  }
  ORRERY_RETURN_IF_ERROR(
      check(document, place,
            std::array{fraction("peak_fraction", g.peak_fraction),
                       fraction("memory_fraction", g.memory_fraction),
                       within("wave_rounding", g.wave_rounding, 0, 1, "0 to 1"),
                       within("tile_half_size", g.tile_half_size, 0, 4096, "0 to 4096"),
                       within("ramp_depth", g.ramp_depth, 0, 1e5, "0 to 100000")}));
  if (!(g.floor.value() >= 0)) {
    return bad_input(place + "floor is negative", document, "0 us or more");
  }
  ORRERY_RETURN_IF_ERROR(check(document, place,
                               std::array{Bounded{"unit_bandwidth", g.unit_bandwidth,
                                                  g.unit_bandwidth > 0 && g.unit_bandwidth <= 1000,
                                                  "above 0, at most 1000"}}));
  if (!(g.split_latency.value() >= 0 && g.heating_time.value() >= 0)) {
    return bad_input(place + "split_latency or heating_time is negative", document, "0 us or more");
  }
  ORRERY_RETURN_IF_ERROR(
      check(document, place,
            std::array{within("cache_speed", g.cache_speed, 1, 100, "1 to 100"),
                       Bounded{"heating_loss", g.heating_loss,
                               g.heating_loss >= 0 && g.heating_loss < 1, "0 to below 1"}}));
  if (g.beside && !(g.beside->floor.value() >= 0 && g.beside->passes >= 0 &&
                    g.beside->per_depth.value() >= 0)) {
    return bad_input(place + "a negative figure of what was timed beside", document, "0 or more");
  }
  return {};
}

Result<void> check(const AttentionParameters& a, const std::string& document) {
  return check(document,
               "attention " + std::string(to_text(a.kernel)) + " " +
                   std::string(to_text(a.direction)) + ": ",
               std::array{fraction("peak_fraction", a.peak_fraction),
                          within("head_dim", a.head_dim, 1, 4096, "1 to 4096"),
                          within("ramp_keys", a.ramp_keys, 0, 1e5, "0 to 100000")});
}

// For a kernel that was not measured: the one with the most similar pass structure.
std::span<const AttentionKernel> relatives(AttentionKernel kernel) {
  using enum AttentionKernel;
  static constexpr std::array kFlash1 = {flash_2, library, flash_3};
  static constexpr std::array kFlash2 = {library, flash_1, flash_3};
  static constexpr std::array kFlash3 = {flash_2, library, flash_1};
  static constexpr std::array kOther = {flash_2, flash_3, flash_1};
  return kernel == flash_1   ? kFlash1
         : kernel == flash_2 ? kFlash2
         : kernel == flash_3 ? kFlash3
                             : kOther;
}

Result<AttentionCurve> curve_of(const KernelCalibration& c, AttentionKernel kernel,
                                Direction direction) {
  AttentionCurve curve;
  for (const AttentionParameters& a : c.attention) {
    if (a.kernel != kernel || a.direction != direction) continue;
    if (curve.size == AttentionCurve::kMaxPoints) {
      return bad_input("more than " + std::to_string(AttentionCurve::kMaxPoints) +
                           " head dimensions for attention kernel " + std::string(to_text(kernel)),
                       c.accelerator);
    }
    std::size_t place = curve.size++;
    for (; place > 0 && curve.points[place - 1].head_dim > a.head_dim; --place) {
      curve.points[place] = curve.points[place - 1];
    }
    curve.points[place] = {a.head_dim, a.peak_fraction, a.ramp_keys};
  }
  return curve;
}

// The fraction that makes the largest product in a format meet the rate others sustained in it.
// 8-bit products use a sustained rate of their own if one was measured, because they may lose more
// or less than bf16 on this accelerator; otherwise they lose as much.
double borrowed_sustained_fraction(const KernelCalibration& c, const Accelerator& accelerator,
                                   NumberFormat format) {
  const auto meeting = [&](FlopsPerSecond achieved, FlopsPerSecond peak, NumberFormat of) {
    const GemmParameters* g = fitted(c, of);
    return std::min(1.0, achieved / peak / (g->peak_fraction * (1 - g->heating_loss)));
  };
  const bool narrow = format == NumberFormat::fp8 || format == NumberFormat::mxfp8;
  if (narrow && accelerator.achieved.fp8 && accelerator.peaks.fp8) {
    return meeting(*accelerator.achieved.fp8, *accelerator.peaks.fp8, format);
  }
  const auto peak = accelerator.peaks.bf16 ? accelerator.peaks.bf16 : accelerator.peaks.fp16;
  if (!accelerator.achieved.bf16 || !peak) return c.sustained_fraction;
  return meeting(*accelerator.achieved.bf16, *peak, NumberFormat::bf16);
}

}  // namespace

Fields<FitRecord> fields_of(const FitRecord*) {
  return Fields<FitRecord>("fit record")
      .required<&FitRecord::data>("file of validation/kernels and the rows taken")
      .required<&FitRecord::date>("YYYY-MM-DD")
      .required<&FitRecord::rows>("number of measurements")
      .required<&FitRecord::median_error>("median of |predicted/measured - 1|")
      .required<&FitRecord::p90_error>("90th percentile of the same")
      .optional<&FitRecord::held_out_median_error>("median on folds of shapes that were not fitted")
      .optional<&FitRecord::held_out_p90_error>("90th percentile of the same");
}

Fields<TimedBeside> fields_of(const TimedBeside*) {
  return Fields<TimedBeside>("kernel timed beside")
      .required<&TimedBeside::what>("which kernel")
      .required<&TimedBeside::floor>("its fixed time")
      .required<&TimedBeside::passes>("over the bytes it reads and writes")
      .optional<&TimedBeside::per_depth>("of a serial walk, per element of k");
}

Fields<GemmParameters> fields_of(const GemmParameters*) {
  return Fields<GemmParameters>("matrix product parameters")
      .required<&GemmParameters::format>("number format of the operands")
      .required<&GemmParameters::peak_fraction>(
          "share of peak FLOP/s in the main loop of the largest tile")
      .required<&GemmParameters::tile_half_size>(
          "w0 of the main loop's rate 1 / (1 + (w0/w)^2), w being the tile's width")
      .required<&GemmParameters::wave_rounding>(
          "share of the idle part of the last wave that is really idle")
      .required<&GemmParameters::ramp_depth>(
          "pipeline fill and epilogue of one tile, in elements of k")
      .required<&GemmParameters::memory_fraction>(
          "share of peak memory bandwidth while streaming operands")
      .required<&GemmParameters::floor>("launch latency and grid ramp")
      .optional<&GemmParameters::unit_bandwidth>(
          "of one processor, in shares of achieved bandwidth over processors")
      .optional<&GemmParameters::split_latency>("of adding up the parts of a product split along k")
      .optional<&GemmParameters::cache_speed>(
          "bandwidth of the last-level cache over that of memory")
      .optional<&GemmParameters::heating_loss>(
          "share of the rate a product loses once it runs for long")
      .optional<&GemmParameters::heating_time>("product for which half of that is lost")
      .required<&GemmParameters::source>("where the values come from")
      .optional<&GemmParameters::beside>("what was timed with it, counted apart")
      .optional<&GemmParameters::fit>("what the fit was made on, and its error");
}

Fields<AttentionParameters> fields_of(const AttentionParameters*) {
  return Fields<AttentionParameters>("attention parameters")
      .required<&AttentionParameters::kernel>("generation of the kernel")
      .required<&AttentionParameters::direction>("forward or backward")
      .required<&AttentionParameters::head_dim>("mean of query-key and value dimension")
      .required<&AttentionParameters::peak_fraction>("share of peak FLOP/s on long sequences")
      .required<&AttentionParameters::ramp_keys>("prologue and epilogue of a query block, in keys")
      .required<&AttentionParameters::source>("where the values come from")
      .optional<&AttentionParameters::fit>("what the fit was made on, and its error");
}

Fields<PrefillPoint> fields_of(const PrefillPoint*) {
  return Fields<PrefillPoint>("prefill attention at a head dimension")
      .required<&PrefillPoint::head_dim>("of queries, keys and values")
      .required<&PrefillPoint::peak_fraction>("share of peak FLOP/s on long sequences")
      .required<&PrefillPoint::ramp_keys>("prologue and epilogue of a query block, in keys");
}

Fields<PrefillParameters> fields_of(const PrefillParameters*) {
  using P = PrefillParameters;
  return Fields<P>("prefill attention parameters")
      .required<&P::format>("number format of both products")
      .required<&P::beside>("what was timed with it, counted apart")
      .required<&P::points>("by head dimension")
      .required<&P::source>("where the values come from")
      .required<&P::fit>("what the fit was made on, and its error");
}

Fields<KernelCalibration> fields_of(const KernelCalibration*) {
  using C = KernelCalibration;
  return Fields<C>("kernel calibration")
      .required<&C::accelerator>("what was measured")
      .required<&C::sustained_fraction>(
          "of the FLOP/s of long repeated products, under the power cap of a training run")
      .required<&C::sustained_source>("where it comes from")
      .required<&C::memory_fraction>("of peak memory bandwidth, memory-bound kernels")
      .required<&C::memory_floor>("of a memory-bound kernel")
      .required<&C::memory_source>("where they come from")
      .required<&C::score_passes>(
          "reads plus writes of the score matrix in unfused forward attention")
      .required<&C::score_source>("where it comes from")
      .optional<&C::unaligned_fraction>(
          "rate of a product of unaligned heads over that of aligned ones")
      .optional<&C::unaligned_source>("where it comes from")
      .required<&C::gemm>("matrix products, by number format")
      .required<&C::attention>("fused attention, by kernel")
      .optional<&C::prefill>("attention of an inference engine, by format");
}

std::string_view name_of(NumberFormat format) { return kFormatNames[index(format)]; }

AttentionCurve::Point AttentionCurve::at(double head_dim) const {
  if (size == 0) return {head_dim, 1, 0};
  if (head_dim <= points[0].head_dim) return points[0];
  for (std::size_t i = 1; i < size; ++i) {
    const Point& low = points[i - 1];
    const Point& high = points[i];
    if (head_dim > high.head_dim) continue;
    const double x = (head_dim - low.head_dim) / (high.head_dim - low.head_dim);
    return {head_dim, std::lerp(low.peak_fraction, high.peak_fraction, x),
            std::lerp(low.ramp_keys, high.ramp_keys, x)};
  }
  return points[size - 1];
}

Result<KernelCalibration> read_kernel_calibration(const Document& document) {
  ORRERY_TRY(KernelCalibration c, read<KernelCalibration>(document));
  ORRERY_RETURN_IF_ERROR(check(document.name, "",
                               std::array{fraction("sustained_fraction", c.sustained_fraction),
                                          fraction("memory_fraction", c.memory_fraction)}));
  if (!(c.memory_floor.value() >= 0)) {
    return bad_input("memory_floor is negative", document.name, "0 us or more");
  }
  ORRERY_RETURN_IF_ERROR(check(
      document.name, "",
      std::array{within("score_passes", c.score_passes, 2, 100, "2 (one read, one write) to 100"),
                 fraction("unaligned_fraction", c.unaligned_fraction)}));
  if (c.gemm.empty() || c.attention.empty()) {
    return bad_input(std::string("no ") + (c.gemm.empty() ? "gemm" : "attention") + " entries",
                     document.name, "at least one of each");
  }
  for (const GemmParameters& g : c.gemm) ORRERY_RETURN_IF_ERROR(check(g, document.name));
  for (const AttentionParameters& a : c.attention) ORRERY_RETURN_IF_ERROR(check(a, document.name));
  return c;
}

Fields<KernelRelative> fields_of(const KernelRelative*) {
  return Fields<KernelRelative>("kernel relative")
      .required<&KernelRelative::architecture>(
          "of the accelerators it serves; \"*\" for every other")
      .required<&KernelRelative::like>("accelerator with measured kernels")
      .required<&KernelRelative::reason>("why that one");
}

Fields<SameProcessor> fields_of(const SameProcessor*) {
  return Fields<SameProcessor>("same processor")
      .required<&SameProcessor::accelerator>("that takes from the other")
      .required<&SameProcessor::as>("of which more kernels were measured")
      .required<&SameProcessor::reason>("why they are the same");
}

Fields<KernelDefaults> fields_of(const KernelDefaults*) {
  return Fields<KernelDefaults>("kernel defaults")
      .required<&KernelDefaults::relatives>("by architecture, \"*\" last")
      .optional<&KernelDefaults::same_processor>("accelerators that differ in their memory");
}

Result<KernelParameters> join_kernel_parameters(const KernelCalibration& c,
                                                const Accelerator& accelerator) {
  std::array<FlopsPerSecond, kNumberFormats> peaks{};
  for (std::size_t i = 0; i < kNumberFormats; ++i) {
    peaks[i] = accelerator.peak(static_cast<NumberFormat>(i)).value_or(FlopsPerSecond(0));
  }
  if (std::ranges::none_of(peaks, [](FlopsPerSecond f) { return f.value() > 0; })) {
    return bad_input("has no peak rate for floating-point work", accelerator.name);
  }
  if (c.gemm.empty() || c.attention.empty()) {
    return bad_input("no gemm or no attention entries", c.accelerator);
  }
  KernelParameters out;
  out.accelerator = accelerator.name;
  out.compute_units = static_cast<double>(accelerator.compute_units);
  out.memory_peak = accelerator.memory.bandwidth;
  out.memory_bandwidth = accelerator.memory.bandwidth * c.memory_fraction;
  out.memory_floor = c.memory_floor;
  const bool own = c.accelerator == accelerator.name;
  const auto sustained = [&](NumberFormat format) {
    return own ? c.sustained_fraction : borrowed_sustained_fraction(c, accelerator, format);
  };
  out.sustained_fraction =
      sustained(NumberFormat::bf16) * (1 - fitted(c, NumberFormat::bf16)->heating_loss);
  out.score_passes = c.score_passes;
  // NVIDIA's tensor cores load operands in rows of 16 bytes; this is not known of other vendors.
  out.unaligned_fraction = own || accelerator.vendor == "nvidia" ? c.unaligned_fraction : 1;
  for (std::size_t i = 0; i < kNumberFormats; ++i) {
    const auto wanted = static_cast<NumberFormat>(i);
    NumberFormat used = wanted;
    FormatParameters& f = out.formats[i];
    f.native = peaks[i].value() > 0;
    if (!f.native) {
      for (const NumberFormat s : substitutes(wanted)) {
        if (peaks[index(s)].value() > 0) {
          used = s;
          break;
        }
      }
      if (peaks[index(used)].value() <= 0) {
        // Only narrow formats exist, so products in a wide one are impossible and the plan is
        // refused elsewhere; the slowest peak keeps the result finite.
        for (std::size_t j = kNumberFormats; j-- > 0;) {
          if (peaks[j].value() > 0) used = static_cast<NumberFormat>(j);
        }
      }
      out.assumed.push_back({accelerator.name + " has no " + std::string(name_of(wanted)) +
                                 " peak: its matrix products run at the rate of " +
                                 std::string(name_of(used)),
                             wanted, std::nullopt});
    }
    const GemmParameters* g = fitted(c, used);
    if (f.native && g->format != name_of(used)) {
      out.assumed.push_back({"achieved fractions of " + std::string(name_of(used)) + " on " +
                                 accelerator.name + " are those fitted for " + g->format,
                             wanted, std::nullopt});
    }
    if (wanted == NumberFormat::fp8 && f.native &&
        accelerator.peaks.bf16 == accelerator.peaks.fp8) {
      out.assumed.push_back({accelerator.name +
                                 " has one peak for fp8 and bf16: casting operands to "
                                 "fp8 is not paid back by faster products",
                             wanted, std::nullopt});
    }
    f.peak = peaks[index(used)];
    f.burst = f.peak * g->peak_fraction;
    f.ceiling = f.burst * ((1 - g->heating_loss) * sustained(used));
    f.bandwidth = accelerator.memory.bandwidth * g->memory_fraction;
    f.tile_half_size = g->tile_half_size;
    f.wave_rounding = g->wave_rounding;
    f.ramp_depth = g->ramp_depth;
    f.floor = g->floor;
    f.unit_bandwidth = f.bandwidth * (g->unit_bandwidth / out.compute_units);
    f.split_latency = g->split_latency;
    f.cache_speed = g->cache_speed;
  }
  for (const auto& kernel : names_of(AttentionKernel{})) {
    if (kernel.value == AttentionKernel::unfused) continue;
    for (const auto& direction : names_of(Direction{})) {
      ORRERY_TRY(AttentionCurve curve, curve_of(c, kernel.value, direction.value));
      for (const AttentionKernel other : relatives(kernel.value)) {
        if (curve.size > 0) break;
        ORRERY_TRY(curve, curve_of(c, other, direction.value));
        if (curve.size > 0) {
          out.assumed.push_back({"attention kernel " + std::string(kernel.name) + " " +
                                     std::string(direction.name) + " on " + accelerator.name +
                                     " takes the fractions of " + std::string(to_text(other)),
                                 std::nullopt, kernel.value});
        }
      }
      if (curve.size == 0) {
        return bad_input("no attention kernel has a " + std::string(direction.name) + " entry",
                         c.accelerator);
      }
      out.attention[static_cast<std::size_t>(kernel.value)]
                   [static_cast<std::size_t>(direction.value)] = curve;
    }
  }
  if (!own) {
    out.assumed.push_back({"no kernel of " + accelerator.name +
                               " was measured: achieved fractions and fixed times of " +
                               c.accelerator,
                           std::nullopt, std::nullopt});
  }
  return out;
}

Result<KernelDefaults> load_kernel_defaults(const Catalog& catalog) {
  ORRERY_TRY(const Document document, catalog.find("kernels", "default"));
  return read<KernelDefaults>(document);
}

Result<KernelRelative> relative_of(const Catalog& catalog, const Accelerator& accelerator) {
  ORRERY_TRY(const KernelDefaults defaults, load_kernel_defaults(catalog));
  for (const KernelRelative& r : defaults.relatives) {
    if (r.architecture == accelerator.architecture || r.architecture == "*") return r;
  }
  return fail(ErrorCode::not_found,
              "no kernel was measured on " + accelerator.name + ", and architecture '" +
                  accelerator.architecture + "' has no relative",
              "catalog/kernels/default.yaml", "an entry with architecture \"*\"");
}

Result<KernelParameters> load_kernel_parameters(const Catalog& catalog,
                                                const Accelerator& accelerator) {
  if (catalog.contains("kernels", accelerator.name)) {
    ORRERY_TRY(const Document document, catalog.find("kernels", accelerator.name));
    ORRERY_TRY(KernelCalibration own, read_kernel_calibration(document));
    ORRERY_TRY(std::vector<KernelAssumption> added, add_missing_kernels(own, catalog, accelerator));
    ORRERY_TRY(KernelParameters out, join_kernel_parameters(own, accelerator));
    for (KernelAssumption& a : added) out.assumed.push_back(std::move(a));
    return out;
  }
  ORRERY_TRY(const KernelRelative r, relative_of(catalog, accelerator));
  ORRERY_TRY(const KernelCalibration borrowed, carried_calibration(catalog, r, accelerator));
  ORRERY_TRY(KernelParameters out, join_kernel_parameters(borrowed, accelerator));
  out.assumed.back().text += " (" + r.reason + ")";
  return out;
}

KernelParameters without_power_cap(KernelParameters parameters) {
  for (FormatParameters& f : parameters.formats) f.ceiling = f.burst;
  parameters.sustained_fraction = 1;
  return parameters;
}

}  // namespace orrery
