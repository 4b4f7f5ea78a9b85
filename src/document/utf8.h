// Is a text UTF-8, as every YAML document must be here? Sequences, surrogates and overlong forms
// as in RFC 3629, section 4; the NUL character is refused too, as nothing we read has use for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace orrery {

// The offset of the first byte that begins no valid character; nothing if all is well. O(n).
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

}  // namespace orrery
