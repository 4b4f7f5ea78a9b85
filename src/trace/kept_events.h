// Leaves events out of the columns of a recorded trace.
//
// What refers to events by number (forward_to_backward) must be found afterwards. Side records of
// events that go stay in their tables, where nothing refers to them. Linear.
#pragma once

#include <vector>

#include "trace/recorded_trace.h"

namespace orrery {

// One entry of `kept` an event. The order stays.
void keep_events(RecordedTrace& trace, const std::vector<bool>& kept);

}  // namespace orrery
