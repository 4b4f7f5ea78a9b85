// Compares the prediction of an inferred specification with the recording, part by part.
//
// A recording with a backward pass is a training step: the step is compared. Of one without, the
// time kernels ran is compared with the predicted forward passes, less idle time and what
// communications waited for other ranks, and less kernels that were launched before the recording
// began: a device that is behind its host still runs the pass before. Logits and loss are counted
// only where the recording has them.
//
// Parts: every moment of the recorded step belongs to the operator that owns it
// (compare/step_profile.h), and that to a part by its kind of work, as every predicted second
// (compare/step_work.h). Both add up to what is compared. Waiting for other ranks is a part of its
// own if several are recorded, because a prediction assumes equal ranks; if one rank is recorded,
// it is part of the exposed communication.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "infer/inferred_spec.h"
#include "outcome/enum_names.h"

namespace orrery {

enum class StepPart : std::uint8_t {
  products,
  attention,
  memory_bound,   // norms, elementwise chains, embedding, loss
  recomputation,  // predicted only; a recording has it among the other parts
  optimizer,
  communication,  // exposed, without what is known to be waiting
  waiting,        // for other ranks
  host,           // and bubbles: the device is idle
  other,          // convolutions, copies, kernels of no known kind
};
inline constexpr std::size_t kStepParts = 9;

struct ComparedPart {
  Seconds predicted;
  Seconds recorded;
};

// The operators that a part of the recording consists of.
struct RecordedPartWork {
  StepPart part = StepPart::other;
  std::string name;    // "aten::bmm"
  std::string detail;  // shapes, or the volume of a communication
  Seconds time;        // of a step, on average
  double calls = 0;    // kernels of a step
  // By its shapes (infer/model_sizes.h); the optimizer, whose shapes are of weights, always is.
  bool of_model = true;
};

// Why a part differs (infer/prediction_gaps.h).
struct PredictionGap {
  StepPart part = StepPart::other;
  Seconds difference;    // predicted - recorded
  std::string why;       // a sentence, or several
  bool compared = true;  // false: of the recorded step, but of no part
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
  std::vector<PredictionGap> causes;   // the largest difference first; without a prediction none
  std::vector<RecordedPartWork> work;  // the longest first
  // Of the recorded step, independent of what is compared.
  Seconds step_waiting;  // for other ranks
  Seconds step_idle;
  // Of recorded products and attention, the share with the shapes of the specification.
  double model_share = 1;
  double step_launches = 0;  // kernels, copies and fills, of a rank
  Seconds launching;         // predicted: what the host needs to launch the step
};

// Errors: those of inferring and of estimating.
Result<InferredComparison> inferred_comparison(std::span<const RecordedTrace> run,
                                               const Catalog& catalog);

}  // namespace orrery
