// The passes of a recorded training run: what belongs to the forward or backward pass of which
// microbatch and layer, and what runs between steps.
//
//   backward    launched by the automatic differentiation ("autograd::engine::evaluate_function"),
//               or from a thread that mostly launches for it
//   pass        launches of one kind that follow each other in a step and hold layers; a step ends
//               with the optimizer, or with the profiler's mark (ProfilerStep#N)
//   layers      what operators with their shapes repeat in a row in the forward pass
//               (trace/repeats.h); of the backward pass by the number that links each of its
//               operators to the forward one, else by what repeats as often
//
// Every node of the run's graph gets a part. A host's node belongs to the part whose first launch
// was the last before it (as replayed); device work to the part of its launch. Parts are the same
// on all ranks. Not recognised, and refused: passes whose layers differ from each other, steps that
// differ, several forward passes before the backward pass of the first (pipelines).
// O(launches log launches) beside the repeats.
#pragma once

#include <cstdint>
#include <vector>

#include "outcome/result.h"
#include "whatif/edited_run.h"

namespace orrery {

// Parts are numbered in the order in which they ran: what runs before a step, then of every
// microbatch forward and backward, each in layers + 2 pieces in the order in which they run.
class TrainingParts {
 public:
  std::size_t steps = 0;
  std::size_t microbatches = 0;
  std::size_t layers = 0;
  bool backward = false;  // there are backward passes

  [[nodiscard]] std::size_t pieces() const { return layers + 2; }
  [[nodiscard]] std::size_t of_step() const {
    return 1 + microbatches * (backward ? 2 : 1) * pieces();
  }
  [[nodiscard]] std::size_t size() const { return steps * of_step() + 1; }
  // What runs before step k; of k = steps, what runs after the last.
  [[nodiscard]] std::size_t between(std::size_t k) const { return k * of_step(); }
  [[nodiscard]] bool is_between(std::size_t part) const { return part % of_step() == 0; }
  // Piece 0 runs first: of a forward pass what precedes its layers, of a backward pass the gradient
  // of what followed them.
  [[nodiscard]] std::size_t piece(std::size_t k, std::size_t microbatch, bool is_backward,
                                  std::size_t index) const {
    const std::size_t pass = backward ? 2 * microbatch + (is_backward ? 1 : 0) : microbatch;
    return between(k) + 1 + pass * pieces() + index;
  }
  [[nodiscard]] std::size_t step_of(std::size_t part) const { return part / of_step(); }
  [[nodiscard]] std::size_t microbatch_of(std::size_t part) const {
    return pass_of(part) / (backward ? 2 : 1);
  }
  [[nodiscard]] bool is_backward(std::size_t part) const {
    return backward && !is_between(part) && pass_of(part) % 2 == 1;
  }
  // 0 before the layers, 1 ... layers, layers + 1 behind them, as the forward pass counts.
  [[nodiscard]] std::size_t depth_of(std::size_t part) const {
    const std::size_t index = (part % of_step() - 1) % pieces();
    return is_backward(part) ? pieces() - 1 - index : index;
  }

 private:
  [[nodiscard]] std::size_t pass_of(std::size_t part) const {
    return (part % of_step() - 1) / pieces();
  }
};

struct TrainingPasses {
  TrainingParts parts;
  std::vector<std::uint32_t> part_of;      // of every node of the graph
  std::vector<std::uint32_t> launched_by;  // of every work the call node, or kNoEvent
};

// Errors: no layers, or what else is missing of the above; what was found instead is said.
Result<TrainingPasses> training_passes(const EditedRun& run);

}  // namespace orrery
