// A golden script: commands and the exact text they print (standard output and error together).
//
// In a *.test file every line counts:
//   # a comment, up to the next command
//   $ orrery estimate - <<'EOF'       a command, as typed
//   > model: llama-3-8b               its next lines, as a shell asks for them
//   > EOF
//   line 3: unknown field 'modle'     what it prints
//   ...                               any number of lines, also none
//   [exit 2]                          its exit code, if that is not 0
// Empty lines before the next command or comment do not count. A printed line that would read as
// one of the above ("$ ", "# ", "> " after a command, "...", "[exit ", "\") is written with a
// backslash before it.
//
// In a Markdown page only blocks fenced with ```console count, and in them only commands that call
// `orrery`; what a page says of other commands (git, make) is not run. A command of a page that
// shows no output may print anything.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::golden {

struct Step {
  std::string command;                // lines joined by '\n'
  std::vector<std::string> expected;  // lines, still with their backslashes
  int exit_code = 0;
  bool any_output = false;     // a page that shows none
  int line = 0;                // of the command, from 1
  std::size_t first_line = 0;  // of the expected text in Script::lines, exit line included
  std::size_t after_line = 0;  // one past it
};

enum class Kind { test, page };

struct Script {
  std::vector<std::string> lines;
  std::vector<Step> steps;
};

Script parse_script(std::string_view text, Kind kind);

// The lines that a script holds for this outcome; keeps the first and last lines around a "..." of
// `step` if what was printed is long enough for both.
std::vector<std::string> blessed(const Step& step, const std::vector<std::string>& printed,
                                 int exit_code);

std::vector<std::string> split_lines(std::string_view text);

}  // namespace orrery::golden
