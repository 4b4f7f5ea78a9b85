// Lists and ranges of values in one text, as the axes of a comparison are written.
//
//   128,256,512                a list
//   128..1024*2                128, 256, 512, 1024: each twice the one before
//   8..32+8                    8, 16, 24, 32: each 8 more than the one before
//   h100-sxm:64..256*2         a range at the end of a word; so is network=1x..4x*2
//   4k..32k*2, 1k..4k+1k       both ends, and a step that is added, in the same unit
//
// A range ends with the last value that is not beyond its upper end. Values stay text: who asks for
// them knows what they mean.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"

namespace orrery {

// Limits against hostile input.
inline constexpr std::size_t kMostValues = 10'000;     // of one text
inline constexpr std::size_t kMostOfValueList = 4096;  // characters of one text

// The values of a list whose members may be ranges, in the order in which they are written. Errors:
// an empty member; a range without a step, with ends in different units, or that does not grow; more
// than these limits.
Result<std::vector<std::string>> value_list(std::string_view text);

// The texts that one text with ranges in its comma-separated settings stands for, the last range
// varying fastest: "tp=1..2*2,pp=4" is "tp=1,pp=4" and "tp=2,pp=4". Errors: as value_list().
Result<std::vector<std::string>> setting_lists(std::string_view text);

}  // namespace orrery
