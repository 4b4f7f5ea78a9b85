#include "schedule/placement.h"

namespace orrery {

Pipeline placed(const PipelineShape& shape, int routes,
                int (*virtual_stage)(const PipelineShape&, int device, int chunk)) {
  Pipeline out;
  out.shape = shape;
  out.chunks_held = routes * shape.chunks;
  out.stage.reserve(static_cast<std::size_t>(shape.devices) *
                    static_cast<std::size_t>(out.chunks_held));
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

std::vector<std::uint16_t> routes_of_units(const PipelineShape& shape) {
  std::vector<std::uint16_t> out(static_cast<std::size_t>(shape.microbatches));
  for (int j = 0; j < shape.microbatches; ++j) {
    out[static_cast<std::size_t>(j)] = j % shape.devices < shape.devices / 2 ? 0 : 1;
  }
  return out;
}

std::vector<std::string> bidirectional_problems(const std::string& name,
                                                const PipelineShape& shape) {
  std::vector<std::string> out;
  if (shape.devices % 2 != 0) {
    out.push_back(name + " runs two directions over an even number of devices, not " +
                  std::to_string(shape.devices));
  }
  if (out.empty() && shape.microbatches % shape.devices != 0) {
    out.push_back(name + " passes microbatches in units of one a device: " +
                  std::to_string(shape.microbatches) + " microbatches are not a multiple of " +
                  std::to_string(shape.devices));
  }
  return out;
}

}  // namespace orrery
