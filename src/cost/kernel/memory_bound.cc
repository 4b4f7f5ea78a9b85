// Time of a kernel limited by the bytes it reads and writes.
//
//   t = t0 + bytes / (f·B)        B peak memory bandwidth, f achieved fraction, t0 floor
//
// Source: the form and its constants 0.8 and 3 us are those of ai-dynamo/aiconfigurator
// (constants-published.csv); the catalog's values are fitted on layer-ops-measured.csv.
// Not modelled: kernels whose bytes stay in the last-level cache (they are faster).
#include "cost/kernel/kernel_model.h"

namespace orrery {

Seconds KernelModel::memory_bound(Bytes moved) const {
  if (!(moved.value() > 0)) return Seconds(0);
  return parameters_.memory_floor + moved / parameters_.memory_bandwidth;
}

}  // namespace orrery
