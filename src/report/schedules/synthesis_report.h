// How the best schedule was found, as text and as JSON.
#pragma once

#include <string>

#include "document/value.h"
#include "report/drawing/text_style.h"
#include "schedule/stated_times.h"
#include "schedule/synthesis/synthesis.h"

namespace orrery {

std::string synthesis_text(const SynthesisResult& result, const TimeUnit& unit,
                           const TextStyle& style);
Value synthesis_json(const SynthesisResult& result, const TimeUnit& unit);

}  // namespace orrery
