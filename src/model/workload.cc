#include "model/workload.h"

namespace orrery {

std::span<const EnumName<Workload>> names_of(Workload) {
  static constexpr EnumName<Workload> kNames[] = {{Workload::training, "training"},
                                                  {Workload::forward, "forward"}};
  return kNames;
}

Passes passes_of(Workload workload) {
  static constexpr Passes kPasses[] = {{.backward = true, .optimizer = true},
                                       {.backward = false, .optimizer = false}};
  return kPasses[static_cast<std::size_t>(workload)];
}

}  // namespace orrery
