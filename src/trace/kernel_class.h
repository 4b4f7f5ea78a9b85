// What a kernel does, as far as its name and its operator tell.
//
// The operator of the framework decides where it is known (aten::mm is a matrix product whatever
// the library calls its kernel); else words of the kernel's name, as the libraries use them:
// cuBLAS, CUTLASS and hipBLASLt ("gemm", "Cijk_"), cuDNN ("convolve"), FlashAttention ("flash"),
// Triton's and PyTorch's own kernels ("elementwise", "reduce", "layer_norm").
//
// Source: the names in the traces of validation/traces; tested on all of them. Not known: what
// fused kernels of compilers hold ("triton_poi_fused_..."), which count as elementwise.
#pragma once

#include <cstdint>
#include <string_view>

#include "outcome/enum_names.h"

namespace orrery {

enum class KernelClass : std::uint8_t {
  matrix_product,
  attention,
  convolution,
  normalization,
  softmax,
  embedding,
  optimizer,
  reduction,
  elementwise,
  communication,
  copy,
  other
};
inline constexpr std::size_t kKernelClasses = 12;

// `op` is the innermost operator that launched it, empty if unknown; `outer` the outermost.
KernelClass kernel_class(std::string_view kernel, std::string_view op, std::string_view outer);

}  // namespace orrery
