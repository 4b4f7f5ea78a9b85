// Whether a text is UTF-8, as every YAML document must be. Sequences, surrogates and overlong forms
// as in RFC 3629, section 4; the NUL character is refused too, as no document needs it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace orrery {

// The offset of the first byte that begins no valid character; nothing if the text is valid. O(n).
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

}  // namespace orrery
