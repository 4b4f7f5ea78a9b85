// One event of a profiler's file as text, changed where it has to be and nowhere else.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/kineto/event_keys.h"
#include "trace/kineto/rank_process.h"

namespace orrery {

// The raw values of an event's own keys, with their quotes; of a key that stands twice, the last.
// An object counts as the value of `args` alone, which is nothing else.
struct EventText {
  std::string_view text;
  std::array<std::string_view, kEventKeys> value{};

  std::string_view operator[](EventKey key) const { return value[static_cast<std::size_t>(key)]; }
};
// Of an event that is JSON.
EventText event_text(std::string_view event);

struct EventChanges {
  std::int64_t shift_ns = 0;          // later
  std::optional<PlaceInFile> shared;  // process, arrows and the process's name as shared files have
  std::optional<std::int64_t> rank;   // whose it is, for an event without a process
  std::string added_arguments;        // members of an object, in front of those that are there
};

// Appends the event: the times, process and identifier changed, arguments added. All else is byte
// for byte as it was.
void append_rewritten(const EventText& event, const EventChanges& changes, std::string& out);

}  // namespace orrery
