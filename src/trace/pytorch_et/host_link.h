// Finds the recorded event of each node of the host's execution trace.
//
// An execution trace has structure and tensors, a Kineto trace has times. They are linked, in
// order of preference, by
//
//   rf_id        the node's rf_id is the event's "Record function id" (2024 and later)
//   External id  rf_id + k is the event's External id, with one k for the trace (1 to 3 before
//                2024); k is the offset under which most names agree
//   order        per thread, the same names in the same order; where the sequences differ, they
//                are aligned again at the next three names in common
//
// Only operators and annotations of the host are linked. Error: fewer than half of the nodes are
// found, so the files come from different runs.
//
// Source: chakra_trace_link of mlcommons/chakra (rf_id); the observation of both older schemes on
// validation/traces/astra-sim and HolisticTraceAnalysis. O(n log n).
#pragma once

#include <cstdint>
#include <vector>

#include "outcome/enum_names.h"
#include "outcome/result.h"
#include "trace/pytorch_et/host_trace.h"
#include "trace/recorded_trace.h"

namespace orrery {

enum class LinkMethod : std::uint8_t { record_function_id, external_id, order };
EnumNames<LinkMethod> names_of(LinkMethod);

struct HostTraceLink {
  std::vector<std::uint32_t> event;  // for each node of the execution trace; kNoEvent if none
  LinkMethod method = LinkMethod::record_function_id;
  std::size_t operators = 0;  // nodes that can have an event: all but the roots and markers
  std::size_t found = 0;
};

// Whether it is an operator or annotation of the host, as execution traces have them.
bool is_host_operator(const RecordedTrace& trace, std::size_t event);

Result<HostTraceLink> link_host(const HostTrace& host, const RecordedTrace& recorded);

}  // namespace orrery
