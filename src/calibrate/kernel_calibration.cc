#include "calibrate/kernel_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "calibrate/attention_fit.h"
#include "calibrate/gemm_fit.h"
#include "calibrate/kernel_measurements.h"
#include "document/fields.h"

namespace orrery {
namespace {

constexpr double kBeyondCache = 100e6;  // bytes moved by a memory-bound kernel
constexpr std::string_view kEngineSource = "the prefill kernel of an inference engine";
constexpr std::size_t kLeastRows = 8;  // fewer say nothing of a fit's error
// A recorded run has few shapes; one parameter is fitted on as many.
constexpr std::size_t kLeastRecordedRows = 4;

template <class Row>
bool is_recorded(const Row& row) {
  return row.recorded;
}

// The tables that the rows are of.
template <class Row>
std::string tables_of(const std::vector<Row>& rows) {
  std::set<std::string> names;
  for (const Row& row : rows) names.insert(row.table);
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

template <class Row>
std::size_t least_rows(const std::vector<Row>& rows) {
  return std::ranges::any_of(rows, is_recorded<Row>) ? kLeastRecordedRows : kLeastRows;
}

template <class Row, class Keep>
std::vector<Row> chosen(const std::vector<Row>& rows, Keep keep) {
  std::vector<Row> out;
  std::ranges::copy_if(rows, std::back_inserter(out), keep);
  return out;
}

// visit(member) for every kind of row.
template <class Visit>
void for_each_kind(Visit visit) {
  using M = KernelMeasurements;
  visit(&M::products), visit(&M::in_training), visit(&M::prefill), visit(&M::attention),
      visit(&M::layers), visit(&M::recorded_attention);
}

double rounded(double share) { return std::round(share * 1e4) / 1e4; }

class AcceleratorCalibration {
 public:
  // `rows` are of this accelerator alone.
  AcceleratorCalibration(const Accelerator& accelerator, const KernelMeasurements& rows,
                         const CalibrationRequest& request,
                         std::map<std::string, KernelCalibration>& made)
      : accelerator_(accelerator), rows_(rows), request_(request), made_(made) {}

  Result<CalibrationReport> run() {
    report_.kind = "kernels";
    report_.subject = accelerator_.name;
    ORRERY_TRY(c_, start());
    for (const auto step :
         {&AcceleratorCalibration::memory, &AcceleratorCalibration::products,
          &AcceleratorCalibration::sustained, &AcceleratorCalibration::prefill,
          &AcceleratorCalibration::same_processor, &AcceleratorCalibration::attention,
          &AcceleratorCalibration::scores, &AcceleratorCalibration::recorded}) {
      ORRERY_RETURN_IF_ERROR((this->*step)());
    }
    if (!request_.catalog->contains("kernels", accelerator_.name) && !has_products_) {
      report_.notes.push_back("Without products there is no entry to make.");
      return std::move(report_);
    }
    if (!report_.parts.empty() &&
        std::ranges::all_of(report_.parts,
                            [](const CalibratedPart& part) { return part.parameters.empty(); })) {
      report_.notes.push_back("Nothing was fitted: the errors are those of the catalog's entry.");
      return std::move(report_);
    }
    made_[accelerator_.name] = c_;
    report_.files.push_back(
        {"kernels/" + accelerator_.name + ".yaml", to_yaml(Codec<KernelCalibration>::write(c_))});
    return std::move(report_);
  }

 private:
  [[nodiscard]] int folds() const { return request_.cross_validate ? request_.folds : 0; }

  Result<KernelCalibration> entry(const std::string& name) const {
    if (const auto made = made_.find(name); made != made_.end()) return made->second;
    ORRERY_TRY(const Document document, request_.catalog->find("kernels", name));
    return read_kernel_calibration(document);
  }

  // The catalog's entry; without products of its own, the relative's as it is now.
  Result<KernelCalibration> start() {
    const bool known = request_.catalog->contains("kernels", accelerator_.name);
    const bool in_training = !std::ranges::all_of(rows_.in_training, is_recorded<MeasuredGemm>);
    if (known && (!rows_.products.empty() || !in_training)) return entry(accelerator_.name);
    ORRERY_TRY(const KernelRelative relative, relative_of(*request_.catalog, accelerator_));
    ORRERY_TRY(KernelCalibration borrowed, entry(relative.like));
    report_.notes.push_back("What was not measured is that of " + relative.like + ".");
    borrowed.accelerator = accelerator_.name;
    borrowed.prefill.clear();
    for (GemmParameters& g : borrowed.gemm) g.source = "as on " + relative.like + ": " + g.source;
    for (AttentionParameters& a : borrowed.attention) {
      a.source = "as on " + relative.like + ": " + a.source;
    }
    return borrowed;
  }

  // Attention of a processor that was measured in another accelerator.
  Result<void> same_processor() {
    ORRERY_TRY(const KernelDefaults defaults, load_kernel_defaults(*request_.catalog));
    for (const SameProcessor& same : defaults.same_processor) {
      if (same.accelerator != accelerator_.name) continue;
      ORRERY_TRY(const KernelCalibration other, entry(same.as));
      std::set<AttentionKernel> own;
      for (const MeasuredAttention& r : rows_.attention) own.insert(r.kernel);
      std::erase_if(c_.attention,
                    [&](const AttentionParameters& a) { return !own.contains(a.kernel); });
      for (AttentionParameters a : other.attention) {
        if (own.contains(a.kernel)) continue;
        a.source = "as on " + same.as + " (" + same.reason + "): " + a.source;
        c_.attention.push_back(std::move(a));
      }
    }
    return {};
  }

  [[nodiscard]] FitRecord record(const CalibratedPart& part, std::string data) const {
    FitRecord r{std::move(data),
                request_.date,
                static_cast<double>(part.in_sample.rows),
                rounded(part.in_sample.median),
                rounded(part.in_sample.p90),
                0,
                0};
    if (part.held_out) {
      r.held_out_median_error = rounded(part.held_out->median);
      r.held_out_p90_error = rounded(part.held_out->p90);
    }
    return r;
  }
  [[nodiscard]] static std::string errors(const CalibratedPart& part) {
    std::string out = fmt::format("{} rows, median error {:.1f} %", part.in_sample.rows,
                                  100 * part.in_sample.median);
    if (part.held_out) out += fmt::format(", held out {:.1f} %", 100 * part.held_out->median);
    return out;
  }

  Result<void> memory() {
    const double cache = accelerator_.last_level_cache.value_or(Bytes(0)).value();
    const auto rows = chosen(rows_.layers, [&](const MeasuredLayerOperation& r) {
      return r.moved.value() >= kBeyondCache && (!is_recorded(r) || r.moved.value() >= 2 * cache);
    });
    if (rows.size() < least_rows(rows)) return {};
    ORRERY_TRY(MemoryFit fit, fit_memory(accelerator_, c_, rows, folds()));
    c_.memory_fraction = fit.fraction;
    c_.memory_source =
        (std::ranges::any_of(rows, is_recorded<MeasuredLayerOperation>)
             ? "fitted on operators above 100 MB in "
             : "fitted on residual additions and gated activations above 100 MB in ") +
        tables_of(rows) + ", " + errors(fit.part) + "; floor not fitted";
    report_.parts.push_back(std::move(fit.part));
    return {};
  }

  Result<void> products() {
    for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp8,
                                      NumberFormat::mxfp8, NumberFormat::nvfp4}) {
      const auto rows =
          chosen(rows_.products, [&](const MeasuredGemm& r) { return r.format == format; });
      if (rows.empty()) continue;
      if (rows.size() < 4 * kLeastRows) {
        report_.notes.push_back(
            fmt::format("{} products in {} are too few to fit.", rows.size(), name_of(format)));
        continue;
      }
      const bool narrow = element_size(format) < Bytes(2);
      const auto wide = std::ranges::find_if(c_.gemm, [](const GemmParameters& g) {
        return g.format == "bf16" || g.format == "fp16";
      });
      if (narrow && wide == c_.gemm.end()) {
        report_.notes.push_back(
            fmt::format("Products in {} need a fit in 16 bits to share its memory and launch.",
                        name_of(format)));
        continue;
      }
      const GemmParameters shared = narrow ? *wide : GemmParameters{};
      ORRERY_TRY(GemmFit fit, fit_gemm(accelerator_, rows, narrow ? &shared : nullptr, folds()));
      fit.parameters.source = "orrery calibrate on " + tables_of(rows);
      fit.parameters.fit = record(
          fit.part, fmt::format("{}, {} {}", tables_of(rows), accelerator_.name, name_of(format)));
      const auto old = std::ranges::find(c_.gemm, name_of(format), &GemmParameters::format);
      if (old != c_.gemm.end()) {
        *old = fit.parameters;
      } else {
        c_.gemm.push_back(fit.parameters);
      }
      report_.parts.push_back(std::move(fit.part));
      has_products_ = true;
    }
    return {};
  }

