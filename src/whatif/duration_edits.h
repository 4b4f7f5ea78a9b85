// Edits that change how long work takes or how it is launched.
//
//   scale    t' = f t
//   set      t' = the given time
//   remove   neither work nor launch take time; what depends on it stays in its place
//   fuse     each run of selected works that follow each other on a stream: the first takes
//            f times their sum, the others and their launches are removed
//   capture  calls and operators of the host take no time, except what loads data and what waits
//            for a device: an upper bound of what launching by graphs can gain
#pragma once

#include <variant>

#include "outcome/result.h"
#include "whatif/edited_run.h"
#include "whatif/whatif.h"

namespace orrery {

void apply_scale(EditedRun& run, AppliedEdit& edit);
void apply_set(EditedRun& run, AppliedEdit& edit);
void apply_remove(EditedRun& run, AppliedEdit& edit);
void apply_fuse(EditedRun& run, AppliedEdit& edit);
// Errors: no launch is recorded.
Result<std::monostate> apply_capture(EditedRun& run, AppliedEdit& edit);

}  // namespace orrery
