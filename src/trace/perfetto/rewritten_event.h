// One event of a profiler's file as text, with only the necessary changes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/kineto/event_keys.h"
#include "trace/kineto/rank_process.h"

namespace orrery {

// The raw values of an event's own keys, with their quotes. If a key occurs twice, the last one
// counts. Only `args` may be an object, and it may be nothing else.
struct EventText {
  std::string_view text;
  std::array<std::string_view, kEventKeys> value{};

  std::string_view operator[](EventKey key) const { return value[static_cast<std::size_t>(key)]; }
};
// `event` must be JSON.
EventText event_text(std::string_view event);

struct EventChanges {
  std::int64_t shift_ns = 0;          // added to times
  std::optional<PlaceInFile> shared;  // process, its name and arrows are written as in shared files
  std::optional<std::int64_t> rank;   // of an event without a process
  std::string added_arguments;        // members of an object, written before the existing ones
};

// Appends the event with times, process and identifier changed and arguments added. Everything else
// is copied byte for byte.
void append_rewritten(const EventText& event, const EventChanges& changes, std::string& out);

}  // namespace orrery
