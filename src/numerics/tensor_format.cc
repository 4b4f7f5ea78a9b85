#include "numerics/tensor_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "numerics/rounder.h"
#include "outcome/nearest_name.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr std::size_t kMxBlock = 32;
constexpr std::size_t kNvfp4Block = 16;
constexpr std::size_t kStateBlock = 2048;
// An fp32 scale of these is 0 or infinite for numbers that they hold themselves.
constexpr int kWideExponent = 8;

// The largest magnitude; NaN if one is infinite or NaN.
float largest_of(std::span<const float> values) {
  // Of magnitudes, the order of the bits is that of the numbers, and what is none comes last.
  std::int32_t most = 0;
  for (const float x : values) {
    most =
        std::max(most, std::bit_cast<std::int32_t>(x) & std::numeric_limits<std::int32_t>::max());
  }
  const auto out = std::bit_cast<float>(most);
  return std::isinf(out) ? std::numeric_limits<float>::quiet_NaN() : out;
}

void round_scaled(std::span<float> values, const Rounder<float>& rounder, float scale,
                  const RandomDraws* draws, std::uint64_t first) {
  if (draws == nullptr) {
    for (float& x : values) x = rounder(x / scale) * scale;
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = rounder(values[i] / scale, draws->bits(0, first + i)) * scale;
  }
}

std::array<float, 256> made_dynamic_codes(bool is_signed) {
  constexpr int kExponents = 7;
  std::array<float, 256> out{};
  std::size_t n = 0;
  for (int e = 0; e < kExponents; ++e) {
    const int items = 1 << (is_signed ? e : e + 1);
    for (int i = 0; i < items; ++i) {
      // The middle of the i-th of as many equal parts of [0.1, 1].
      const double middle = 0.1 + 0.9 * (i + 0.5) / items;
      const auto code = static_cast<float>(middle * std::pow(10.0, e - (kExponents - 1)));
      out[n++] = code;
      if (is_signed) out[n++] = -code;
    }
  }
  out[n++] = 0;
  out[n++] = 1;
  std::ranges::sort(out);
  return out;
}

}  // namespace

double TensorFormat::bits_an_element() const {
  const double scale_bits = scale == ScaleRule::none                                ? 0
                            : scale == ScaleRule::fp32 || scale == ScaleRule::codes ? 32
                                                                                    : 8;
  return element.bits() + (block > 0 ? scale_bits / static_cast<double>(block) : 0);
}

std::span<const TensorFormat> tensor_formats() {
  using enum ScaleRule;
  static const std::vector<TensorFormat> kFormats = {
      {"fp32", kFloat32},
      {"tf32", kTf32},
      {"bf16", kBf16},
      {"fp16", kFp16},
      {"fp8-e4m3", kFp8E4m3},
      {"fp8-e5m2", kFp8E5m2},
      {"fp6-e3m2", kFp6E3m2},
      {"fp6-e2m3", kFp6E2m3},
      {"fp4-e2m1", kFp4E2m1},
      {"mxfp8-e4m3", kFp8E4m3, power_of_two, kMxBlock},
      {"mxfp8-e5m2", kFp8E5m2, power_of_two, kMxBlock},
      {"mxfp6-e3m2", kFp6E3m2, power_of_two, kMxBlock},
      {"mxfp6-e2m3", kFp6E2m3, power_of_two, kMxBlock},
      {"mxfp4", kFp4E2m1, power_of_two, kMxBlock},
      {"mxint8", kInt8Fraction, power_of_two, kMxBlock},
      {"nvfp4", kFp4E2m1, e4m3, kNvfp4Block},
      {"int8", kInt8, fp32, 0},
      {"dynamic8", kInt8, codes, kStateBlock, true},
      {"dynamic8-unsigned", kInt8, codes, kStateBlock, false},
  };
  return kFormats;
}

