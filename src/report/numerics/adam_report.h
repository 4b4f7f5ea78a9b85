// What Adam makes of gradients, as text and as the JSON of `orrery numerics adam`.
#pragma once

#include <string>

#include "document/description.h"
#include "document/value.h"
#include "numerics/adam_statistics.h"
#include "report/drawing/text_style.h"

namespace orrery {

std::string adam_text(const AdamStudy& study, const TextStyle& style);
Value adam_json(const AdamStudy& study);
const Description& adam_document();

}  // namespace orrery
