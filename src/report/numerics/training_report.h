// How far numeric changes move the weights of a small transformer, as text and as the JSON of
// `orrery numerics train`.
#pragma once

#include <string>

#include "document/description.h"
#include "document/value.h"
#include "numerics/small_transformer.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"

namespace orrery {

// At a quarter, at half and at the end of the training.
Table training_table(const TrainingStudy& study);
std::string training_text(const TrainingStudy& study, const TextStyle& style);
Value training_json(const TrainingStudy& study);
const Description& training_document();

}  // namespace orrery
