// The pipeline that a what-if asks for: the order of its schedule, and whether the recorded run can
// be turned into it.
#pragma once

#include <cstdint>

#include "outcome/result.h"
#include "schedule/pipeline.h"
#include "whatif/edited_run.h"

namespace orrery {

// Error: the run is a pipeline already.
Result<void> refuse_pipelines(const EditedRun& run, const Edit& edit);

// Errors: an unknown schedule, one that needs more than recorded passes tell, a shape it does not
// fit.
Result<Pipeline> wanted_pipeline(const Edit& edit, std::int64_t microbatches);

}  // namespace orrery
