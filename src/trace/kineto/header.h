// What stands beside the list of events in a Kineto file: who recorded, on which devices, in which
// process groups, and where times count from.
#pragma once

#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "trace/recorded_trace.h"

namespace orrery {

// Of a file that a simulation wrote: "simulated", whose times these are.
inline constexpr std::string_view kTimesKey = "orreryTimes";
inline constexpr std::string_view kSimulatedTimes = "simulated";

// Whether that key of the file is read.
bool is_header_key(std::string_view key);

// Takes what the trace keeps from one value of the file. Errors: broken JSON, a base of times that
// is none. Anything else that is not as expected counts as not recorded.
Result<void> read_header_value(std::string_view key, std::string_view json, RecordedTrace& trace);

// Of the list of ranks that share a file (rank_process.h): a trace of each, with its header and
// without events. Errors: broken JSON, ranks that are none or stand twice.
Result<std::vector<RecordedTrace>> read_header_of_ranks(std::string_view json);

// Of a list in JSON of groups, as "pg_config" has it and the node "process_group:init" of a host
// execution trace; empty if it is no list.
std::vector<ProcessGroup> process_groups(std::string_view json);

}  // namespace orrery
