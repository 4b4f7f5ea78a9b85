// The parameters of the kernel model for one accelerator: peaks from its data sheet, and a few
// physical parameters that say which share of them kernels reach.
//
// A KernelCalibration is one file of catalog/kernels: fractions and fixed times fitted on
// measurements of one accelerator, with their source and the error of the fit. KernelParameters
// joins it with the peaks of an accelerator: the same one, or one that was not measured and uses
// the fractions of its nearest relative, which `assumed` then states.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/accelerator.h"
#include "document/fields.h"
#include "graph/kernel_shape.h"
#include "units/number_format.h"
#include "units/quantity.h"

namespace orrery {

inline constexpr std::size_t kNumberFormats = 8;

// A kernel that a benchmark timed together with the intended one: the quantisation of the inputs of
// a narrow product, the split and rotation of queries and keys before attention. It is counted
// separately, so that the fit of the intended kernel does not contain it:
//
//   t = floor + passes·bytes/bandwidth + per_depth·k
struct TimedBeside {
  std::string what;
  Seconds floor;
  double passes = 0;  // over the bytes it reads and writes
  Seconds per_depth;  // of a serial pass along each row, per element
  bool operator==(const TimedBeside&) const = default;
};

// The data of a fit and its errors, which are |predicted / measured - 1|.
struct FitRecord {
  std::string data;  // file of validation/kernels, with the rows taken
  std::string date;  // of the fit, YYYY-MM-DD
  double rows = 0;
  double median_error = 0;
  double p90_error = 0;
  double held_out_median_error = 0;  // of rows whose shape was not fitted; 0: not cross-validated
  double held_out_p90_error = 0;
  bool operator==(const FitRecord&) const = default;
};

// Matrix products in one number format. Equations in gemm.cc.
struct GemmParameters {
  std::string format;          // as in the peaks of an accelerator: bf16, fp8, nvfp4
  double peak_fraction = 0;    // share of peak FLOP/s in the main loop of the largest tile, (0, 1]
  double tile_half_size = 0;   // w0 of the main loop's rate 1 / (1 + (w0/w)²), w tile width
  double wave_rounding = 0;    // how much of the idle part of the last wave is really idle, [0, 1]
  double ramp_depth = 0;       // pipeline fill and epilogue of one tile, in elements of k
  double memory_fraction = 0;  // share of peak memory bandwidth while streaming operands, (0, 1]
  Seconds floor;               // of any launch: launch latency and grid ramp
  double unit_bandwidth = 4;   // of one processor, in shares of achieved bandwidth / processors
  Seconds split_latency;       // of adding up the parts of a product split along k
  double cache_speed = 1;      // bandwidth of the last-level cache over that of memory
  double heating_loss = 0;     // share of the rate a product loses once it runs for long
  Seconds heating_time;        // product for which half of that is lost
  std::string source;
  std::optional<TimedBeside> beside;
  FitRecord fit;
  bool operator==(const GemmParameters&) const = default;
};

// One attention kernel, direction and head dimension. Equations in attention.cc.
struct AttentionParameters {
  AttentionKernel kernel = AttentionKernel::library;
  Direction direction = Direction::forward;
  double head_dim = 0;       // mean of query-key and value dimension; interpolated between entries
  double peak_fraction = 0;  // share of peak FLOP/s on executed FLOPs of long sequences, (0, 1]
  double ramp_keys = 0;  // prologue and epilogue of a query block, in keys it could have visited
  std::string source;
  std::optional<FitRecord> fit;
  bool operator==(const AttentionParameters&) const = default;
};

// Attention as an inference engine runs it on whole prompts, in one number format. It is fitted in
// addition to the training kernels because many of its shapes were measured.
struct PrefillPoint {
  double head_dim = 0, peak_fraction = 0, ramp_keys = 0;  // as in AttentionParameters
  bool operator==(const PrefillPoint&) const = default;
};
struct PrefillParameters {
  std::string format;
  TimedBeside beside;
  std::vector<PrefillPoint> points;  // by head dimension
  std::string source;
  FitRecord fit;
  bool operator==(const PrefillParameters&) const = default;
};

// A file of catalog/kernels.
struct KernelCalibration {
  std::string accelerator;
  // Share of the FLOP/s of long products repeated alone (after heating_loss) that remains under the
  // power cap of a training run, (0, 1].
  double sustained_fraction = 1;
  std::string sustained_source;
  double memory_fraction = 0;  // of peak memory bandwidth, element-wise and reduction kernels
  Seconds memory_floor;        // of such a kernel
  std::string memory_source;
  double score_passes = 0;  // unfused attention: reads plus writes of the score matrix, forward
  std::string score_source;
  double unaligned_fraction = 1;  // rate of a product of unaligned heads over that of aligned ones
  std::string unaligned_source;
  std::vector<GemmParameters> gemm;
  std::vector<AttentionParameters> attention;
  std::vector<PrefillParameters> prefill;
};

// One format as the model uses it.
struct FormatParameters {
  FlopsPerSecond ceiling;  // peak x achieved fraction, hot, x sustained fraction; at most peak
  FlopsPerSecond burst;    // peak x achieved fraction
  FlopsPerSecond peak;
  BytesPerSecond bandwidth;  // achieved
  double tile_half_size = 0;
  double wave_rounding = 1;
  double ramp_depth = 0;
  Seconds floor;
  BytesPerSecond unit_bandwidth;  // of one processor
  Seconds split_latency;
  double cache_speed = 1;
  bool native = false;  // false: the units of another format are used, see `assumed`
};

// Achieved fraction of one attention kernel in one direction, as a function of the head dimension.
struct AttentionCurve {
  struct Point {
    double head_dim = 0, peak_fraction = 0, ramp_keys = 0;
  };
  static constexpr std::size_t kMaxPoints = 4;
  std::array<Point, kMaxPoints> points{};  // by rising head_dim
  std::size_t size = 0;

