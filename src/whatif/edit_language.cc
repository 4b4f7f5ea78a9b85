#include "whatif/edit_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <variant>

#include "outcome/nearest_name.h"
#include "outcome/parsed_number.h"
#include "trace/kernel_class.h"
#include "units/quantity_text.h"
#include "whatif/edit_verb.h"

namespace orrery {
namespace {

constexpr double kLargestFactor = 1e6;
constexpr std::int64_t kMostTermCount = 100'000;

struct Token {
  std::string text;
  bool quoted = false;
  int column = 1;
};

struct Statement {
  int line = 1;
  std::vector<Token> tokens;
};

Result<std::vector<Statement>> statements_of(std::string_view text, const std::string& name) {
  std::vector<Statement> out;
  Statement current;
  int line = 1;
  std::size_t line_begin = 0;
  const auto finish = [&] {
    if (!current.tokens.empty()) out.push_back(std::move(current));
    current = {};
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\n' || c == ';') {
      finish();
      ++i;
      if (c == '\n') {
        ++line;
        line_begin = i;
      }
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++i;
    } else if (c == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
    } else {
      if (current.tokens.empty()) current.line = line;
      Token token;
      token.column = static_cast<int>(i - line_begin) + 1;
      if (c == '"') {
        token.quoted = true;
        for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i) token.text += text[i];
        if (i >= text.size() || text[i] != '"') {
          return bad_input("a quotation does not end",
                           fmt::format("{}:{}:{}", name, line, token.column),
                           "write \" behind it, on the same line");
        }
        ++i;
      } else {
        while (i < text.size() &&
               std::string_view(" \t\r\n;#\"").find(text[i]) == std::string_view::npos) {
          token.text += text[i++];
        }
      }
      current.tokens.push_back(std::move(token));
    }
  }
  finish();
  return out;
}

Result<double> parse_factor(std::string_view text) {
  const bool percent = text.ends_with('%');
  std::string_view digits = text;
  if (percent) digits.remove_suffix(1);
  if (const auto number = parsed_number<double>(digits)) {
    const double value = percent ? *number / 100 : *number;
    if (value >= 0 && value <= kLargestFactor) return value;
  }
  return bad_input(fmt::format("'{}' is not a factor", text), "",
                   "a number from 0 to 1000000, as 0.5, or 50%");
}

Result<std::int64_t> parse_whole(std::string_view text, std::int64_t least,
                                 std::int64_t most = kLargestCount) {
  const auto value = parsed_number<std::int64_t>(text);
  if (value && *value >= least && *value <= most) return *value;
  return bad_input(fmt::format("'{}' is not a whole number from {}{}", text, least,
                               most < kLargestCount ? fmt::format(" to {}", most) : ""));
}

std::vector<std::string> known_classes() {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kKernelClasses; ++i) {
    out.emplace_back(to_text(static_cast<KernelClass>(i)));
  }
  return out;
}

// Reads the words of one statement.
class EditParser {
 public:
  explicit EditParser(const Statement& statement) : tokens_(statement.tokens) {}

  // Of the word that was read last.
  [[nodiscard]] int column() const { return tokens_[next_ > 0 ? next_ - 1 : 0].column; }

  Result<Edit> parse() {
    std::vector<std::string> verbs;
    for (const EditVerb* verb : edit_verbs()) {
      verbs.emplace_back(verb->verb);
      if (verb->verb == tokens_[0].text && !tokens_[0].quoted) edit_.verb = verb;
    }
    if (edit_.verb == nullptr) {
      return bad_input(fmt::format("there is no edit '{}'", tokens_[0].text), "",
                       name_hint(tokens_[0].text, verbs));
    }
    next_ = 1;
    ORRERY_RETURN_IF_ERROR(parse_operand());
    while (next_ < tokens_.size()) ORRERY_RETURN_IF_ERROR(parse_term());
    return complete();
  }

 private:
  // Inserts the form of the edit where an error has no hint of its own.
  [[nodiscard]] Failure refuse(std::string message) const {
    return bad_input(std::move(message), "", fmt::format("write: {}", edit_.verb->form));
  }

  Result<std::string> argument(std::string_view of) {
    if (next_ >= tokens_.size()) return refuse(fmt::format("nothing follows '{}'", of));
    return tokens_[next_++].text;
  }

