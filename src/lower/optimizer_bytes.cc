#include "lower/optimizer_bytes.h"

#include "units/number_format.h"

namespace orrery {

Bytes optimizer_bytes(const Training& training, const SoftwareProfile& software, Bytes gradient) {
  const double g = gradient.value();
  const bool fused = software.optimizer == Kernels::fused;
  // The copy of the new weight; 32-bit weights are their own masters.
  const double copy = tensor_element_size(training.precision) > Bytes(2) ? 0 : fused ? 2 : 6;
  // Narrow moments are read and written by one kernel with all the rest.
  const double states = optimizer_state(training).value();
  const bool narrow = element_size(training.moments) < element_size(NumberFormat::fp32);
  const double step = fused || narrow                          ? g + 2 * states + copy
                      : training.optimizer == Optimizer::adamw ? 68 + copy + 2 * g
                                                               : 20 + copy + g;
  return Bytes(step + (software.clips_gradients ? 3 * g : 0) + (software.scales_loss ? 2 * g : 0));
}

}  // namespace orrery
