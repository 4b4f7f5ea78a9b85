// Published measurements of kernels and the model's prediction of each, for the fits in this folder
// and their tests.
//
// Files and columns: validation/kernels/README.md. Rows without a time (out of memory) are left
// out. Kernels that were timed together with the intended one (quantisation of the inputs of a
// narrow product, rotation and split before attention) are predicted by the TimedBeside of the fit.
// A published fwd+bwd figure covers both kernels.
#pragma once

#include <string>
#include <vector>

#include "calibrate/calibration.h"
#include "cost/kernel/kernel_model.h"
#include "outcome/result.h"

namespace orrery {

struct MeasuredGemm {
  std::string accelerator;
  NumberFormat format = NumberFormat::bf16;
  GemmShape shape;
  Seconds measured;
  std::string table = {};  // a file's name
  bool recorded = false;   // in a run; otherwise by a benchmark
};

enum class MeasuredDirection { forward, forward_and_backward, backward };

struct MeasuredAttention {
  std::string accelerator;
  std::string implementation;
  AttentionKernel kernel = AttentionKernel::library;
  MeasuredDirection direction = MeasuredDirection::forward;
  NumberFormat format = NumberFormat::bf16;
  AttentionShape shape;
  Seconds measured;
  std::string table = {};
  bool recorded = false;
};

struct MeasuredLayerOperation {
  std::string accelerator;
  std::string operation;
  Bytes moved;
  Seconds measured;
  double kernels = 1;  // launched one after the other
  std::string table = {};
  bool recorded = false;
};

// Everything that was read from tables of kernel measurements.
struct KernelMeasurements {
  std::vector<MeasuredGemm> products;        // repeated alone, short
  std::vector<MeasuredGemm> in_training;     // layouts and sizes of a training step
  std::vector<MeasuredAttention> prefill;    // by an inference engine
  std::vector<MeasuredAttention> attention;  // of training, by kernel
  std::vector<MeasuredLayerOperation> layers;
  std::vector<MeasuredAttention> recorded_attention;  // in a recorded run
  std::vector<RowProblem> problems;
  std::size_t rows = 0;
  std::size_t used = 0;
};

// By its columns: products (m, n, k, latency_us), prefill (seq_len, num_heads, latency_us),
// published attention (implementation, tflops), layer operations (op, median_latency_us), training
// operators (op, shape, efficiency). Those that `orrery trace kernels` writes have a column
// `calls`: products (m, n, k, groups), attention (direction, causal, queries, keys), memory-bound
// operators (op, bytes, kernels).
bool holds_kernel_measurements(const CommaSeparated& table);
inline constexpr std::string_view kKernelColumns =
    "accelerator and (dtype, m, n, k, latency_us | dtype, batch, seq_len, num_heads, num_kv_heads, "
    "head_dim, latency_us | direction, implementation, head_dim, seq_len, causal, tflops | hidden, "
    "ffn, tp, num_tokens, op, median_latency_us | op, shape, efficiency, peak_tflops | calls and a "
    "table of `orrery trace kernels`)";

// Rows that cannot be used are listed in `problems`, including those of an accelerator that is not
// in the catalog. Equal measurements of one library are duplicates.
KernelMeasurements read_kernel_measurements(std::span<const CommaSeparated> tables,
                                            const Catalog& catalog);
// The same from files. Errors: those of reading and of parse_comma_separated.
Result<KernelMeasurements> read_kernel_measurements(const std::vector<std::string>& paths,
                                                    const Catalog& catalog);

// A micro-benchmark cycles through copies of its weights, which may fit into the cache together.
inline constexpr double kRotatedCopies = 6;
// Marks the operands that stay in a cache of this size while a product is repeated.
GemmShape repeated(GemmShape shape, NumberFormat format, Bytes cache);

// Time of the kernels timed together with a kernel: `bytes` read and written, `depth` the length of
// a row.
Seconds time_of(const TimedBeside& beside, Bytes bytes, double depth, BytesPerSecond bandwidth);
// Bytes that the quantisation of the inputs of a product reads and writes.
Bytes quantised_bytes(const MeasuredGemm& row);
// Bytes of queries, keys and values read and written before prefill attention.
Bytes prepared_bytes(const MeasuredAttention& row);

// A product that runs for long heats the processor and loses rate.
Seconds heated(Seconds time, const GemmParameters& parameters, Seconds ideal);

// Predictions at burst clocks, with heating, cache and kernels timed together as in the
// calibration.
Seconds predict(const KernelModel& model, const GemmParameters& parameters, Bytes cache,
                const MeasuredGemm& row);
Seconds predict(const KernelModel& model, const MeasuredAttention& row);
Seconds predict(const KernelModel& model, const MeasuredLayerOperation& row);

}  // namespace orrery
