// The comparison of schedules as a table and as JSON.
#pragma once

#include <string>

#include "document/description.h"
#include "report/drawing/text_style.h"
#include "schedule/comparison.h"

namespace orrery {

inline constexpr int kComparisonSchemaVersion = 1;

// Fastest first, then those that do not fit, then why the others do not exist here.
std::string comparison_text(const Comparison& comparison, const TextStyle& style);
Value comparison_json(const Comparison& comparison);
const Description& comparison_document();

// Every registered schedule with what it does and where it comes from.
std::string schedule_list_text(const TextStyle& style);
Value schedule_list_json();

}  // namespace orrery
