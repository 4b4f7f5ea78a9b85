// The kind of event that a Kineto category means, in all eras (kineto.h) and for all devices.
#pragma once

#include <string_view>

#include "trace/recorded_trace.h"

namespace orrery {

// Both are JSON texts with their quotes. Steps have the category of operators in era A, so they are
// recognized by their name.
EventKind kind_of(std::string_view category, std::string_view name);

}  // namespace orrery
