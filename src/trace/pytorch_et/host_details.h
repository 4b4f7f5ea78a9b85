// What a host execution trace knows of a recorded rank that the profiler's trace does not.
//
// The profiler records shapes, types and strides only when it is asked to, the arguments of
// collectives and the process groups only since 2024; an execution trace always holds them. Linked
// nodes (host_link.h) give their events what these lack:
//
//   operators        shapes, types, strides, numbers among the inputs, sequence numbers, record
//                    function ids, as the profiler would have written them
//   communications   collective, data type, group, sizes: of record_param_comms, and of the kernels
//                    launched inside it. Before schema 1.1.0 they are taken from its inputs
//   process groups   and the size of the job, of the node "process_group:init"
//
// What the profiler recorded itself is never changed. Source: execution_trace_observer.cpp and
// util.cpp of pytorch/torch/csrc/profiler for both spellings. O(events + nodes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "outcome/result.h"
#include "trace/pytorch_et/host_link.h"
#include "trace/pytorch_et/host_trace.h"
#include "trace/recorded_trace.h"

namespace orrery {

struct LinkedHost {
  std::string file;
  std::string schema;
  LinkMethod method = LinkMethod::record_function_id;
  std::int64_t operators = 0;  // of the execution trace, that can have an event
  std::int64_t found = 0;      // of those, with their event
  // What the profiler's trace lacked.
  std::int64_t shapes = 0;          // operators
  std::int64_t communications = 0;  // operators and kernels
  std::int64_t groups = 0;
};

// Errors: as link_host.
Result<LinkedHost> add_host_details(RecordedTrace& trace, const HostTrace& host);

}  // namespace orrery
