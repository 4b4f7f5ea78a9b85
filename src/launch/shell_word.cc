#include "launch/shell_word.h"

#include <algorithm>
#include <utility>

#include "outcome/parsed_number.h"

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

namespace {

constexpr int kMostParentheses = 32;

using Number = std::optional<std::int64_t>;

class Arithmetic {
 public:
  Arithmetic(std::string_view text, const NumberOfName& number) : text_(text), number_(number) {}
  Number value() {
    const Number out = sum(0);
    return next() == '\0' ? out : std::nullopt;
  }

 private:
  char next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  Number sum(int depth) {
    Number left = product(depth);
    for (char op = next(); left && (op == '+' || op == '-'); op = next()) {
      ++at_;
      const Number right = product(depth);
      std::int64_t out = 0;
      if (!right || (op == '+' ? __builtin_add_overflow(*left, *right, &out)
                               : __builtin_sub_overflow(*left, *right, &out))) {
        return std::nullopt;
      }
      left = out;
    }
    return left;
  }
  Number product(int depth) {
    Number left = factor(depth);
    for (char op = next(); left && (op == '*' || op == '/' || op == '%'); op = next()) {
      ++at_;
      const Number right = factor(depth);
      if (!right || (op != '*' && *right < 1)) return std::nullopt;
      std::int64_t out = 0;
      if (op == '*' && __builtin_mul_overflow(*left, *right, &out)) return std::nullopt;
      left = op == '*' ? out : op == '/' ? *left / *right : *left % *right;
    }
    return left;
  }
  Number factor(int depth) {
    if (depth > kMostParentheses) return std::nullopt;
    if (next() == '(') {
      ++at_;
      const Number inner = sum(depth + 1);
      if (next() != ')') return std::nullopt;
      ++at_;
      return inner;
    }
    std::string word;  // NAME, $NAME, ${NAME} or a number
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      const bool named = c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
      if (named) word += c;
      if (!named && c != '$' && c != '{' && c != '}') break;
    }
    if (const auto whole = parsed_number<std::int64_t>(word)) return whole;
    return number_(word);
  }

  std::string_view text_;
  const NumberOfName& number_;
  std::size_t at_ = 0;
};

Truth of(bool b) { return b ? Truth::yes : Truth::no; }

}  // namespace

std::optional<std::int64_t> shell_arithmetic(std::string_view text, const NumberOfName& number) {
  return Arithmetic(text, number).value();
}

Truth shell_test(std::vector<std::string> w) {
  if (w.size() < 2 || (w[0] != "[" && w[0] != "[[" && w[0] != "test")) return Truth::unknown;
  if (w[0] != "test") w.pop_back();
  w.erase(w.begin());
  bool negated = false;
  if (!w.empty() && w[0] == "!") {
    negated = true;
    w.erase(w.begin());
  }
  Truth out = Truth::unknown;
  if (w.size() == 2 && w[0] == "-z") out = of(w[1].empty());
  if (w.size() == 2 && w[0] == "-n") out = of(!w[1].empty());
  if (w.size() == 3) {
    const auto a = parsed_number<std::int64_t>(w[0]);
    const auto b = parsed_number<std::int64_t>(w[2]);
    const bool pattern = w[2].find_first_of("*?[") != std::string::npos;
    if ((w[1] == "=" || w[1] == "==") && !pattern) out = of(w[0] == w[2]);
    if (w[1] == "!=" && !pattern) out = of(w[0] != w[2]);
    if (a && b && w[1] == "-eq") out = of(*a == *b);
    if (a && b && w[1] == "-ne") out = of(*a != *b);
    if (a && b && w[1] == "-gt") out = of(*a > *b);
    if (a && b && w[1] == "-ge") out = of(*a >= *b);
    if (a && b && w[1] == "-lt") out = of(*a < *b);
    if (a && b && w[1] == "-le") out = of(*a <= *b);
  }
  if (negated && out != Truth::unknown) out = out == Truth::yes ? Truth::no : Truth::yes;
  return out;
}

}  // namespace orrery