Result<TensorFormat> parse_tensor_format(std::string_view text) {
  std::string folded(text);
  std::ranges::replace(folded, '_', '-');
  const std::size_t slash = folded.find('/');
  if (slash != std::string::npos) {
    ORRERY_TRY(const FloatFormat element, parse_float_format(folded.substr(0, slash)));
    if (element.exponent_bits >= kWideExponent) {
      const std::string name = folded.substr(0, slash);
      return bad_input("numbers of " + name + " have " + std::to_string(element.exponent_bits) +
                           " exponent bits and need no scale",
                       "", "write " + name + "; scales are for formats of at most 7 exponent bits");
    }
    const std::string block = folded.substr(slash + 1);
    const auto elements =
        block == "tensor" ? std::optional<std::size_t>(0) : parsed_number<std::size_t>(block);
    if (!elements || (*elements == 0 && block != "tensor") || *elements > (1U << 30U)) {
      return bad_input("'" + block + "' is not a number of elements that share a scale", "",
                       "write " + folded.substr(0, slash) + "/128 or /tensor");
    }
    return TensorFormat{folded, element, ScaleRule::fp32, *elements};
  }
  std::vector<std::string> known;
  for (const TensorFormat& f : tensor_formats()) {
    if (f.name == folded) return f;
    known.push_back(f.name);
  }
  if (auto element = parse_float_format(folded)) return TensorFormat{folded, *element};
  return bad_input("unknown number format '" + std::string(text) + "'", "",
                   name_hint(folded, known));
}

void store(std::span<float> values, const TensorFormat& format, const RandomDraws* draws) {
  if (format.scale == ScaleRule::none) {
    if (draws == nullptr) {
      round_all(values, format.element);
    } else {
      round_stochastically(values, format.element, *draws, 0);
    }
    return;
  }
  const double largest = format.element.largest();
  const float tensor_scale =
      format.scale == ScaleRule::e4m3
          ? largest_of(values) / static_cast<float>(kFp8E4m3.largest() * largest)
          : 1;
  const Rounder<float> rounder(format.element);
  const Rounder<float> scale_rounder(kFp8E4m3);
  // emax of the MX specification; an element of MXINT8 is below 2, so that its emax is 0.
  const int largest_exponent = std::ilogb(largest);
  const std::size_t block =
      format.block > 0 ? format.block : std::max<std::size_t>(1, values.size());
  for (std::size_t i = 0; i < values.size(); i += block) {
    const std::span<float> part = values.subspan(i, std::min(block, values.size() - i));
    const float most = largest_of(part);
    if (most == 0) continue;
    float scale = 0;
    switch (format.scale) {
      case ScaleRule::power_of_two:
        scale = std::isnan(most)
                    ? most
                    : std::ldexp(1.0F, std::clamp(std::ilogb(most) - largest_exponent, -127, 127));
        break;
      case ScaleRule::e4m3:
        scale = tensor_scale * scale_rounder(most / static_cast<float>(largest) / tensor_scale);
        break;
      case ScaleRule::fp32:
        scale = most / static_cast<float>(largest);
        break;
      case ScaleRule::codes:
      case ScaleRule::none:
        scale = most;
        break;
    }
    if (std::isnan(scale)) {
      std::ranges::fill(part, scale);
    } else if (scale == 0) {
      std::ranges::fill(part, 0.0F);
    } else if (format.scale == ScaleRule::codes) {
      const std::span<const float> codes = dynamic_codes(format.signed_codes);
      for (float& x : part) x = codes[nearest_code(x / scale, codes)] * scale;
    } else {
      round_scaled(part, rounder, scale, draws, i);
    }
  }
}

std::span<const float> dynamic_codes(bool is_signed) {
  static const std::array<float, 256> kSigned = made_dynamic_codes(true);
  static const std::array<float, 256> kUnsigned = made_dynamic_codes(false);
  return is_signed ? kSigned : kUnsigned;
}

std::uint8_t nearest_code(float x, std::span<const float> codes) {
  const auto above = std::ranges::lower_bound(codes, x);
  if (above == codes.begin()) return 0;
  if (above == codes.end()) return static_cast<std::uint8_t>(codes.size() - 1);
  const auto at = static_cast<std::size_t>(above - codes.begin());
  return static_cast<std::uint8_t>(x - codes[at - 1] <= codes[at] - x ? at - 1 : at);
}

}  // namespace orrery
