// What is read within the commands of a shell script (shell_script.h): words and the flags among
// them, brackets and here-documents, arithmetic and tests.
#pragma once

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/launch_files.h"

namespace orrery {

struct Word {
  std::string text;
  int line = 0;
  std::string unresolved;  // why the text is not known
};
using Words = std::vector<Word>;

inline bool starts_shell_name(char c) {
  return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0;
}
inline bool in_shell_name(char c) {
  return starts_shell_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Appends "--key value", "--key=value" and "--switch" of a command. `why_unknown`: why it is not
// known whether the command runs; empty if it does.
void append_flags(const Words& words, const std::string& why_unknown, const std::string& file,
                  LaunchFlags& out);

// Where the brackets and the here-documents of a shell script end.
//
// Source: POSIX.1-2017, Shell Command Language, sections 2.2 (quotes), 2.3 (comments), 2.6
// (expansions are nested) and 2.7.4 (here-documents). Left out: patterns of `case`, whose ')' opens
// nothing.
//
// After "$(", "$((" or "${". Between double quotes, a single quote in ${...} is an ordinary
// character.
enum class ShellBracket { command, arithmetic, expansion, quoted_expansion };
// The place of the bracket that closes one before `at`, whatever quotes, escapes, comments and
// here-documents hold; npos if there is none.
std::size_t end_of_bracket(std::string_view text, std::size_t at, ShellBracket bracket);

struct HereDocument {
  std::string delimiter;
  bool indented = false;  // <<-: tabs before the delimiter do not count
};
// What stands after "<<" at `at`, which is moved behind it.
HereDocument take_here_document(std::string_view text, std::size_t& at);
// Where the lines that begin at `at` end, the line of the delimiter included; `at` if no line has
// the delimiter, as after "<<" of arithmetic.
std::size_t end_of_here_document(std::string_view text, std::size_t at,
                                 const HereDocument& document);

// What a shell computes: whole numbers in $((...)), and the tests of an `if`.
//
// Source: GNU bash manual, sections 6.5 (arithmetic: + - * / % and parentheses) and 6.4 (tests: -z,
// -n, =, ==, !=, -eq, -ne, -gt, -ge, -lt, -le and !). Anything else is not known.
using NumberOfName = std::function<std::optional<std::int64_t>(const std::string& name)>;

// Nothing where a part is not known, overflows or divides by less than 1.
std::optional<std::int64_t> shell_arithmetic(std::string_view text, const NumberOfName& number);

enum class Truth { no, yes, unknown };
// Of the words of a test, brackets included.
Truth shell_test(std::vector<std::string> words);

}  // namespace orrery
