// Profiles by kind of work (compare/step_work.h), in which a recorded step and a predicted one can
// be compared. Each side adds up to its step. O(lines).
#pragma once

#include "compare/step_profile.h"
#include "lower/step_category.h"

namespace orrery {

// How to treat work without a recorded launch (compare/step_work.h).
enum class Unlaunched : std::uint8_t { of_its_kind, earlier };

// The same step, its lines added up by kind.
StepProfile profile_by_work(const StepProfile& recorded,
                            Unlaunched unlaunched = Unlaunched::of_its_kind);

// A predicted step as the same lines.
StepProfile predicted_profile(const Breakdown& predicted);

// Normalization and embedding that only one side distinguishes are counted with the other kinds on
// both sides, because eager norms are chains of elementwise kernels.
void fold_untold_work(StepProfile& recorded, StepProfile& predicted);

}  // namespace orrery
