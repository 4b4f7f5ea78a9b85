// Where a prediction and the recording it was inferred from differ, and why: the largest parts
// first.
//
//   idle             what the host did meanwhile (analyze/host_activity.h), how much it launched,
//   and
//                    what launching takes by the software profile
//   waiting          which rank the others waited for (analyze/communication_table.h)
//   any other part   what ran longest in it; that the model of the step has no such work
//
// A part is named if its difference is at least a tenth of all differences together, at most three.
// Nothing is fitted: the reasons are read from the recording. O(events log events).
#pragma once

#include <span>
#include <vector>

#include "infer/inferred_comparison.h"

namespace orrery {

// Nothing where nothing is predicted.
std::vector<PredictionGap> prediction_gaps(std::span<const RecordedTrace> run,
                                           const InferredComparison& comparison);

}  // namespace orrery
