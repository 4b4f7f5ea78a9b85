// The members of a Kineto file besides its list of events: the rank, its devices and process
// groups, and the moment from which times count.
#pragma once

#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "trace/recorded_trace.h"

namespace orrery {

// A file that a simulation wrote has this key with the text "simulated".
inline constexpr std::string_view kTimesKey = "orreryTimes";
inline constexpr std::string_view kSimulatedTimes = "simulated";

bool is_header_key(std::string_view key);

// Stores one value of the file in the trace, if the trace keeps it. Errors: broken JSON, an invalid
// base of times. Any other unexpected value counts as not recorded.
Result<void> read_header_value(std::string_view key, std::string_view json, RecordedTrace& trace);

// From the list of ranks that share a file (rank_process.h): a trace of each rank, with its header
// and without events. Errors: broken JSON, a rank that is invalid or listed twice.
Result<std::vector<RecordedTrace>> read_header_of_ranks(std::string_view json);

// From a JSON list of groups, as in "pg_config" and in the node "process_group:init" of a host
// execution trace; empty if `json` is not a list.
std::vector<ProcessGroup> process_groups(std::string_view json);

}  // namespace orrery
