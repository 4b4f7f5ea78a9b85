// Writes texts, times and values of other programs' files as valid JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "document/json_quoted.h"

namespace orrery {

// Nanoseconds as microseconds with three decimals.
void append_microseconds(std::int64_t ns, std::string& out);

// A value byte for byte, except that bare words that are not JSON (nan, inf, 0x7f) become texts.
// Other faults remain.
void append_as_json(std::string_view values, std::string& out);

// Adds `by_ns` to a time in microseconds, given as a number or a text. The result has as many
// decimals as the time, or three if the nanoseconds need them. A token that is not a time is
// returned unchanged.
std::string later_microseconds(std::string_view token, std::int64_t by_ns);

}  // namespace orrery
