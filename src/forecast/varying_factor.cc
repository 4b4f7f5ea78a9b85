#include "forecast/varying_factor.h"

#include <numbers>

namespace orrery {

StandardForm::StandardForm(const TimeLaw& law) {
  double weights = 0;
  double mean = 0;
  const auto z_of = [](std::size_t i) { return static_cast<double>(i) / kPerUnit - kEnd; };
  for (std::size_t i = 0; i <= kCells; ++i) {
    const double z = z_of(i);
    // Phi(z) is 1 to a double from 8.3 on; the quantile needs it below 1.
    const double u = std::min(std::erfc(-z / std::numbers::sqrt2) / 2, 1 - 0x1p-53);
    values_[i] = time_at(law, u).value();
    weights += std::exp(-z * z / 2);
    mean += std::exp(-z * z / 2) * values_[i];
  }
  mean /= weights;
  double squares = 0;
  for (std::size_t i = 0; i <= kCells; ++i) {
    values_[i] -= mean;
    squares += std::exp(-z_of(i) * z_of(i) / 2) * values_[i] * values_[i];
  }
  const double deviation = std::sqrt(squares / weights);
  for (double& value : values_) value /= deviation;
}

}  // namespace orrery
