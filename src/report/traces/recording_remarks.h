// What is to be said of recorded files before anything that is computed from them: events that were
// left out, that stood twice, or that a device cannot have run so (trace/repeated_events.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trace/recorded_trace.h"

namespace orrery {

// A sentence each; none of files without fault.
std::vector<std::string> recording_remarks(std::span<const RecordedTrace> ranks);

// "Groups that no file defines are taken for all ranks: '1', '2'", without a full stop.
std::string undefined_groups_sentence(std::span<const std::string> groups);

}  // namespace orrery
