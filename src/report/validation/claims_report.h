// What papers claim of strategies beside predictions, as the page docs/strategies.md.
#pragma once

#include <span>
#include <string>

#include "validate/claims.h"

namespace orrery {

std::string claims_markdown(std::span<const JudgedClaim> claims);

}  // namespace orrery
