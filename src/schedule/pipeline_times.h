// How long the operations of a pipeline take, and how much memory they need.
#pragma once

#include <cmath>
#include <vector>

#include "schedule/pipeline.h"
#include "units/picoseconds.h"

namespace orrery {

// Of one virtual stage. A fused backward may take another time than the sum of its halves, and a
// forward and backward run as one another time than the sum of both.
struct StageTimes {
  Picoseconds forward, input_gradient, weight_gradient, backward, forward_and_backward;
  Picoseconds offload, reload;  // of the activations of one microbatch
  auto operator<=>(const StageTimes&) const = default;
};

// One device's share of the vocabulary layers, and its collectives (arXiv 2411.05288): C0
// broadcast, C1 and C2 reductions of the output layer, and the reduction of the input layer.
struct VocabularyTimes {
  Picoseconds output_layer, output_layer_gradient, input_layer, input_layer_gradient;
  Picoseconds broadcast, first_barrier, second_barrier, input_reduction;
  auto operator<=>(const VocabularyTimes&) const = default;
};

// Memory of one microbatch in one virtual stage, in any unit: `forward` from its forward to its
// input gradient, then `weight_gradient` until its weight gradient.
struct StageMemory {
  double forward = 1;
  double weight_gradient = 1;
  auto operator<=>(const StageMemory&) const = default;
};

struct PipelineTimes {
  std::vector<StageTimes> stage;  // by virtual stage
  // Between neighbouring devices i and i+1 (the last: p-1 and 0): the link is occupied for
  // `transfer`, and the data arrive `latency` after that.
  std::vector<Picoseconds> transfer, latency;
  VocabularyTimes vocabulary;
  std::vector<StageMemory> memory;  // by virtual stage; empty: one unit each
  // Of each device, relative to the device for which the times are stated; empty: 1.
  std::vector<double> speed;

  auto operator<=>(const PipelineTimes&) const = default;
  // The boundary between two devices: their common one if they are neighbours, otherwise the
  // slowest of all.
  [[nodiscard]] Picoseconds transfer_between(std::size_t a, std::size_t b) const {
    return between(transfer, a, b);
  }
  [[nodiscard]] std::size_t boundary_between(std::size_t a, std::size_t b) const {
    return between_index(transfer, a, b);
  }
  [[nodiscard]] Picoseconds latency_between(std::size_t a, std::size_t b) const {
    return between(latency, a, b);
  }
  // Both together: the way between two devices, without waiting for the link.
  [[nodiscard]] Picoseconds hop(std::size_t a, std::size_t b) const {
    return transfer_between(a, b) + latency_between(a, b);
  }
  // The time on that device of an operation with the stated `time`.
  [[nodiscard]] Picoseconds on(std::size_t device, Picoseconds time) const {
    return speed.empty() ? time : Picoseconds(std::nearbyint(time.count() / speed[device]));
  }
  [[nodiscard]] StageMemory memory_of(std::size_t s) const {
    return memory.empty() ? StageMemory() : memory[s];
  }

 private:
  [[nodiscard]] static Picoseconds between(const std::vector<Picoseconds>& by_boundary,
                                           std::size_t a, std::size_t b) {
    if (a == b || by_boundary.empty()) return Picoseconds(0);
    return by_boundary[between_index(by_boundary, a, b)];
  }
  [[nodiscard]] static std::size_t between_index(const std::vector<Picoseconds>& by_boundary,
                                                 std::size_t a, std::size_t b);
};

// The same times on every virtual stage: forward, input gradient, weight gradient, and a latency
// between devices. The fused operations take the sum of their parts.
PipelineTimes equal_times(const PipelineShape& shape, Picoseconds forward,
                          Picoseconds input_gradient, Picoseconds weight_gradient,
                          Picoseconds latency = Picoseconds(0));

// The same model cut into fewer virtual stages: every `joined` that follow each other are one.
PipelineTimes joined_times(PipelineTimes times, std::size_t joined);

}  // namespace orrery
