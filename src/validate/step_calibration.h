// Measured training steps as a kind of measurement that `orrery calibrate` knows.
//
// Fits training conditions (cost/step/training_conditions.h) on every complete row that can be
// estimated; with cross-validation also predicts each of them twice under conditions that have not
// seen it: five folds inside each source, in which near-duplicates (the same model, cluster and
// plan) stay together, and each source of ten rows or more left out whole. From the five folds come
// the intervals of estimates (estimate/uncertainty.h).
//
// Rows of sources that vary much from run to run weigh less: `fit_weight` of their convention
// (validation/conventions/sources.yaml).
#pragma once

#include <vector>

#include "calibrate/calibration.h"
#include "measured/measured_row.h"
#include "validate/held_out.h"
#include "validate/step_fit.h"

namespace orrery {

// The rows that a fit of steps can use. Rows with a step time that cannot be become problems.
std::vector<MeasuredStep> measured_steps(const std::vector<MeasuredRow>& rows,
                                         const Catalog& catalog, int threads,
                                         std::vector<RowProblem>& problems);

// Writes step/training.yaml and, with cross-validation, step/uncertainty.yaml and
// held-out-steps.csv.
MeasurementKind step_measurements(int threads);

}  // namespace orrery
