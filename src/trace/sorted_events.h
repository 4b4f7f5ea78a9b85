// Brings the columns of a recorded trace into the order that its readers rely on.
//
// By start; longer first among equals; then by place in the file. Every importer ends with it.
// O(n log n) time where the events are not in order yet; memory of one column and one index.
#pragma once

#include "trace/recorded_trace.h"

namespace orrery {

// Permutes all columns; forward_to_backward follows.
void sort_events(RecordedTrace& trace);

}  // namespace orrery
