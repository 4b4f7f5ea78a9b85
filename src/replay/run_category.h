// The categories of graphs that stand for recordings and for execution traces of other programs.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace orrery {

enum class RunCategory : std::uint8_t { computing, communication, transfer, copying, host, idle };
inline CategoryIndex index(RunCategory c) { return static_cast<CategoryIndex>(c); }

inline const CategoryLabels& run_categories() {
  static const CategoryLabels kLabels = std::make_shared<const std::vector<CategoryLabel>>(
      std::vector<CategoryLabel>{{"computing", CategoryClass::computing},
                                 {"communication", CategoryClass::communication},
                                 {"transfer", CategoryClass::transfer},
                                 {"copying", CategoryClass::copy},
                                 {"host", CategoryClass::host},
                                 {"idle", CategoryClass::idle}});
  return kLabels;
}

}  // namespace orrery
