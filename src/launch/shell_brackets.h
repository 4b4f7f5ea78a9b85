// Where the brackets and the here-documents of a shell script end.
//
// Source: POSIX.1-2017, Shell Command Language, sections 2.2 (quotes), 2.3 (comments), 2.6 (expansions
// are nested) and 2.7.4 (here-documents). Left out: patterns of `case`, whose ')' opens nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery {

// After "$(", "$((" or "${". Between double quotes, a single quote in ${...} is an ordinary character.
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

}  // namespace orrery
