// The language of what-ifs: one edit a line, or several with ';' between, applied in order.
//
//   EDIT    a verb with its parts, as the forms of edit_verbs() show: scale WHERE by FACTOR
//   WHERE   any of: kernel PATTERN, class NAME, operator PATTERN, shape PATTERN, collective
//           PATTERN, group PATTERN, rank N, stream N, host; all that are given must hold
//   FACTOR  0.5 or 50%;  TIME  20us;  SIZE  25MiB;  "#" begins a remark; "..." holds blanks
//
// At most kMostEdits edits. Errors name the line, the column of the word, and what would
// be right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "whatif/edit.h"

namespace orrery {

inline constexpr std::size_t kMostEdits = 1000;

// `name` stands in errors: a file, or the flag the text came from.
Result<std::vector<Edit>> parse_edits(std::string_view text, const std::string& name);

// The edit as the language writes it; reads back to the same.
std::string to_text(const Edit& edit);

// Whether the text fits the pattern, case not counted. O(text x pattern).
bool fits_pattern(std::string_view text, std::string_view pattern);

}  // namespace orrery
