// The streams of a rank of a training step: one that computes, one per kind of communication, one
// each for copies to and from host memory, for storage, and for copies of the model that average.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "graph/graph.h"

namespace orrery {

enum class StepStream : std::uint8_t {
  compute,
  tp,
  cp,
  ep,
  pp_forward,
  pp_backward,
  dp,
  host,
  offload,
  reload,
  storage,
  outer
};
inline constexpr std::size_t kStepStreams = 12;
// Of these the ones that operations inside a block use come first.
inline constexpr std::size_t kBlockStreams = 4;
std::string_view label(StepStream stream);

// A stream of a rank in a graph whose ranks were all added with kStepStreams streams, in order.
inline StreamIndex stream(std::uint32_t rank_class, StepStream kind) {
  return StreamIndex(rank_class * kStepStreams + static_cast<std::size_t>(kind));
}

// Adds the first `count` streams of a rank, in the order of the enumerators.
void add_streams(GraphBuilder& builder, std::uint32_t rank_class, std::size_t count);

}  // namespace orrery
