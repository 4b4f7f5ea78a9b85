// How much the operations of a recording vary, as text and as the JSON of `orrery trace spreads`.
#pragma once

#include <string>

#include "document/description.h"
#include "infer/fitted_spreads.h"
#include "report/drawing/text_style.h"

namespace orrery {

// `top`: rows of the table of operations, those of the most time.
std::string spreads_text(const FittedSpreads& spreads, std::size_t top, const TextStyle& style);
Value spreads_json(const FittedSpreads& spreads);
const Description& spreads_document();

}  // namespace orrery