  // What stands right behind the verb.
  Result<void> parse_operand() {
    const EditVerb& verb = *edit_.verb;
    if (verb.operand == EditOperand::none) return {};
    ORRERY_TRY(const std::string text, argument(verb.verb));
    switch (verb.operand) {
      case EditOperand::none:
        break;
      case EditOperand::size: {
        ORRERY_TRY(edit_.size, parse_bytes(text));
        break;
      }
      case EditOperand::count: {
        ORRERY_TRY(edit_.count, parse_whole(text, verb.least, verb.most));
        break;
      }
      case EditOperand::name:
        edit_.name = text;
        break;
      case EditOperand::count_to_count: {
        ORRERY_TRY(edit_.from, parse_whole(text, verb.least));
        ORRERY_TRY(const std::string to, argument(text));
        if (to != "to") return refuse(fmt::format("'{}' stands where 'to' should", to));
        ORRERY_TRY(const std::string count, argument(to));
        ORRERY_TRY(edit_.count, parse_whole(count, 1, verb.most));
        break;
      }
    }
    return {};
  }

  template <class T>
  Result<void> once(std::optional<T>& field, Result<T> value, std::string_view word) {
    if (!value) return fail(value.error());
    if (field) return refuse(fmt::format("'{}' is said twice", word));
    field = *value;
    return {};
  }

  Result<void> pattern(std::string& field, std::string_view word) {
    ORRERY_TRY(std::string text, argument(word));
    if (text.empty()) return refuse(fmt::format("the pattern of '{}' is empty", word));
    if (!field.empty()) return refuse(fmt::format("'{}' is said twice", word));
    field = std::move(text);
    return {};
  }

  Result<void> parse_field(const EditField& field, const std::string& word) {
    if (const auto* name = std::get_if<std::string Edit::*>(&field)) {
      return pattern(edit_.*(*name), word);
    }
    ORRERY_TRY(const std::string text, argument(word));
    if (const auto* count = std::get_if<std::int64_t Edit::*>(&field)) {
      if (edit_.*(*count) > 0) return refuse(fmt::format("'{}' is said twice", word));
      ORRERY_TRY(edit_.*(*count), parse_whole(text, 1, kMostTermCount));
      return {};
    }
    if (const auto* size = std::get_if<std::optional<Bytes> Edit::*>(&field)) {
      return once(edit_.*(*size), parse_bytes(text), word);
    }
    if (const auto* time = std::get_if<std::optional<Seconds> Edit::*>(&field)) {
      return once(edit_.*(*time), duration(text), word);
    }
    auto rate = parse_bytes_per_second(text);
    if (rate && !(*rate > BytesPerSecond(0))) {
      return refuse(fmt::format("the rate of a {} must be greater than 0", word));
    }
    return once(edit_.*std::get<std::optional<BytesPerSecond> Edit::*>(field), rate, word);
  }

  Result<Seconds> duration(const std::string& text) const {
    auto time = parse_seconds(text);
    if (time && !(*time >= Seconds(0) && *time <= Seconds(3600))) {
      return refuse(fmt::format("'{}' is not a time from 0 to an hour", text));
    }
    return time;
  }

  Result<void> parse_term() {
    const std::string word = tokens_[next_++].text;
    const EditVerb& verb = *edit_.verb;
    for (const EditTerm& term : verb.terms) {
      if (term.word == word) return parse_field(term.field, word);
    }
    if (word == "by" && verb.factor != EditPart::no) {
      ORRERY_TRY(const std::string text, argument(word));
      return once(edit_.factor, parse_factor(text), word);
    }
    if (word == "to" && verb.time != EditPart::no) {
      ORRERY_TRY(const std::string text, argument(word));
      return once(edit_.time, duration(text), word);
    }
    if (verb.where == EditPart::no) {
      std::vector<std::string> known;
      for (const EditTerm& term : verb.terms) known.emplace_back(term.word);
      if (known.empty()) return refuse(fmt::format("'{}' is too much", word));
      return bad_input(fmt::format("'{}' has no '{}'", verb.verb, word), "",
                       name_hint(word, known));
    }
    Selection& where = edit_.where;
    if (word == "kernel") return pattern(where.kernel, word);
    if (word == "operator") return pattern(where.op, word);
    if (word == "shape") return pattern(where.shape, word);
    if (word == "collective") return pattern(where.collective, word);
    if (word == "group") return pattern(where.group, word);
    if (word == "host") {
      where.host = true;
      return {};
    }
    if (word == "class") {
      ORRERY_RETURN_IF_ERROR(pattern(where.kernel_class, word));
      const std::vector<std::string> known = known_classes();
      if (std::ranges::find(known, where.kernel_class) != known.end()) return {};
      return bad_input(fmt::format("there is no class '{}'", where.kernel_class), "",
                       name_hint(where.kernel_class, known));
    }
    if (word == "rank" || word == "stream") {
      ORRERY_TRY(const std::string text, argument(word));
      return once(word == "rank" ? where.rank : where.stream, parse_whole(text, 0), word);
    }
    const std::vector<std::string> known = {"kernel", "class", "operator", "shape", "collective",
                                            "group",  "rank",  "stream",   "host"};
    return bad_input(fmt::format("'{}' selects nothing", word), "", name_hint(word, known));
  }

