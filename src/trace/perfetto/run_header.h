// The headers of recorded ranks as the PyTorch profiler writes them, from their columns.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/kineto/rank_process.h"
#include "trace/recorded_trace.h"

namespace orrery {

// One for each rank that will share a file. Without a recorded number, the rank is its place in the
// list.
std::vector<PlaceInFile> places_in_file(std::span<const RecordedTrace> ranks);

// Appends "deviceProperties" and "distributedInfo" as members of an object, each followed by a
// comma, as far as they are recorded.
void append_rank_header(const RecordedTrace& trace, std::string& out);

// Appends the headers of all ranks, which readers need before the events.
void append_ranks(std::span<const RecordedTrace> ranks, std::string& out);

// The profiler's "distributedInfo" with facts added that come from elsewhere: the rank in the name
// of the file, the size of the job, the process groups of an execution trace. Unchanged if there
// are none; "" if there is no object at all.
std::string completed_distributed_info(std::string_view recorded, const RecordedTrace& trace);

}  // namespace orrery