  Result<void> prefill() {
    for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp8}) {
      const auto rows =
          chosen(rows_.prefill, [&](const MeasuredAttention& r) { return r.format == format; });
      if (rows.size() < 4 * kLeastRows) continue;
      ORRERY_TRY(PrefillFit fit, fit_prefill(accelerator_, c_, rows, folds()));
      fit.parameters.source = "orrery calibrate on " + tables_of(rows);
      fit.parameters.fit = record(
          fit.part, fmt::format("{}, {} {}", tables_of(rows), accelerator_.name, name_of(format)));
      std::erase_if(c_.prefill,
                    [&](const PrefillParameters& p) { return p.format == name_of(format); });
      c_.prefill.push_back(fit.parameters);
      report_.parts.push_back(std::move(fit.part));
    }
    return {};
  }

  // By kernel and mean head dimension.
  static std::map<std::pair<AttentionKernel, double>, std::vector<MeasuredAttention>> fused_kernels(
      const std::vector<MeasuredAttention>& rows) {
    std::map<std::pair<AttentionKernel, double>, std::vector<MeasuredAttention>> out;
    for (const MeasuredAttention& r : rows) {
      if (r.kernel == AttentionKernel::unfused) continue;
      out[{r.kernel, (r.shape.query_key_dim + r.shape.value_dim) / 2}].push_back(r);
    }
    return out;
  }

  Result<void> attention() {
    const auto groups = fused_kernels(rows_.attention);
    // Kernels of recorded runs only where no benchmark of the kind is among the tables.
    const auto in_runs = fused_kernels(rows_.recorded_attention);
    std::set<AttentionKernel> fitted;
    std::vector<AttentionParameters> own;
    for (const auto& [key, rows] : in_runs) {
      if (groups.contains(key) || rows.size() < kLeastRows) continue;
      ORRERY_TRY(AttentionFit fit,
                 fit_attention(accelerator_, c_, rows, Clock::sustained, folds()));
      for (AttentionParameters& a : fit.parameters) {
        a.source = "fitted on a recorded run in " + tables_of(rows);
        a.fit = record(fit.part, tables_of(rows));
        std::erase_if(c_.attention, [&](const AttentionParameters& old) {
          return old.kernel == a.kernel && old.direction == a.direction &&
                 old.head_dim == a.head_dim;
        });
        c_.attention.push_back(std::move(a));
      }
      report_.parts.push_back(std::move(fit.part));
    }
    for (const auto& [key, rows] : groups) {
      if (rows.size() < kLeastRows) continue;
      const bool figures = rows.front().implementation != "training library";
      ORRERY_TRY(AttentionFit fit,
                 fit_attention(accelerator_, c_, rows, figures ? Clock::burst : Clock::sustained,
                               folds()));
      for (AttentionParameters& a : fit.parameters) {
        a.source = tables_of(rows) +
                   a.source.substr(
                       std::min(a.source.size(), std::string("fitted on published rates").size()));
        a.fit = record(fit.part, tables_of(rows));
        own.push_back(std::move(a));
      }
      fitted.insert(key.first);
      report_.parts.push_back(std::move(fit.part));
    }
    // The engine's kernel stands in for the library's where no other was measured.
    const auto served = std::ranges::find_if(
        c_.prefill, [](const PrefillParameters& p) { return p.format == "bf16"; });
    const bool better = std::ranges::any_of(c_.attention, [](const AttentionParameters& a) {
      return a.kernel == AttentionKernel::library && !a.source.starts_with(kEngineSource);
    });
    if (!fitted.contains(AttentionKernel::library) && !better && served != c_.prefill.end()) {
      for (const PrefillPoint& p : served->points) {
        for (const Direction d : {Direction::forward, Direction::backward}) {
          AttentionParameters a;
          a.kernel = AttentionKernel::library;
          a.direction = d;
          a.head_dim = p.head_dim;
          a.peak_fraction =
              catalog_digits(p.peak_fraction * (d == Direction::backward ? kBackwardShare : 1));
          a.ramp_keys = p.ramp_keys;
          a.source = kEngineSource;
          if (d == Direction::backward) {
            a.source += fmt::format("; backward is {} of forward as for flash-2 on h100-sxm",
                                    kBackwardShare);
          }
          own.push_back(std::move(a));
        }
      }
      fitted.insert(AttentionKernel::library);
    }
    if (!own.empty()) {
      std::erase_if(c_.attention,
                    [&](const AttentionParameters& a) { return fitted.contains(a.kernel); });
      c_.attention.insert(c_.attention.end(), own.begin(), own.end());
    } else if (in_runs.empty()) {
      return {};
    }
    std::ranges::stable_sort(c_.attention,
                             [](const AttentionParameters& a, const AttentionParameters& b) {
                               return std::tuple(a.kernel, a.head_dim, a.direction) <
                                      std::tuple(b.kernel, b.head_dim, b.direction);
                             });
    return {};
  }

  Result<void> scores() {
    const auto rows = chosen(rows_.attention, [](const MeasuredAttention& r) {
      return r.kernel == AttentionKernel::unfused;
    });
    if (rows.size() < kLeastRows) return {};
    ORRERY_TRY(ScoreFit fit, fit_scores(accelerator_, c_, rows, folds()));
    c_.score_passes = fit.passes;
    c_.score_source = "fitted on unfused attention in " + tables_of(rows) + ", " + errors(fit.part);
    report_.parts.push_back(std::move(fit.part));
    return {};
  }

  Result<void> sustained() {
    // Recorded products in 32 bits say nothing of the clock under 16-bit ones.
    const auto rows = chosen(rows_.in_training, [](const MeasuredGemm& r) {
      return !is_recorded(r) || element_size(r.format) <= Bytes(2);
    });
    if (rows.size() < least_rows(rows)) {
      if (rows_.products.empty() && request_.catalog->contains("kernels", accelerator_.name)) {
        return {};
      }
      c_.sustained_fraction = 1;
      c_.sustained_source = "not measured: long repeated products taken as sustained";
      return {};
    }
    const auto single = chosen(rows, [](const MeasuredGemm& r) { return r.shape.groups <= 1; });
    ORRERY_TRY(SustainedFit fit, fit_sustained(accelerator_, c_, single, folds()));
    has_products_ = true;
    c_.sustained_fraction = fit.fraction;
    c_.sustained_source =
        "fitted on products in training sizes in " + tables_of(single) + ", " + errors(fit.part);
    report_.parts.push_back(std::move(fit.part));
    return {};
  }

  // Kernels of recorded runs against the entry as it is now: errors without a fit.
  Result<void> recorded() {
    struct Rows {
      std::vector<double> predicted, measured;
    };
    std::map<std::string, Rows> parts;
    ORRERY_TRY(KernelParameters joined, join_kernel_parameters(c_, accelerator_));
    const KernelModel model(std::move(joined));
    const auto add = [&](std::string part, Seconds predicted, Seconds measured) {
      Rows& rows = parts[std::move(part)];
      rows.predicted.push_back(predicted.value());
      rows.measured.push_back(measured.value());
    };
    for (const MeasuredGemm& r : rows_.in_training) {
      if (!is_recorded(r)) continue;
      add(fmt::format("recorded products {}", name_of(r.format)), model.gemm(r.shape, r.format),
          r.measured);
    }
    for (const MeasuredAttention& r : rows_.recorded_attention) {
      const bool forward = r.direction == MeasuredDirection::forward;
      add(fmt::format("recorded attention {}", forward ? "forward" : "backward"), predict(model, r),
          r.measured);
    }
    for (const MeasuredLayerOperation& r : rows_.layers) {
      if (!is_recorded(r)) continue;
      add(r.moved.value() >= kBeyondCache ? "recorded memory-bound above 100 MB"
                                          : "recorded memory-bound below 100 MB",
          predict(model, r), r.measured);
    }
    for (const auto& [name, rows] : parts) {
      CalibratedPart part;
      part.name = name;
      part.in_sample = fit_errors(rows.predicted, rows.measured);
      report_.parts.push_back(std::move(part));
    }
    return {};
  }

  const Accelerator& accelerator_;
  const KernelMeasurements& rows_;
  const CalibrationRequest& request_;
  std::map<std::string, KernelCalibration>& made_;  // in this run
  KernelCalibration c_;
  CalibrationReport report_;
  bool has_products_ = false;
};

