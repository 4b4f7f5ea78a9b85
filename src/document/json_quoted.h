// Text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

// Appends the text with quotes. Control characters (outcome/printable.h) are escaped, so that they
// steer no terminal; bytes that are no UTF-8 become U+FFFD.
void append_quoted(std::string_view text, std::string& out);
std::string json_quoted(std::string_view text);

}  // namespace orrery
