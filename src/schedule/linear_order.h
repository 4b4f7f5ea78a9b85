// A topological order of the operations of all devices.
#pragma once

#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "schedule/pipeline.h"

namespace orrery {

struct DeviceOperation {
  std::uint32_t device = 0;
  PipelineOperation operation;
};

// Keeps the order of every device. Errors, with the operations named: a cycle of operations that
// wait for each other (deadlock); an operation that waits for one that no device runs. Time
// O(operations).
Result<std::vector<DeviceOperation>> linear_order(const Pipeline& pipeline);

// "F3 of stage 2 on device 1".
std::string to_text(const Pipeline& pipeline, const DeviceOperation& operation);
// "F", "BW", "B", "W", "FB" and so on, as the golden schedules of the literature write them.
std::string_view letters(PipelineAction action);

}  // namespace orrery
