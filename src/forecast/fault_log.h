// A log of the faults of a cluster, read from either of
//
//   JSON  a list of events {node_id, event_time, event_type, fault_type: {Level, Class, Desc}},
//         event_type fault_start or fault_end, times in days and ascending: the format of
//         InfiniteHBD-Trace (github.com/stepfun-ai/InfiniteHBD-Trace)
//   CSV   columns node, start, end and, if there is one, class; times in days; an empty end is a
//         fault that has not ended
//
// In JSON, an end belongs to the oldest open fault of the same node, class and description; pairing
// by other rules moves the median repair by hours. A fault without an end stays open. Rows with
// impossible times (not a number, negative, an end before its start or without one, events that do
// not ascend) are refused by their number.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

struct Fault {
  std::string node;
  std::string kind;  // "GPU", of the class
  Seconds start;     // since the start of the log
  std::optional<Seconds> end;
};

struct FaultLog {
  std::string name;
  std::vector<Fault> faults;  // by start
};

// Errors: neither format; impossible times, named by row; no faults at all.
Result<FaultLog> parse_fault_log(std::string_view text, std::string name);
// Of a file, or "-". Errors: as above; a file that cannot be read.
Result<FaultLog> read_fault_log(const std::string& path);

}  // namespace orrery
