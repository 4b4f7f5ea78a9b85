// Published measurements of kernels, and what the model says of each: the material of the fit
// (validation/kernels/fit_kernel_parameters.cc) and of its test.
//
// Files and columns: validation/kernels/README.md. Rows without a time (out of memory) are left
// out. An fp8 or nvfp4 product was timed with the quantisation of its activations, which the
// prediction therefore adds as memory-bound passes: maximum and scaling for fp8, scaling for nvfp4.
// A published fwd+bwd figure covers both kernels.
#pragma once

#include <string>
#include <vector>

#include "cost/kernel/kernel_model.h"
#include "outcome/result.h"

namespace orrery {

struct MeasuredGemm {
  std::string accelerator;
  NumberFormat format = NumberFormat::bf16;
  GemmShape shape;
  Seconds measured;
};

enum class MeasuredDirection { forward, forward_and_backward };

struct MeasuredAttention {
  std::string accelerator;
  std::string implementation;
  AttentionKernel kernel = AttentionKernel::library;
  MeasuredDirection direction = MeasuredDirection::forward;
  AttentionShape shape;
  Seconds measured;
};

struct MeasuredLayerOperation {
  std::string accelerator;
  std::string operation;
  Bytes moved;
  Seconds measured;
};

// Errors: unreadable file, a missing column, a cell that is no number.
Result<std::vector<MeasuredGemm>> read_measured_gemms(const std::string& path);
// Serving rows, all by the library kernel; 16-bit rows only, as the model computes attention there.
Result<std::vector<MeasuredAttention>> read_measured_prefill(const std::string& path);
// Rows of the kernels the model knows; bars of other implementations (xformers, Triton) left out.
Result<std::vector<MeasuredAttention>> read_published_attention(const std::string& path);
// Residual additions and gated activations; norms are left out, theirs took three times their
// bytes.
Result<std::vector<MeasuredLayerOperation>> read_measured_layer_operations(const std::string& path);

Seconds predict(const KernelModel& model, const MeasuredGemm& row);
Seconds predict(const KernelModel& model, const MeasuredAttention& row);
Seconds predict(const KernelModel& model, const MeasuredLayerOperation& row);

}  // namespace orrery
