// The words of a shell command, and the flags among them.
#pragma once

#include <cctype>
#include <string>
#include <vector>

#include "launch/launch_flag.h"

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

}  // namespace orrery
