// More or fewer layers: what repeats N times in a row does so M times.
//
// The kernels that one thread launches are a sequence of (kernel, shapes); stretches that hold
// exactly N copies of a period (trace/repeats.h) are what the edit means: forward and backward of
// each microbatch of each step on their own. Fewer: the last copies and what the host did for them
// take no time. More: the last copy is inserted again behind itself, with its host work, launches,
// communications, and its dependencies as they were on the copy before, so that the pattern goes on
// (Lumos, arXiv 2504.09307, section 3.5).
//
// Assumed: every further copy takes the mean of the recorded ones, work by work, and their mean on
// the host. Not modelled: the optimizer and reductions of gradients, which grow with the layers as
// well; what pipelines send between stages.
#pragma once

#include <variant>

#include "outcome/result.h"
#include "whatif/edited_run.h"
#include "whatif/whatif.h"

namespace orrery {

inline constexpr std::size_t kMostCopiedNodes = 20'000'000;

// Errors: nothing repeats that often (what does is named), too many copies.
Result<std::monostate> apply_repeat(EditedRun& run, AppliedEdit& edit);

}  // namespace orrery
