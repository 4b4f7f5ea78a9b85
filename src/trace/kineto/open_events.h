// Events that a file gives as two, where they begin ("B") and where they end ("E"), as Chrome's
// trace event format has them: those of one row nest, and stand in the order of time.
//
// An end belongs to the innermost event of its row that is open; if it says a name, to the
// innermost of that name, and what began inside of that has no end. Constant time each, and the
// logarithm of the number of rows.
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
  std::uint32_t name = 0;          // in the table
  std::uint32_t event = kNoEvent;  // of the trace; kNoEvent: it is not kept
};

class OpenEvents {
 public:
  void begin(RowName process, RowName thread, OpenEvent event);
  // What ends; `name` 0: the end says none. Empty: nothing that is open.
  std::optional<OpenEvent> end(RowName process, RowName thread, std::uint32_t name);

 private:
  struct Row {
    std::vector<OpenEvent> open;
    std::unordered_map<std::uint32_t, std::uint32_t> of_name;  // how many are open
  };
  Row& row(RowName process, RowName thread);

  std::map<std::array<std::int64_t, 4>, Row> rows_;
};

}  // namespace orrery
