// The placements of virtual stages that schedules share, and the creation of a Pipeline from them.
//
//   loop   stage s on device s mod p, chunk s div p
//   snake  q = s div p, r = s mod p: device r if q is even, else p-1-r; both
//          stages of a turn are on one device
//   bidirectional: route 0 as above, route 1 mirrored (device d -> p-1-d); a device's chunks are
//   first those of route 0, then those of route 1
#pragma once

#include "schedule/schedule.h"

namespace orrery {

constexpr int loop_virtual_stage(const PipelineShape& shape, int device, int chunk) {
  return chunk * shape.devices + device;
}

constexpr int snake_virtual_stage(const PipelineShape& shape, int device, int chunk) {
  return chunk * shape.devices + (chunk % 2 == 0 ? device : shape.devices - 1 - device);
}

// `one_way` is the placement of route 0.
template <int (*one_way)(const PipelineShape&, int, int)>
constexpr int bidirectional_virtual_stage(const PipelineShape& shape, int device, int chunk) {
  return chunk < shape.chunks ? one_way(shape, device, chunk)
                              : one_way(shape, shape.devices - 1 - device, chunk - shape.chunks);
}

// The routes of bidirectional schedules: half of every p microbatches go down (route 0), half up.
std::vector<std::uint16_t> routes_of_units(const PipelineShape& shape);

// These routes need an even number of devices that divides the number of microbatches.
std::vector<std::string> bidirectional_problems(const std::string& name,
                                                const PipelineShape& shape);

// A pipeline with everything but its order; chunk c of a device belongs to route c div
// shape.chunks.
Pipeline placed(const PipelineShape& shape, int routes,
                int (*virtual_stage)(const PipelineShape&, int device, int chunk));

}  // namespace orrery
