// TOML 1.0 as a document: dates are texts, members of a map come in the order of their keys. A header
// of its own beside value.h, as few sources read it.
#pragma once

#include <string>
#include <string_view>

#include "document/value.h"
#include "outcome/result.h"

namespace orrery {

// `name` is only used in messages. Errors: syntax (with line), the limits of value.h.
Result<Document> parse_toml(std::string_view text, std::string name);

}  // namespace orrery
