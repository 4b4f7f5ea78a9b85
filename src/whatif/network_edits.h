// The part of a communication that is assumed to be latency (network_edits.cc).
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace orrery {

class EditedRun;

// By collective and group.
std::map<std::string, std::int64_t> assumed_latencies_ns(const EditedRun& run);

}  // namespace orrery
