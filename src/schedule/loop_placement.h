// The placement of virtual stages most schedules share: stage s on device s mod p, chunk s div p.
#pragma once

#include "schedule/schedule.h"

namespace orrery {

constexpr int loop_virtual_stage(const PipelineShape& shape, int device, int chunk) {
  return chunk * shape.devices + device;
}

}  // namespace orrery
