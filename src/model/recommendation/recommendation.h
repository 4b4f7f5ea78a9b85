// Recommendation models as a family: embedding tables that ranks share, MLPs that they replicate.
//
// The world is the data-parallel axis of the MLPs. Tables are divided over the same ranks, as
// experts are: over `ep` of them, so that with fewer than all there are groups that hold the same
// tables (two dimensional sharding). A sequence is one sample, 1 token long.
#pragma once

#include "model/family.h"
#include "model/recommendation/recommender.h"
#include "outcome/result.h"

namespace orrery {

const ModelFamily& recommendation_models();

// Errors: every number out of range and every contradiction, at once.
Result<Model> build_model(const Recommender& recommender);

// The numbers a recommendation model was built from; nullptr for a model of another family.
const Recommender* recommender_of(const Model& model);

}  // namespace orrery
