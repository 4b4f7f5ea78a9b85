// Where a prediction and the recording it was inferred from differ, and why: the largest parts
// first.
//
//   idle, waiting    infer/idle_reasons.h
//   any other part   what ran longest in it; that the model of the step has no such work
//
// A part is named if its difference is at least a tenth of all differences together, at most three;
// of a recording without backward pass, whose host and waiting are not compared, each of these two
// besides if it is at least a tenth of the recorded step. Nothing is fitted: the reasons are read
// from the recording. O(events log events).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compare/difference.h"
#include "infer/idle_reasons.h"
#include "infer/inferred_comparison.h"

namespace orrery {

// Nothing where nothing is predicted.
std::vector<PredictionGap> prediction_gaps(std::span<const RecordedTrace> run,
                                           const InferredComparison& comparison);

// The same of idle time and waiting for a difference by kind of work (compare/step_work.h), a
// sentence or two each. Of `idle` its launches, its launching and the recorded step count.
std::vector<std::string> idle_and_waiting_notes(const Difference& by_work,
                                                std::span<const RecordedTrace> run,
                                                ComparedIdleTime idle,
                                                const ProfileOptions& steps = {});

}  // namespace orrery
