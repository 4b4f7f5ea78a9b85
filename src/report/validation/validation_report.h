// The comparison with measured runs, and the judgement on held-out steps, for a terminal and as
// pages of the documentation.
#pragma once

#include <span>
#include <string>

#include "report/drawing/text_style.h"
#include "validate/claims.h"
#include "validate/judgement.h"
#include "validate/validation.h"

namespace orrery {

enum class RowDetail {
  skipped_only,  // the reasons of skipping, with counts
  every_row,     // each row: predicted, measured, error, what was assumed, or why it was skipped
};

// Errors by source and over all, ranking, memory verdicts, the worst rows, what was assumed and
// what was skipped.
std::string validation_text(const Validation& validation, RowDetail detail, const TextStyle& style);

// docs/validation.md: the same tables, with how to read them, behind `judgement`. Deterministic.
std::string validation_markdown(const Validation& validation, const std::string& judgement = "");

// Figures against their targets, errors by scheme and regime, regret, intervals.
std::string judgement_text(const Judgement& judgement, const TextStyle& style);
// The same as sections of a page. `picture`: the scatter plot's address from the page; may be
// empty.
std::string judgement_markdown(const Judgement& judgement, const std::string& picture);

// What papers claim of strategies beside predictions, as the page docs/strategies.md.
std::string claims_markdown(std::span<const JudgedClaim> claims);

}  // namespace orrery
