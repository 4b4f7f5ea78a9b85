// An image or video that is made, as text and as the JSON of `orrery generate`, predictions beside measured times; and, for
// `--by operator`, the operators of a step.
#pragma once

#include <string>

#include "document/description.h"
#include "estimate/generation.h"
#include "estimate/operator_shares.h"
#include "report/drawing/text_style.h"
#include "validate/generation_rows.h"

namespace orrery {

std::string generation_text(const Generation& generation, const TextStyle& style);
Value generation_json(const Generation& generation);
const Description& generation_document();

// Measured rows beside their predictions, and the errors of all.
std::string generation_errors_text(const GenerationErrors& errors, const TextStyle& style);
Value generation_errors_json(const GenerationErrors& errors);
const Description& generation_errors_document();

// A table of the operators, and what attention sees from layer to layer.
std::string operators_text(const OperatorShares& shares, const TextStyle& style);

}  // namespace orrery