Result<Calibration> calibrate_kernels(std::span<const CommaSeparated> tables,
                                      const CalibrationRequest& request) {
  KernelMeasurements all = read_kernel_measurements(tables, *request.catalog);
  Calibration out;
  out.rows = all.rows;
  out.used = all.used;
  out.problems = std::move(all.problems);
  std::set<std::string> names;
  for_each_kind([&](auto kind) {
    for (const auto& row : all.*kind) names.insert(row.accelerator);
  });
  if (!request.accelerator.empty()) {
    ORRERY_TRY(const Accelerator asked, load_accelerator(*request.catalog, request.accelerator));
    if (!names.contains(asked.name)) {
      return bad_input("no row measures " + asked.name, tables.front().name,
                       name_hint(asked.name, std::vector<std::string>(names.begin(), names.end())));
    }
    names = {asked.name};
  }
  ORRERY_TRY(const KernelDefaults defaults, load_kernel_defaults(*request.catalog));
  // Those that others take from come first.
  std::vector<std::string> order(names.begin(), names.end());
  const auto takes = [&](const std::string& name) {
    const bool products =
        std::ranges::any_of(all.products, [&](const auto& r) { return r.accelerator == name; });
    return !products || std::ranges::any_of(defaults.same_processor,
                                            [&](const auto& s) { return s.accelerator == name; });
  };
  std::ranges::stable_sort(
      order, [&](const std::string& a, const std::string& b) { return takes(a) < takes(b); });
  std::map<std::string, KernelCalibration> made;
  for (const std::string& name : order) {
    ORRERY_TRY(const Accelerator accelerator, load_accelerator(*request.catalog, name));
    KernelMeasurements own;
    for_each_kind([&](auto kind) {
      own.*kind = chosen(all.*kind, [&](const auto& row) { return row.accelerator == name; });
    });
    ORRERY_TRY(CalibrationReport report,
               AcceleratorCalibration(accelerator, own, request, made).run());
    if (report.parts.empty()) {
      report.notes.push_back("Too few rows of any kind to fit.");
      report.files.clear();
    }
    out.reports.push_back(std::move(report));
  }
  return out;
}

}  // namespace

MeasurementKind kernel_measurements() {
  return {"kernels", std::string(kKernelColumns), holds_kernel_measurements, calibrate_kernels};
}

}  // namespace orrery
