// The specification of a recording predicted, beside what was recorded, part by part.
//
// A recording with a backward pass is a training step: the step is compared. Of one without, the
// time kernels ran is compared with the predicted forward passes, less what communications waited
// for other ranks, and less kernels of work that was launched before the recording began: a device
// that is behind its host still works on the pass before. Logits and loss are counted only where
// the recording has them.
//
// Parts: every moment of the recorded step belongs to the operator that owns it
// (compare/step_profile.h), and that to a part by its class; every predicted second to a part by
// its category (graph/category.h). Both add up to what is compared.
#pragma once

#include <array>

#include "estimate/estimate.h"
#include "infer/inferred_spec.h"

namespace orrery {

enum class StepPart : std::uint8_t {
  products,
  attention,
  memory_bound,  // norms, elementwise chains, embedding, loss
  optimizer,
  communication,  // exposed
  host,           // and bubbles: the device idles
  other,          // convolutions, copies, kernels of no known kind
};
inline constexpr std::size_t kStepParts = 7;
std::string_view name(StepPart part);

struct ComparedPart {
  Seconds predicted;
  Seconds recorded;
};

struct InferredComparison {
  InferredSpec spec;
  bool is_predicted = false;  // the specification is complete
  Estimate estimate;
  Seconds predicted;  // of a training step; of a recording without backward, of its forward passes
  Seconds recorded;   // the step; without backward, kernels less waiting and less earlier work
  Seconds recorded_step;
  Seconds earlier;  // of it, kernels launched before the recording
  std::array<ComparedPart, kStepParts> parts{};
};

// Errors: those of inferring and of estimating.
Result<InferredComparison> inferred_comparison(std::span<const RecordedTrace> run,
                                               const Catalog& catalog);

}  // namespace orrery
