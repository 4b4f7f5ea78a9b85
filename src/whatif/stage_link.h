// What travels between the stages of a pipeline, and how long it takes.
#pragma once

#include <optional>
#include <string>

#include "catalog/catalog.h"
#include "outcome/result.h"
#include "units/quantity.h"
#include "whatif/edited_run.h"
#include "whatif/training_passes.h"

namespace orrery {

struct StageLink {
  Bytes volume;
  Seconds time;
  std::string assumed;  // a sentence
};

// Of the edit what it says, else from the recording and the catalog (whatif/pipeline_edit.h).
// Errors: what is sent, or over which link, is neither said nor known.
Result<StageLink> stage_link(const EditedRun& run, const TrainingPasses& passes, const Edit& edit,
                             const Catalog& catalog);

}  // namespace orrery
