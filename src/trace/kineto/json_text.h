// JSON tokens as plain text.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

// For a text with its quotes: its content, with escapes resolved in `buffer` if there are any (a
// lone half of a surrogate pair becomes U+FFFD). For a list: its JSON on one line. For a number or
// a word: the token. The result points into the token or into the buffer.
std::string_view plain_text(std::string_view token, std::string& buffer);

}  // namespace orrery
