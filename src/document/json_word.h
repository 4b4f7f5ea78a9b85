// Unquoted words of JSON, and others that some programs write: nan, inf, 0x7f.
#pragma once

#include <cstddef>
#include <string_view>

namespace orrery {

// Whether `word` is a number as JSON spells them, true, false or null.
bool is_json_word(std::string_view word);

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
// How many digits follow each other from there on.
std::size_t digits_at(std::string_view text, std::size_t from);

}  // namespace orrery
