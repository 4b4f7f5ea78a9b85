// Text of unknown origin, made fit to be shown: names in files may hold bytes that are no UTF-8, and
// characters that a terminal obeys instead of showing them.
//
// What is written for people or programs passes here: messages (outcome/error.h), text for a
// terminal (report/drawing/text_style.h), HTML and SVG (report/drawing/html_page.h), and JSON
// (document/json_quoted.h).
//
// Source: RFC 3629, section 4 (UTF-8: shortest form, no surrogates); ECMA-48 (control functions);
// Unicode Standard Annex 9 (directional formatting).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery {

struct Decoded {
  char32_t point = 0;
  std::size_t bytes = 1;
  bool valid = false;
};
// The code point at the front of a text that is not empty.
Decoded decoded(std::string_view text);

// Whether a terminal obeys it: C0, DEL and C1, and what changes the direction of writing.
bool is_control(char32_t point);

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

// On one line: control characters and bytes that are no UTF-8 become U+FFFD; tabs and newlines
// become spaces.
std::string printable(std::string_view text);

}  // namespace orrery
