// Which sizes of a model a scaling law says, as a document of `orrery forecast --json` and for a
// terminal.
#pragma once

#include <string>

#include "document/description.h"
#include "document/value.h"
#include "forecast/scaling_law.h"
#include "report/drawing/text_style.h"

namespace orrery {

Value sizes_json(const SizeAnswer& answer);
const Description& sizes_document();

std::string sizes_text(const SizeAnswer& answer, const TextStyle& style);

}  // namespace orrery
