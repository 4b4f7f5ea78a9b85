// Adds to a recorded rank what only its host execution trace contains.
//
// The profiler records shapes, types and strides only on request, and the arguments of collectives
// and process groups only since 2024; an execution trace always contains them. Linked nodes
// (host_link.h) add these to their events if they lack them:
//
//   operators        shapes, types, strides, numbers among the inputs, sequence numbers, record
//                    function ids, as the profiler would have written them
//   communications   collective, data type, group, sizes: of record_param_comms, and of the kernels
//                    launched inside it. Before schema 1.1.0 they are taken from its inputs
//   process groups   and the size of the job, from the node "process_group:init"
//
// What the profiler recorded itself is never changed. Source: execution_trace_observer.cpp and
// util.cpp of pytorch/torch/csrc/profiler for both spellings. O(events + nodes).
#pragma once

#include <cstdint>
#include <string>

#include "outcome/result.h"
#include "trace/pytorch_et/host_link.h"
#include "trace/pytorch_et/host_trace.h"
#include "trace/recorded_trace.h"

namespace orrery {

struct LinkedHost {
  std::string file;
  std::string schema;
  LinkMethod method = LinkMethod::record_function_id;
  std::int64_t operators = 0;  // of the execution trace that can have an event
  std::int64_t found = 0;      // of those, linked to an event
  // What was added, because the profiler's trace lacked it.
  std::int64_t shapes = 0;          // of operators
  std::int64_t communications = 0;  // operators and kernels
  std::int64_t groups = 0;
};

// Errors: those of link_host.
Result<LinkedHost> add_host_details(RecordedTrace& trace, const HostTrace& host);

}  // namespace orrery
