// Finds where a text stops being JSON, without building a tree of values.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

namespace orrery {

// The offset of the first byte that JSON (RFC 8259) does not allow, or the size of a text that ends
// too early; nothing if the text is one value in valid UTF-8 with optional white space around it.
// Only the grammar is checked: it accepts numbers of any length, repeated keys, and unpaired
// surrogates ("\ud83d"). Linear time; one byte of memory per level of nesting.
// A list or an object inside `deepest` others is a fault too.
std::optional<std::size_t> json_fault(
    std::string_view text, std::size_t deepest = std::numeric_limits<std::size_t>::max());

}  // namespace orrery
