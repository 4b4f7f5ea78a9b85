#include "launch/shell_word.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace orrery {
namespace {

bool is_shell_flag(const Word& word) {
  return word.text.size() > 2 && word.text.starts_with("--") && starts_shell_name(word.text[2]);
}
bool is_whole_unknown(const Word& word) {
  return !word.unresolved.empty() && word.text.starts_with('$');
}
// "-x", but not "-1".
bool is_shell_option(const Word& word) {
  return word.text.size() > 1 && word.text[0] == '-' &&
         std::isdigit(static_cast<unsigned char>(word.text[1])) == 0 && word.text[1] != '.';
}

}  // namespace

void append_flags(const Words& words, const std::string& why_unknown, const std::string& file,
                  LaunchFlags& out) {
  if (!std::ranges::any_of(words, is_shell_flag)) return;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word& word = words[i];
    if (!is_shell_flag(word)) {
      if (is_whole_unknown(word) && i > 0) {  // may hold flags
        out.push_back({word.text, "", file, word.line, true, word.unresolved});
      }
      continue;
    }
    LaunchFlag flag{word.text.substr(2), "", file, word.line, true, word.unresolved};
    if (!why_unknown.empty()) flag.unresolved = why_unknown;
    const std::size_t equals = flag.key.find('=');
    bool has_value = equals != std::string::npos;
    if (has_value) {
      flag.value = flag.key.substr(equals + 1);
      flag.key.resize(equals);
    }
    for (; equals == std::string::npos && i + 1 < words.size(); ++i) {
      const Word& next = words[i + 1];
      if (is_shell_option(next) || (has_value && is_whole_unknown(next)) ||
          next.text.ends_with(".py") || next.text.ends_with(".sh")) {
        break;
      }
      flag.value += (has_value ? " " : "") + next.text;
      has_value = true;
      if (flag.unresolved.empty()) flag.unresolved = next.unresolved;
    }
    if (!has_value) flag.value = "true";
    std::ranges::replace(flag.key, '-', '_');
    out.push_back(std::move(flag));
  }
}

}  // namespace orrery
