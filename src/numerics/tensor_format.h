// How a tensor is stored in few bits: an element format, and scales that elements share.
//
//   none          the elements alone                                  bf16, fp8-e4m3, ...
//   power_of_two  MX: s = 2^(floor(log2 max|x|) - emax), for each     mxfp8-e4m3, mxfp8-e5m2,
//                 block of 32; e8m0, from 2^-127 to 2^127             mxfp6-*, mxfp4, mxint8
//   e4m3          nvfp4: t = max|tensor| / (448 * 6) in fp32 and      nvfp4
//                 s = e4m3(max|block| / 6 / t), for each block of 16
//   fp32          s = max|x| / largest, for a block or the tensor     int8/tensor, fp8-e4m3/128, ...
//   codes         as fp32, of 256 logarithmically spaced codes:       dynamic8, dynamic8-unsigned
//                 the 8-bit optimizer states of arXiv 2110.02861
//
//   stored(x) = s round(x / s)
//
// Blocks follow each other in memory; the last one may be shorter. A block of zeros stays zeros. A
// block in which something is infinite or NaN has no scale: all of it becomes NaN.
//
// Sources: OCP Microscaling Formats (MX) 1.0, sections 5.2 and 6.3; NVIDIA, "Pretraining large
// language models with NVFP4" (arXiv 2509.25149), appendix B; Dettmers et al., arXiv 2110.02861,
// section 2.2 (blocks of 2,048, dynamic tree codes of 7 exponent bits). Left out: scales over two
// dimensions, rotations of the operands, searched scales.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "numerics/float_format.h"

namespace orrery {

enum class ScaleRule { none, power_of_two, e4m3, fp32, codes };

struct TensorFormat {
  std::string name;
  FloatFormat element;
  ScaleRule scale = ScaleRule::none;
  std::size_t block = 0;     // elements that share a scale; 0: the whole tensor
  bool signed_codes = true;  // of ScaleRule::codes

  // With its share of the scales. A scale of the whole tensor is not counted.
  [[nodiscard]] double bits_an_element() const;
};

// One of the names above, or the name of an element format and "/tensor" or "/N": an fp32 scale for
// the tensor or each N elements. Errors: an unknown name with the nearest one, a bad block, a scale
// for elements of 8 or more exponent bits, which reach as far as the scale does.
Result<TensorFormat> parse_tensor_format(std::string_view text);
// Those that have a name, elements alone first.
std::span<const TensorFormat> tensor_formats();

// What the tensor is after it was stored, in place. `draws` are of stochastic rounding, and not used
// with codes; nullptr: to nearest, even of two.
void store(std::span<float> values, const TensorFormat& format, const RandomDraws* draws = nullptr);

// The 256 codes of 8-bit optimizer states in ascending order, and the nearest to x in [-1, 1].
std::span<const float> dynamic_codes(bool is_signed);
std::uint8_t nearest_code(float x, std::span<const float> codes);

}  // namespace orrery
