// JSON tokens as plain text.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

// Of a text with its quotes: what it says, escapes resolved in `buffer` if there are any (a lone
// half of a surrogate pair becomes U+FFFD). Of a list: its JSON on one line. Of a number or word:
// itself. The result points into the token or into the buffer.
std::string_view plain_text(std::string_view token, std::string& buffer);

}  // namespace orrery
