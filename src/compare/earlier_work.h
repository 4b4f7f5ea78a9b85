// Work at the start of a recording that was launched before the recording began: a device that is
// behind its host still runs the pass before. A prediction of the recorded steps does not contain
// it.
#pragma once

#include <span>

#include "compare/step_profile.h"
#include "trace/recorded_trace.h"

namespace orrery {

// Whether no launch of the line's work is recorded: it is named after its kernel.
bool has_no_launch(const ProfileLine& line);

// Whether that is so of the unlaunched work of every rank (trace/launch_links.h). Linear.
bool unlaunched_is_earlier(std::span<const RecordedTrace> run);

}  // namespace orrery
