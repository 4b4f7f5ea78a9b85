// Unquoted words of JSON, and others that some programs write: nan, inf, 0x7f.
#pragma once

#include <string_view>

namespace orrery {

// Whether `word` is a number as JSON spells them, true, false or null.
bool is_json_word(std::string_view word);

}  // namespace orrery
