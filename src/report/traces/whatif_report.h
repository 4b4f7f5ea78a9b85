// The answer to a what-if, and the attribution of stragglers, as text, as a page and as the JSON of
// `orrery trace whatif`.
#pragma once

#include <span>
#include <string>

#include "document/description.h"
#include "report/drawing/text_style.h"
#include "whatif/stragglers.h"
#include "whatif/whatif.h"

namespace orrery {

inline constexpr int kWhatIfSchemaVersion = 1;

std::string whatif_text(const WhatIf& whatif, const TextStyle& style);
// A page with charts. `graph` is the run before the edits; one simulation, for what its devices
// did.
std::string whatif_html(std::span<const RecordedTrace> traces, const RunGraph& graph,
                        const WhatIf& whatif);
Value whatif_json(const WhatIf& whatif);
const Description& whatif_document();

std::string stragglers_text(const Stragglers& stragglers, const TextStyle& style);
Value stragglers_json(const Stragglers& stragglers);
const Description& stragglers_document();

}  // namespace orrery