  Result<Edit> complete() {
    const EditVerb& verb = *edit_.verb;
    if (verb.where == EditPart::must && edit_.where.everything()) {
      return refuse(fmt::format("'{}' does not say what is meant", verb.verb));
    }
    if (verb.factor == EditPart::must && !edit_.factor) return refuse("'by' is missing");
    if (verb.time == EditPart::must && !edit_.time) return refuse("'to' is missing");
    if (verb.time == EditPart::may && edit_.factor.has_value() == edit_.time.has_value()) {
      return refuse("one of 'by' and 'to' is needed");
    }
    std::string problem = verb.problem == nullptr ? "" : verb.problem(edit_);
    if (!problem.empty()) return refuse(std::move(problem));
    return edit_;
  }

  const std::vector<Token>& tokens_;
  std::size_t next_ = 0;
  Edit edit_;
};

// A pattern as it must be written to be one word.
std::string word_text(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_of(" \t\r\n;#") == std::string::npos;
  return plain ? text : "\"" + text + "\"";
}

// A further word with its value, where it is said.
std::string term_text(const Edit& edit, const EditTerm& term) {
  const auto said = [&](const std::string& value) {
    return fmt::format(" {} {}", term.word, value);
  };
  return std::visit(
      [&](auto member) -> std::string {
        const auto& value = edit.*member;
        if constexpr (std::is_same_v<decltype(member), std::string Edit::*>) {
          return value.empty() ? "" : said(word_text(value));
        } else if constexpr (std::is_same_v<decltype(member), std::int64_t Edit::*>) {
          return value > 0 ? said(std::to_string(value)) : "";
        } else {
          return value ? said("\"" + to_exact_text(*value) + "\"") : "";
        }
      },
      term.field);
}

std::string operand_text(const Edit& edit) {
  switch (edit.verb->operand) {
    case EditOperand::none:
      break;
    case EditOperand::size:
      return " \"" + to_exact_text(*edit.size) + "\"";
    case EditOperand::count:
      return fmt::format(" {}", edit.count);
    case EditOperand::name:
      return " " + word_text(edit.name);
    case EditOperand::count_to_count:
      return fmt::format(" {} to {}", edit.from, edit.count);
  }
  return "";
}

}  // namespace

Result<std::vector<Edit>> parse_edits(std::string_view text, const std::string& name) {
  ORRERY_TRY(const std::vector<Statement> statements, statements_of(text, name));
  if (statements.size() > kMostEdits) {
    return bad_input(fmt::format("there are {} edits", statements.size()), name,
                     fmt::format("at most {}", kMostEdits));
  }
  std::vector<Edit> edits;
  for (const Statement& statement : statements) {
    EditParser parser(statement);
    auto edit = parser.parse();
    if (!edit) {
      return fail(at(fmt::format("{}:{}:{}", name, statement.line, parser.column()), edit.error()));
    }
    edits.push_back(std::move(*edit));
  }
  return edits;
}

std::string to_text(const Edit& edit) {
  std::string out = std::string(edit.verb->verb) + operand_text(edit);
  for (const EditTerm& term : edit.verb->terms) out += term_text(edit, term);
  const auto add = [&](const char* word, const std::string& pattern) {
    if (!pattern.empty()) out += fmt::format(" {} {}", word, word_text(pattern));
  };
  add("kernel", edit.where.kernel);
  add("class", edit.where.kernel_class);
  add("operator", edit.where.op);
  add("shape", edit.where.shape);
  add("collective", edit.where.collective);
  add("group", edit.where.group);
  if (edit.where.rank) out += fmt::format(" rank {}", *edit.where.rank);
  if (edit.where.stream) out += fmt::format(" stream {}", *edit.where.stream);
  if (edit.where.host) out += " host";
  if (edit.factor) out += fmt::format(" by {}", *edit.factor);
  if (edit.time && edit.verb->time != EditPart::no)
    out += " to \"" + to_exact_text(*edit.time) + "\"";
  return out;
}

bool fits_pattern(std::string_view text, std::string_view pattern) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;  // by the star
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || lower(pattern[p]) == lower(text[t]))) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace orrery
