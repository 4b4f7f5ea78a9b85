// The headers of recorded ranks as the PyTorch profiler writes them, from what was read of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/kineto/rank_process.h"
#include "trace/recorded_trace.h"

namespace orrery {

// Of each rank that is to share a file; a rank that is not recorded is its place in the list.
std::vector<PlaceInFile> places_in_file(std::span<const RecordedTrace> ranks);

// Appends "deviceProperties" and "distributedInfo" as members of an object, each with a comma
// behind it; nothing of what is not recorded.
void append_rank_header(const RecordedTrace& trace, std::string& out);

// The headers of all ranks, before the events, as their readers need it.
void append_ranks(std::span<const RecordedTrace> ranks, std::string& out);

// What is known of the rank, the size of the job and its process groups, but was not in the
// profiler's own "distributedInfo": the rank of a file's name, the groups of an execution trace.
// The object with it, or as it was; "" for none.
std::string completed_distributed_info(std::string_view recorded, const RecordedTrace& trace);

}  // namespace orrery
