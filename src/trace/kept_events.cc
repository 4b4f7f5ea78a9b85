#include "trace/kept_events.h"

#include <cstddef>

namespace orrery {
namespace {

template <class T>
void keep(std::vector<T>& column, const std::vector<bool>& kept) {
  std::size_t to = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) column[to++] = column[i];
  }
  column.resize(to);
}

}  // namespace

void keep_events(RecordedTrace& trace, const std::vector<bool>& kept) {
  keep(trace.start_ns, kept);
  keep(trace.duration_ns, kept);
  keep(trace.correlation, kept);
  keep(trace.external_id, kept);
  keep(trace.name, kept);
  keep(trace.lane, kept);
  keep(trace.details, kept);
  keep(trace.communication, kept);
  keep(trace.place, kept);
  keep(trace.kind, kept);
}

}  // namespace orrery
