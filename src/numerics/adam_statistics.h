// What Adam makes of gradients, and when its update stops following them (arXiv 2304.09871).
//
//   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  r = m' / (sqrt(v') + eps)
//   m' = m / (1 - b1^t), v' = v / (1 - b2^t), t steps after the first
//
// Of the update ratio r over the components of a layer:
//
//   update_norm       sqrt(mean r^2): 0.2 to 0.3 where gradients are noise, towards 1 where they keep
//                     their sign
//   bimodality        (skewness^2 + 1) / kurtosis: 1/3 of a normal, 5/9 of a uniform distribution, 1
//                     of two points
//   cosine            of r and the gradient
//   near_one          share of components with |r| > 0.8
//   autocorrelation   of g at lags of 1, 2, 5 and 10 steps
//   eps_dominated     share of components with sqrt(v') < eps
//   variance_ratio    |m'| / |sqrt(v')|
//
// Closed forms. Independent gradients: the spread of r is sqrt((1 - b1) / (1 + b1)), 0.229 for 0.9.
// First step after a quiet phase that was k times weaker: at most (1 - b1) / sqrt(1 - b2), as k
// grows: 0.447 with b2 = 0.95, 3.16 with 0.999.
//
// Left out: weight decay, which is not part of r, clipping, and the loss itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "outcome/result.h"

namespace orrery {

struct AdamSettings {
  double b1 = 0.9;
  double b2 = 0.95;
  double eps = 0;
};

inline constexpr std::array<std::size_t, 4> kAdamLags = {1, 2, 5, 10};

struct AdamFigures {
  double update_norm = 0;
  double bimodality = 0;
  double cosine = 0;
  double near_one = 0;
  std::array<double, kAdamLags.size()> autocorrelation = {};  // 0: no gradient so long ago
  double eps_dominated = 0;
  double variance_ratio = 0;
  double gradient_rms = 0;
};

// The moments of one layer, step after step. Deterministic: sums run over components in order.
class AdamLayer {
 public:
  AdamLayer(std::size_t components, const AdamSettings& settings);
  // A step of Adam. `gradient` has as many components; what is not finite counts as 0, and is counted.
  void step(std::span<const float> gradient);
  // After the latest step; there was one.
  [[nodiscard]] AdamFigures figures() const;
  [[nodiscard]] std::int64_t not_finite() const { return not_finite_; }

 private:
  [[nodiscard]] const std::vector<float>& gradient_of(std::int64_t step) const;
  AdamSettings settings_;
  std::vector<double> m_;
  std::vector<double> v_;
  std::vector<std::vector<float>> latest_;  // the gradients of the last steps, in a ring
  std::int64_t steps_ = 0;
  std::int64_t not_finite_ = 0;
};

struct AdamRow {
  std::string layer;  // or what is simulated
  std::string at;     // step, or the value that rows differ in
  AdamFigures figures;
  std::optional<double> expected_update_norm = {};
};

struct AdamStudy {
  AdamSettings settings;
  std::vector<AdamRow> rows;
  std::vector<std::string> remarks;  // sentences: warnings first
};

// Simulated gradients of 20,000 components, and of fewer where the moments take more than 5,500 steps
// to settle (a decay above 0.9991): stationary with several lag-one correlations, of
// several sizes beside eps, and loud after a quiet phase with what each mitigation changes.
AdamStudy simulated_adam(const AdamSettings& settings, std::uint64_t seed, int threads);
// The rms of r over the steps after gradients became k times louder and kept their direction: its
// largest value, and its step from 1.
struct AdamBurst {
  double first = 0;
  double peak = 0;
  int peak_step = 0;
};
AdamBurst burst(const AdamSettings& settings, double k, std::uint64_t seed);

// A log of gradients: each tensor [steps][components] of a safetensors file is a layer. Rows are the
// last step of each layer, and the step of its largest update norm. Warns of a layer and step where
// the norm is above 3 times its running median, |cosine| below 0.02 and lag-one correlation above
// 0.5. Errors: the file's, or a tensor without two dimensions.
Result<AdamStudy> logged_adam(const std::string& file, const AdamSettings& settings);

}  // namespace orrery
