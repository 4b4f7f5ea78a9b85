// Matrix products, reductions over ranks and storage in narrow formats: how far each is from the
// golden result, beside what theory says.
//
// product    C = A B, operands stored in a TensorFormat whose blocks run along K. `group` exact
//            products are summed at once and added to an accumulator, rounded to its format after
//            each addition; every `promote` products the accumulator is added to an fp32 total
//            and starts again (0: never).
// reduction  the sum of what n ranks hold, stored in the format wherever it travels: in turn round a
//            ring; pairwise in a tree; or in two steps, where the owner of a part adds all
//            contributions in fp32 and sends the stored sum.
// storage    a tensor in few bits; and error-bounded codes, c = round(x / 2 eb), so that
//            |x - 2 eb c| <= eb, with the entropy of the codes as the bits of an element
//            (arXiv 2407.04272 section 3; a Huffman code takes at most one bit more).
//
// Expected relative_rms. Rounding x = 2^e f has the variance 4^e eps^2 / 12, eps = 2^-m; where log2 f
// is spread evenly over [0, 1), that is on average h E[x^2], h = eps^2 / 12 * 3 / (8 ln 2) =
// 0.0451 eps^2. Where the terms are independent with mean zero, the partial sum of k of them has the
// k-fold variance, so that
//
//   accumulation over s additions     sqrt(h (s + 1) / 2)
//   ring of n                         sqrt(h (1 + (n + 1) / 2 - 1 / n))      1: contributions
//   tree of n                         sqrt(h (1 + ceil(log2 n)))
//   two steps                         sqrt(2 h)
//   operands                          sqrt(2 h)
//
// Holds for formats without shared scales, unless numbers become subnormal or saturate; sums of
// products with few bits may be exact and then deviate less.
// Left out: the order in which hardware sums a group, and its alignment of the addends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "numerics/deviation.h"
#include "numerics/tensor_format.h"
#include "outcome/enum_names.h"

namespace orrery {

// Of the elements of drawn tensors: normal, of variance 1; uniform in [-1, 1]; or normal with one
// channel in 64 that is 30 times as large, as activations have them.
enum class Distribution { normal, uniform, outliers };

// [rows][columns]; channels are the columns.
std::vector<float> drawn_tensor(Distribution distribution, std::size_t rows, std::size_t columns,
                                std::uint64_t seed, std::uint64_t run);

// Relative variance of a rounding: 0.0451 eps^2.
double rounding_variance(const FloatFormat& format);

struct Accumulation {
  FloatFormat format = kFloat32;
  std::size_t group = 1;
  std::size_t promote = 0;
};
// C[i][j] = sum over k of a[i][k] b[j][k]; both operands have their rows along K.
std::vector<double> product(std::span<const float> a, std::span<const float> b, std::size_t k,
                            const Accumulation& accumulation, int threads);

struct ProductQuestion {
  std::size_t rows = 64;
  std::size_t columns = 64;
  std::size_t inner = 4096;  // K
  TensorFormat format;
  Accumulation accumulation;
  Distribution distribution = Distribution::normal;
  std::uint64_t seed = 1;
  int seeds = 3;
};
// `sweep`: format, k, accumulator, group or promote. Errors: another axis, a bad value,
// more memory or work than study_size.h allows.
Result<DeviationStudy> product_study(const ProductQuestion& question, std::string_view sweep,
                                     int threads);

enum class ReductionOrder { ring, tree, two_steps };
template <>
inline constexpr char kWordSeparator<ReductionOrder> = '-';  // "two-steps"

// The sum of contributions of equal size, one for each rank.
std::vector<float> reduced(const std::vector<std::vector<float>>& contributions,
                           const TensorFormat& format, ReductionOrder order,
                           const RandomDraws* draws);

struct ReductionQuestion {
  std::size_t ranks = 64;
  std::size_t elements = 16384;
  TensorFormat format;
  Rounding rounding = Rounding::nearest_even;
  Distribution distribution = Distribution::normal;
  std::uint64_t seed = 1;
  int seeds = 3;
};
// `sweep`: format or ranks. Errors: as product_study.
Result<DeviationStudy> reduction_study(const ReductionQuestion& question, std::string_view sweep,
                                       int threads);

// Every format, or those given, for a tensor; `bounds` are error bounds as shares of its largest
// magnitude.
DeviationStudy storage_study(std::span<const float> tensor, std::span<const TensorFormat> formats,
                             std::span<const double> bounds);

// Adam's two moments kept in 8-bit codes between steps, beside moments in fp32, after some steps:
// independent gradients, b1 = 0.9, b2 = 0.999. The share of codes that are at most one off is in the
// remarks. Errors: more memory or work than study_size.h allows.
Result<DeviationStudy> optimizer_state_study(std::size_t elements, int steps, std::uint64_t seed);

}  // namespace orrery
