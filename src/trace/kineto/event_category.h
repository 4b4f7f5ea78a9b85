// What kind of event a Kineto category means, in all eras and for all devices.
#pragma once

#include <string_view>

#include "trace/recorded_trace.h"

namespace orrery {

// Of JSON texts with their quotes. The name tells steps, which are operators in era A, from others.
EventKind kind_of(std::string_view category, std::string_view name);

}  // namespace orrery
