#include "trace/work_kind.h"

namespace orrery {

std::vector<WorkKind> work_kinds(const RecordedTrace& trace) {
  enum class Known : std::uint8_t { not_yet, computes, communicates };
  std::vector<Known> names(trace.texts.size(), Known::not_yet);
  std::vector<WorkKind> kinds(trace.size(), WorkKind::none);
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] == EventKind::copy) kinds[e] = WorkKind::copy;
    if (trace.kind[e] == EventKind::fill) kinds[e] = WorkKind::fill;
    if (trace.kind[e] != EventKind::kernel) continue;
    Known& known = names[trace.name[e]];
    if (known == Known::not_yet) {
      known = is_communication_kernel(trace.name_of(e)) ? Known::communicates : Known::computes;
    }
    kinds[e] = known == Known::communicates ? WorkKind::communication : WorkKind::compute;
  }
  return kinds;
}

}  // namespace orrery
