// What each event does on a device: kernels that compute, kernels that communicate, copies and fills.
//
// Definitions, as in validation/traces/README.md: a kernel communicates by its name
// (is_communication_kernel); every other kernel computes; copies and fills are neither. Spans that
// a profiler derives, and synchronizations, are not work. O(events), each name looked at once.
#pragma once

#include <cstdint>
#include <vector>

#include "outcome/enum_names.h"
#include "trace/recorded_trace.h"

namespace orrery {

enum class WorkKind : std::uint8_t { none, compute, communication, copy, fill };
inline constexpr std::size_t kWorkKinds = 5;

// The kind of every event; WorkKind::none if it is not device work.
std::vector<WorkKind> work_kinds(const RecordedTrace& trace);

}  // namespace orrery
