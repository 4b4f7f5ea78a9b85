// Words of JSON without quotes. Writers have others too: nan, inf, 0x7f.
#pragma once

#include <string_view>

namespace orrery {

// Whether `word` is a number as JSON spells them, true, false or null.
bool is_json_word(std::string_view word);

}  // namespace orrery
