// Values as JSON has them: of texts and times of columns, and of values of other writers' files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace orrery {

// With quotes; what is no UTF-8 becomes '?'.
void append_quoted(std::string_view text, std::string& out);

// Nanoseconds as microseconds with three decimals.
void append_microseconds(std::int64_t ns, std::string& out);

// A value byte for byte but for bare words that are no JSON: nan, inf, 0x7f become texts. What is
// broken otherwise stays so.
void append_as_json(std::string_view values, std::string& out);

// A time in microseconds, a number or a text of one, that much later: as many decimals as it has,
// and three if the nanoseconds need them. What is no time is returned as it is.
std::string later_microseconds(std::string_view token, std::int64_t by_ns);

}  // namespace orrery
