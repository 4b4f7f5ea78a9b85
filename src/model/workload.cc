#include "model/workload.h"

namespace orrery {

Passes passes_of(Workload workload) {
  static constexpr Passes kPasses[] = {{.backward = true, .optimizer = true},
                                       {.backward = false, .optimizer = false}};
  return kPasses[static_cast<std::size_t>(workload)];
}

}  // namespace orrery
