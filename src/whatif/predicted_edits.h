// Edits of a predicted step that ask the cost model: its operations say what they depend on besides
// the machine (graph/operation.h), so that they can be priced again (lower/price.h).
//
//   accelerator CLUSTER   t' = t * price(operation, CLUSTER) / predicted time of the operation
//   price WHERE           t' = predicted time of the operation, of matrix products
//
// Kernels, communications and copies are priced again; stated times (waits for the host, losses
// that a simulation found) and operations without parts keep their time. On the cluster of the
// prediction nothing changes. On another the step is about the one that `orrery estimate` predicts
// there: shapes, kernels, the places of groups and the schedule stay as they were chosen for the
// first cluster, as do the losses of computing beside communication.
#pragma once

#include "whatif/edit_verb.h"
#include "whatif/edited_run.h"
#include "whatif/whatif.h"

namespace orrery {

// Errors: an unknown cluster; one on which the groups of the step do not lie as they did; nothing
// selected.
Result<void> price_on_cluster(EditedRun& run, AppliedEdit& edit, const EditContext& context);

// Errors: no matrix product is selected.
Result<void> price_as_predicted(EditedRun& run, AppliedEdit& edit, const EditContext& context);

}  // namespace orrery
