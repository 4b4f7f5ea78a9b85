// Checks and splits small pieces of JSON that are kept as text, such as the values of an operator,
// and writes them as Python would print them, as Chakra traces do.
//
// Grammar: RFC 8259; nesting of at most kMostNested. Python's forms: True, False, None, texts in
// single quotes unless they hold one and no double quote. Linear in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

inline constexpr std::size_t kMostNested = 64;  // lists and objects in each other

// Whether it is exactly one value, nested no deeper than kMostNested, in valid UTF-8. An empty list
// inside kMostNested others is too deep as well.
bool is_shallow_json(std::string_view text);

// The items of a list, each without blanks around it; empty if `json` is no list. Of a text that is
// not JSON, those before the first that does not end.
std::vector<std::string_view> json_items(std::string_view json);
// The text of a JSON string, or nothing if `json` is not a string or has no end.
std::optional<std::string> json_string(std::string_view json);
// Nothing if `json` is not a whole number.
std::optional<std::int64_t> json_integer(std::string_view json);

// What str(json.loads(json)) gives in Python. `json` must be JSON.
std::string python_text(std::string_view json);

}  // namespace orrery
