// Where a text stops being JSON, without reading it into anything.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace orrery {

// The first byte that no JSON text (RFC 8259) has there, or the size of one that ends too early;
// nothing if the text is one value of valid UTF-8, with space around it. Only the grammar is
// checked: numbers may be of any length, keys stand twice, and half a character ("\ud83d") alone.
// Linear, in memory of a byte a level of nesting.
std::optional<std::size_t> json_fault(std::string_view text);

}  // namespace orrery