  // Linear between points, constant outside them.
  [[nodiscard]] Point at(double head_dim) const;
};

// A sentence about a default that was used, and the kernels that it concerns.
struct KernelAssumption {
  std::string text;
  std::optional<NumberFormat> format;        // only products in this format
  std::optional<AttentionKernel> attention;  // only this attention kernel
  [[nodiscard]] bool concerns(NumberFormat used, AttentionKernel kernel) const {
    return format.value_or(used) == used && attention.value_or(kernel) == kernel;
  }
};

struct KernelParameters {
  std::string accelerator;
  double compute_units = 1;
  BytesPerSecond memory_peak;
  BytesPerSecond memory_bandwidth;  // achieved by memory-bound kernels
  Seconds memory_floor;
  double sustained_fraction = 1;  // of attention's FLOP/s: heat and power cap of 16-bit products
  double score_passes = 0;
  double unaligned_fraction = 1;
  std::array<FormatParameters, kNumberFormats> formats{};    // by NumberFormat
  std::array<std::array<AttentionCurve, 2>, 5> attention{};  // by AttentionKernel, Direction
  std::vector<KernelAssumption> assumed;                     // defaults that were used

  [[nodiscard]] const FormatParameters& format(NumberFormat f) const {
    return formats[static_cast<std::size_t>(f)];
  }
  [[nodiscard]] const AttentionCurve& curve(AttentionKernel kernel, Direction direction) const {
    return attention[static_cast<std::size_t>(kernel)][static_cast<std::size_t>(direction)];
  }
};

Fields<FitRecord> fields_of(const FitRecord*);
Fields<TimedBeside> fields_of(const TimedBeside*);
Fields<GemmParameters> fields_of(const GemmParameters*);
Fields<AttentionParameters> fields_of(const AttentionParameters*);
Fields<PrefillPoint> fields_of(const PrefillPoint*);
Fields<PrefillParameters> fields_of(const PrefillParameters*);
Fields<KernelCalibration> fields_of(const KernelCalibration*);

std::string_view name_of(NumberFormat format);

// Checks ranges. Error: which field of which entry, with its value and range.
Result<KernelCalibration> read_kernel_calibration(const Document& document);

// The accelerator of catalog/kernels whose fractions are used for one without measured kernels: the
// one listed for its architecture, otherwise the last line of its vendor ("*").
struct KernelRelative {
  std::string architecture;  // "volta"; "*" for every other
  std::string like;          // a file of catalog/kernels
  std::string reason;
  bool operator==(const KernelRelative&) const = default;
};
// Two accelerators with the same processor and different memory. Attention is limited by the
// processor, so measurements on one are used for the other.
struct SameProcessor {
  std::string accelerator;
  std::string as;
  std::string reason;
  bool operator==(const SameProcessor&) const = default;
};
struct KernelDefaults {
  std::vector<KernelRelative> relatives;
  std::vector<SameProcessor> same_processor;
};
Fields<SameProcessor> fields_of(const SameProcessor*);
Fields<KernelRelative> fields_of(const KernelRelative*);
Fields<KernelDefaults> fields_of(const KernelDefaults*);

// Joins both. A format that the calibration lacks uses the fractions of the nearest format; one
// that the accelerator lacks runs at the rate of its nearest wider format; `assumed` states both.
// If the calibration belongs to another accelerator, the sustained fraction is chosen to give the
// accelerator's achieved rate in that format, otherwise in bf16, if its catalog entry states one.
// Errors: a calibration without gemm or attention entries; an accelerator without any peak.
Result<KernelParameters> join_kernel_parameters(const KernelCalibration& calibration,
                                                const Accelerator& accelerator);

Result<KernelDefaults> load_kernel_defaults(const Catalog& catalog);
// The relative whose calibration is used for an accelerator without its own. Error: there is none.
Result<KernelRelative> relative_of(const Catalog& catalog, const Accelerator& accelerator);

// The accelerator joined with its calibration in catalog/kernels, or with that of its relative
// according to catalog/kernels/default.yaml. Errors: those of reading and joining.
Result<KernelParameters> load_kernel_parameters(const Catalog& catalog,
                                                const Accelerator& accelerator);

// The same accelerator, cold and at burst clocks, as in short micro-benchmarks.
KernelParameters without_power_cap(KernelParameters parameters);

}  // namespace orrery
