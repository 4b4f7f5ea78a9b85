// One event of a Kineto file, before its values are interpreted.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "trace/kineto/event_keys.h"

namespace orrery {

// Raw JSON of the values that are read, with their quotes; empty if absent. They point into the
// piece of the file.
struct RawEvent {
  std::array<std::string_view, kEventKeys> value{};
  bool operator_details = false;
  bool communication = false;
  bool memory = false;

  std::string_view operator[](EventKey key) const { return value[static_cast<std::size_t>(key)]; }
};

// Collects the values of an event and of its arguments; false if its JSON is broken.
bool collect(simdjson::ondemand::object event, RawEvent& raw);

}  // namespace orrery
