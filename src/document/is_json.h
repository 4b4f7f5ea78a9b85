// Whether a text is JSON, without reading it into anything.
#pragma once

#include <string_view>

namespace orrery {

// One value of valid UTF-8 and nothing behind it. Integers may be longer than 64 bits, numbers not
// beyond a double; half a character ("\udc00") may stand alone. Linear; nested as deep as memory
// allows.
bool is_json(std::string_view text);

}  // namespace orrery
