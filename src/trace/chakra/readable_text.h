// A text as other readers of protobuf accept it: UTF-8, with '?' in place of each byte that begins
// no valid character.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

std::string readable_text(std::string_view text);

}  // namespace orrery
