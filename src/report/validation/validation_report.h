// The comparison with measured runs for a terminal and as a page of the documentation.
#pragma once

#include <string>

#include "report/drawing/text_style.h"
#include "validate/validation.h"

namespace orrery {

enum class RowDetail {
  skipped_only,  // the reasons of skipping, with counts
  every_row,     // each row: predicted, measured, error, what was assumed, or why it was skipped
};

// Errors by source and over all, ranking, memory verdicts, the worst rows, what was assumed and
// what was skipped.
std::string validation_text(const Validation& validation, RowDetail detail, const TextStyle& style);

// docs/validation.md: the same tables, with how to read them, behind `judgement`
// (report/validation/judgement_report.h). Deterministic.
std::string validation_markdown(const Validation& validation, const std::string& judgement = "");

}  // namespace orrery
