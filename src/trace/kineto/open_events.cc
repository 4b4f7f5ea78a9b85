#include "trace/kineto/open_events.h"

namespace orrery {

OpenEvents::Row& OpenEvents::row(RowName process, RowName thread) {
  return rows_[{process.number, process.text, thread.number, thread.text}];
}

void OpenEvents::begin(RowName process, RowName thread, OpenEvent event) {
  Row& of = row(process, thread);
  of.open.push_back(event);
  ++of.of_name[event.name];
}

std::optional<OpenEvent> OpenEvents::end(RowName process, RowName thread, std::uint32_t name) {
  Row& of = row(process, thread);
  const bool known = name == 0 ? !of.open.empty() : of.of_name[name] > 0;
  if (!known) return std::nullopt;
  while (true) {
    const OpenEvent last = of.open.back();
    of.open.pop_back();
    --of.of_name[last.name];
    if (name == 0 || last.name == name) return last;
  }
}

}  // namespace orrery
