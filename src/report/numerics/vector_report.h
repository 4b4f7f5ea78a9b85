// What error-bounded compression makes of embedding tables, as text and as the JSON of `orrery
// numerics vectors`.
#pragma once

#include <string>

#include "document/description.h"
#include "document/value.h"
#include "numerics/vector_codec.h"
#include "report/drawing/text_style.h"

namespace orrery {

std::string vector_text(const VectorStudy& study, const TextStyle& style);
Value vector_json(const VectorStudy& study);
const Description& vector_document();

}  // namespace orrery
