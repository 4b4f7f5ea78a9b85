// The judgement on held-out steps for a terminal and for docs/validation.md.
#pragma once

#include <string>

#include "report/drawing/text_style.h"
#include "validate/judgement.h"

namespace orrery {

// Figures against their targets, errors by scheme and regime, regret, intervals.
std::string judgement_text(const Judgement& judgement, const TextStyle& style);

// The same as sections of a page. `picture`: the scatter plot's address from the page; may be
// empty.
std::string judgement_markdown(const Judgement& judgement, const std::string& picture);

}  // namespace orrery
