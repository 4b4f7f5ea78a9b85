#include "launch/shell_brackets.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace orrery {
namespace {

// What is open, innermost last.
enum class Opened { command, arithmetic, expansion, quoted_expansion, quotes, backquotes };

char closing(Opened opened) {
  switch (opened) {
    case Opened::command:
    case Opened::arithmetic:
      return ')';
    case Opened::expansion:
    case Opened::quoted_expansion:
      return '}';
    case Opened::quotes:
      return '"';
    default:
      return '`';
  }
}

class BracketReader {
 public:
  BracketReader(std::string_view text, std::size_t at, Opened opened)
      : text_(text), at_(at), open_{opened} {}

  std::size_t end() {
    while (at_ < text_.size()) {
      if (text_[at_] == closing(open_.back())) {
        open_.pop_back();
        if (open_.empty()) return at_;
        ++at_;
      } else {
        step();
      }
    }
    return std::string_view::npos;
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool begins_comment() const {
    return at_ == 0 || std::string_view(" \t\n;(").find(text_[at_ - 1]) != std::string_view::npos;
  }
  void open(Opened opened, std::size_t length) {
    open_.push_back(opened);
    at_ += length;
  }
  // Over one character, a text in single quotes, a comment or what opens something.
  void step() {
    const char c = text_[at_];
    const Opened inner = open_.back();
    const bool in_command = inner == Opened::command;
    const bool quoted = inner == Opened::quotes || inner == Opened::quoted_expansion;
    if (c == '\\') {
      at_ += 2;
    } else if (c == '$' && peek(1) == '(' && peek(2) == '(') {
      open(Opened::arithmetic, 3);
      open_.push_back(Opened::arithmetic);
    } else if (c == '$' && peek(1) == '(') {
      open(Opened::command, 2);
    } else if (c == '$' && peek(1) == '{') {
      open(quoted ? Opened::quoted_expansion : Opened::expansion, 2);
    } else if (inner == Opened::arithmetic) {
      if (c == '(') open_.push_back(Opened::arithmetic);
      ++at_;
    } else if (c == '"') {
      open(Opened::quotes, 1);
    } else if (c == '`') {
      open(Opened::backquotes, 1);
    } else if (c == '\'' && !quoted) {
      at_ = text_.find('\'', at_ + 1);
      at_ = at_ == std::string_view::npos ? text_.size() : at_ + 1;
    } else if (in_command && c == '(') {
      open(Opened::command, 1);
    } else if (in_command && c == '#' && begins_comment()) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (in_command && c == '<' && peek(1) == '<') {
      at_ += 2;
      if (peek(0) == '<') {
        ++at_;
      } else {
        documents_.push_back(take_here_document(text_, at_));
      }
    } else if (in_command && c == '\n') {
      ++at_;
      for (const HereDocument& document : std::exchange(documents_, {})) {
        at_ = end_of_here_document(text_, at_, document);
      }
    } else {
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_;
  std::vector<Opened> open_;
  std::vector<HereDocument> documents_;  // whose lines follow
};

}  // namespace

std::size_t end_of_bracket(std::string_view text, std::size_t at, ShellBracket bracket) {
  const Opened opened = bracket == ShellBracket::command      ? Opened::command
                        : bracket == ShellBracket::arithmetic ? Opened::arithmetic
                        : bracket == ShellBracket::expansion  ? Opened::expansion
                                                              : Opened::quoted_expansion;
  return BracketReader(text, at, opened).end();
}

HereDocument take_here_document(std::string_view text, std::size_t& at) {
  HereDocument out;
  if (at < text.size() && text[at] == '-') {
    out.indented = true;
    ++at;
  }
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  while (at < text.size() &&
         std::string_view(" \t\r\n;&|<>()").find(text[at]) == std::string_view::npos) {
    const char c = text[at++];
    if (c != '\'' && c != '"' && c != '\\') out.delimiter += c;
  }
  return out;
}

std::size_t end_of_here_document(std::string_view text, std::size_t at,
                                 const HereDocument& document) {
  for (std::size_t begin = at; begin < text.size() && !document.delimiter.empty();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (document.indented && line.starts_with('\t')) line.remove_prefix(1);
    begin = std::min(end + 1, text.size());
    if (line == document.delimiter) return begin;
  }
  return at;
}

}  // namespace orrery
