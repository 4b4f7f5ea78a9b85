#include "trace/kept_events.h"

#include <cstddef>

namespace orrery {

void keep_events(RecordedTrace& trace, const std::vector<bool>& kept) {
  trace.for_each_column([&](auto& column) {
    std::size_t to = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i]) column[to++] = column[i];
    }
    column.resize(to);
  });
}

}  // namespace orrery
