// Events that Chrome's trace event format describes by two entries, a beginning ("B") and an end
// ("E"). Those of one row are nested and in the order of time.
//
// An end belongs to the innermost open event of its row or, if it states a name, to the innermost
// one of that name; events that began inside that one then have no end. Each operation takes time
// logarithmic in the number of rows.
//
// Source: Trace Event Format, "Duration Events".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/kineto/lanes.h"

namespace orrery {

struct OpenEvent {
  std::uint32_t name = 0;          // index in the table
  std::uint32_t event = kNoEvent;  // index in the trace; kNoEvent: the event is not kept
};

class OpenEvents {
 public:
  void begin(RowName process, RowName thread, OpenEvent event);
  // The event that ends; nothing if none is open. `name` 0: the end states no name.
  std::optional<OpenEvent> end(RowName process, RowName thread, std::uint32_t name);

 private:
  struct Row {
    std::vector<OpenEvent> open;
    std::unordered_map<std::uint32_t, std::uint32_t> of_name;  // number of open events
  };
  Row& row(RowName process, RowName thread);

  std::map<std::array<std::int64_t, 4>, Row> rows_;
};

}  // namespace orrery
