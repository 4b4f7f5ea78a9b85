// What a shell computes: whole numbers in $((...)), and the tests of an `if`.
//
// Source: GNU bash manual, sections 6.5 (arithmetic: + - * / % and parentheses) and 6.4 (tests: -z,
// -n, =, ==, !=, -eq, -ne, -gt, -ge, -lt, -le and !). Anything else is not known.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

using NumberOfName = std::function<std::optional<std::int64_t>(const std::string& name)>;

// Nothing where a part is not known, overflows or divides by less than 1.
std::optional<std::int64_t> shell_arithmetic(std::string_view text, const NumberOfName& number);

enum class Truth { no, yes, unknown };
// Of the words of a test, brackets included.
Truth shell_test(std::vector<std::string> words);

}  // namespace orrery
