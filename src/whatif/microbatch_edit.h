// Another number of microbatches in a step, each as large as a recorded one.
//
//   microbatches N to M     N: as many as a step of the recording has (whatif/training_passes.h)
//
// The pipeline of one stage with M microbatches (whatif/pipeline_edit.h): passes are repeated in
// turn, the last one last, so that only it reduces gradients; the global batch becomes M / N of the
// recorded one. M = N is the run as it was. Source: Lumos, arXiv 2504.09307, section 3.5. Cost:
// that of the pipeline.
#pragma once

#include <variant>

#include "catalog/catalog.h"
#include "outcome/result.h"
#include "whatif/edited_run.h"
#include "whatif/whatif.h"

namespace orrery {

// Errors: N are not recorded, and those of pipelines.
Result<std::monostate> apply_microbatches(EditedRun& run, AppliedEdit& edit,
                                          const Catalog& catalog);

}  // namespace orrery
