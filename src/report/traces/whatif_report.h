// The answer to a what-if, and the attribution of stragglers, as text and as the JSON of
// `orrery trace whatif`.
#pragma once

#include <string>

#include "document/description.h"
#include "report/drawing/text_style.h"
#include "whatif/stragglers.h"
#include "whatif/whatif.h"

namespace orrery {

inline constexpr int kWhatIfSchemaVersion = 1;

// Whether the work from before the first step is worth a sentence.
bool leaves_earlier_work_out(const WhatIf& whatif);

std::string whatif_text(const WhatIf& whatif, const TextStyle& style);
Value whatif_json(const WhatIf& whatif);
const Description& whatif_document();

std::string stragglers_text(const Stragglers& stragglers, const TextStyle& style);
Value stragglers_json(const Stragglers& stragglers);
const Description& stragglers_document();

}  // namespace orrery
