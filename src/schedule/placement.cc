#include "schedule/placement.h"

namespace orrery {

Pipeline placed(const PipelineShape& shape, int routes,
                int (*virtual_stage)(const PipelineShape&, int device, int chunk)) {
  Pipeline out;
  out.shape = shape;
  out.chunks_held = routes * shape.chunks;
  out.stage.reserve(static_cast<std::size_t>(shape.devices * out.chunks_held));
  out.seats.resize(static_cast<std::size_t>(routes) * out.stages());
  out.order.resize(static_cast<std::size_t>(shape.devices));
  for (int d = 0; d < shape.devices; ++d) {
    for (int c = 0; c < out.chunks_held; ++c) {
      const auto s = static_cast<std::size_t>(virtual_stage(shape, d, c));
      out.stage.push_back(static_cast<std::uint32_t>(s));
      out.seats[static_cast<std::size_t>(c / shape.chunks) * out.stages() + s] = {
          static_cast<std::uint32_t>(d), static_cast<std::uint16_t>(c)};
    }
  }
  return out;
}

}  // namespace orrery
