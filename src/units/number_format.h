// Number formats of operands, and how wide they are in memory.
#pragma once

#include <algorithm>

#include "outcome/enum_names.h"
#include "units/quantity.h"

namespace orrery {

enum class NumberFormat { fp64, fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4 };
// Those of matrix products first.
inline EnumNames<NumberFormat> names_of(NumberFormat) {
  using enum NumberFormat;
  static constexpr auto kNames = std::to_array<EnumName<NumberFormat>>({{bf16, "bf16"},
                                                                        {fp16, "fp16"},
                                                                        {fp8, "fp8"},
                                                                        {mxfp8, "mxfp8"},
                                                                        {nvfp4, "nvfp4"},
                                                                        {fp32, "fp32"},
                                                                        {tf32, "tf32"},
                                                                        {fp64, "fp64"}});
  return kNames;
}

// Bytes of one element, scale factors included: mxfp8 has one shared 8-bit exponent per 32 elements
// (OCP Microscaling 1.0), nvfp4 one fp8 scale per 16 elements (NVIDIA NVFP4).
constexpr Bytes element_size(NumberFormat f) {
  switch (f) {
    case NumberFormat::fp64:
      return Bytes(8);
    case NumberFormat::fp32:
    case NumberFormat::tf32:
      return Bytes(4);
    case NumberFormat::fp16:
    case NumberFormat::bf16:
      return Bytes(2);
    case NumberFormat::fp8:
      return Bytes(1);
    case NumberFormat::mxfp8:
      return Bytes(1.0 + 1.0 / 32);
    case NumberFormat::nvfp4:
      return Bytes(0.5 + 1.0 / 16);
  }
  return Bytes(0);
}

// Bytes of one element of weights, activations and their gradients between products of this format:
// operands narrower than 16 bits are cast from 16-bit tensors; 32 and 64 bits are kept as they are.
constexpr Bytes tensor_element_size(NumberFormat product) {
  return std::max(Bytes(2), element_size(product));
}

}  // namespace orrery
