// How far a computed tensor is from a golden one, element by element.
//
//   d_i = |x_i - g_i|
//   largest, mean, spread      of d: maximum, mean, standard deviation
//   relative_rms               sqrt(sum d^2 / sum g^2)
//   largest_relative           max d / max |g|
//   ulps                       quantiles of d_i / ulp(g_i), ulp(g) = 2^(max(e, emin) - m) of a format,
//                              e the exponent of g
//
// Elements of which x or g is infinite or NaN are counted and take part in nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "numerics/float_format.h"

namespace orrery {

struct Deviation {
  double largest = 0;
  double mean = 0;
  double spread = 0;
  double relative_rms = 0;
  double largest_relative = 0;
  double ulps_median = 0;
  double ulps_p99 = 0;
  double ulps_largest = 0;
  std::int64_t not_finite = 0;
};

// Tensors of the same size.
Deviation deviation(std::span<const double> computed, std::span<const double> golden,
                    const FloatFormat& ulp_of);
// Each figure averaged, the counts added: over seeds.
Deviation mean_of(std::span<const Deviation> deviations);

// What an experiment measured: one row for each way to compute, at each value of what is swept.
struct MeasuredDeviation {
  std::string variant;
  std::string at;  // the swept value; empty: nothing is swept
  Deviation deviation;
  std::optional<double> expected = {};  // relative_rms by theory
  std::optional<double> bits_an_element = {};
};

struct DeviationStudy {
  std::string experiment;                                          // "attention"
  std::vector<std::pair<std::string, std::string>> settings = {};  // what was computed, in words
  std::string swept = {};
  FloatFormat ulp_of = kFloat32;
  std::vector<MeasuredDeviation> rows = {};
  std::vector<std::string> remarks = {};  // sentences
};

}  // namespace orrery
