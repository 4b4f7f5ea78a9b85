#include "launch/shell_expression.h"

#include <cctype>

#include "outcome/parsed_number.h"

namespace orrery {
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
