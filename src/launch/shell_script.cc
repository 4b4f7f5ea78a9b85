#include "launch/shell_script.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "launch/shell_word.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr std::size_t kMostExpanded = 1U << 20;
constexpr int kMostNested = 32;

// [ ... ], [[ ... ]] and test.
Truth truth_of(const Words& words) {
  std::vector<std::string> texts;
  for (const Word& word : words) {
    if (!word.unresolved.empty()) return Truth::unknown;
    texts.push_back(word.text);
  }
  return shell_test(std::move(texts));
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Whether statements have an effect: of a branch that may be taken, what they set is not known.
enum class Effect { taken, unknown, skipped };

struct Branch {
  Effect outer;            // of the whole `if` or loop
  Effect effect;           // of this branch
  bool was_taken = false;  // an earlier branch
  bool undecided = false;  // an earlier condition is not known
  bool function = false;   // the body of a function
  int braces = 0;          // '{' that are open in it
};

class ShellReader {
 public:
  ShellReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  Result<LaunchFlags> read() {
    while (at_ < text_.size() && error_.message.empty()) read_statement();
    if (!error_.message.empty()) return fail(std::move(error_));
    return std::move(flags_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  char take() {
    const char c = peek();
    if (c == '\n') ++line_;
    if (at_ < text_.size()) ++at_;
    return c;
  }
  void refuse(std::string message, int line) {
    if (!error_.message.empty()) return;
    error_ = {ErrorCode::bad_input, std::move(message), file_ + ": line " + std::to_string(line),
              ""};
    at_ = text_.size();
  }
  // The text up to the bracket that closes one already taken, whatever stands in quotes.
  std::string take_bracketed(char open, ShellBracket bracket) {
    const std::size_t end = end_of_bracket(text_, at_, bracket);
    if (end == std::string_view::npos) {
      refuse(std::string("'") + open + "' is not closed", line_);
      return "";
    }
    std::string out(text_.substr(at_, end - at_));
    line_ += static_cast<int>(std::ranges::count(out, '\n'));
    at_ = end + 1;
    return out;
  }
  std::string take_name() {
    std::string out;
    while (in_shell_name(peek())) out += take();
    return out;
  }
  bool spend(std::size_t bytes) {
    expanded_ += bytes;
    if (expanded_ > kMostExpanded) refuse("variables expand to more than 1 MiB", line_);
    return expanded_ <= kMostExpanded;
  }

  struct Expanded {
    Words words;
    bool is_array = false;
  };

  // What stands for a value that only the run knows.
  [[nodiscard]] Expanded unknown(const std::string& name, const std::string& why) const {
    return {{{name, line_, why}}, false};
  }

  // The words of a variable; `fallback` is the text after ":-".
  Expanded variable(const std::string& name, bool as_array, const std::string* fallback,
                    int depth) {
    if (name == "@" || name == "*") return {{}, true};  // the script is run without arguments
    if (const auto found = variables_->find(name); found != variables_->end()) {
      Words words = found->second;
      std::size_t bytes = 0;
      for (Word& w : words) bytes += w.text.size() + 1;
      if (!spend(bytes)) return {};
      if (!as_array && words.size() > 1) words.resize(1);
      return {std::move(words), as_array};
    }
    if (fallback != nullptr) {
      ShellReader inner(*fallback, file_);
      inner.variables_ = variables_;
      inner.line_ = line_;
      inner.expanded_ = expanded_ + 1;
      inner.depth_ = depth + 1;
      if (inner.depth_ > kMostNested) {
        refuse("expressions are nested too deeply", line_);
        return {};
      }
      Words words;
      while (inner.at_ < inner.text_.size()) {
        if (is_blank(inner.peek()) || inner.peek() == '\n') {
          inner.take();
          continue;
        }
        const std::size_t before = inner.at_;
        inner.append_word(words);
        if (inner.at_ == before) inner.take();  // an operator
      }
      if (!inner.error_.message.empty()) refuse(inner.error_.message, line_);
      spend(inner.expanded_ - expanded_);
      return {std::move(words), false};
    }
    return unknown("$" + name, "$" + name + " is not set in the script");
  }

  std::optional<std::int64_t> number(const std::string& name) const {
    const auto found = variables_->find(name);
    if (found == variables_->end() || found->second.size() != 1 ||
        !found->second.front().unresolved.empty()) {
      return std::nullopt;
    }
    return parsed_number<std::int64_t>(found->second.front().text);
  }

  // After '$'; `quoted`: between double quotes.
  Expanded expansion(bool quoted) {
    if (peek() == '(' && peek(1) == '(') {
      at_ += 2;
      std::string inside = take_bracketed('(', ShellBracket::arithmetic);
      if (take() != ')') refuse("'$((' is not closed by '))'", line_);
      if (const auto value =
              shell_arithmetic(inside, [this](const std::string& n) { return number(n); }))
        return {{{std::to_string(*value), line_, ""}}, false};
      return unknown("$((" + inside + "))", "$((" + inside + ")) cannot be computed");
    }
    if (peek() == '(') {
      take();
      const std::string inside = take_bracketed('(', ShellBracket::command);
      return unknown("$(" + inside + ")", "the output of a command, $(" + inside + ")");
    }
    if (peek() == '{') {
      take();
      return braces(
          take_bracketed('{', quoted ? ShellBracket::quoted_expansion : ShellBracket::expansion),
          quoted);
    }
    if (starts_shell_name(peek())) return variable(take_name(), false, nullptr, depth_);
    const char special = peek();
    if (special == '@' || special == '*') {
      take();
      return variable("@", true, nullptr, depth_);
    }
    if (std::isdigit(static_cast<unsigned char>(special)) != 0 || special == '#' ||
        special == '?' || special == '!' || special == '$') {
      take();
      return variable(std::string(1, special), false, nullptr, depth_);
    }
    return {{{"$", line_, ""}}, false};
  }

  // The inside of ${...}.
  Expanded braces(const std::string& inside, bool quoted) {
    std::size_t end = 0;
    while (end < inside.size() && in_shell_name(inside[end])) ++end;
    if (end == 0 && (inside.starts_with('@') || inside.starts_with('*'))) end = 1;
    const std::string name = inside.substr(0, end);
    std::string rest = inside.substr(end);
    bool array = false;
    if (rest.starts_with("[@]") || rest.starts_with("[*]")) {
      array = true;
      rest.erase(0, 3);
    }
    if (name.empty() || (!rest.empty() && !rest.starts_with(":-") && !rest.starts_with('-'))) {
      return unknown("${" + inside + "}", "${" + inside + "} is an expansion that is not read");
    }
    if (rest.empty()) return variable(name, array, nullptr, depth_);
    std::string fallback = rest.substr(rest.starts_with(":-") ? 2 : 1);
    if (quoted) fallback = '"' + fallback + '"';
    const auto found = variables_->find(name);
    if (rest.starts_with(":-") && found != variables_->end() && found->second.size() == 1 &&
        found->second.front().text.empty() && found->second.front().unresolved.empty()) {
      const Words kept = std::exchange(found->second, {});
      variables_->erase(name);
      Expanded out = variable(name, array, &fallback, depth_);
      (*variables_)[name] = kept;
      return out;
    }
    return variable(name, array, &fallback, depth_);
  }

  [[nodiscard]] bool ends_word(char c) const {
    return c == '\0' || c == '\n' || is_blank(c) || c == ';' || c == '&' || c == '|' || c == '(' ||
           c == ')' || c == '<' || c == '>';
  }

  // Appends the words that one written word becomes: none, one, or the items of what it expands to.
  void append_word(Words& out) {
    Word word{"", line_, ""};
    bool exists = false;
    const auto add = [&](const Word& piece) {
      word.text += piece.text;
      if (word.unresolved.empty()) word.unresolved = piece.unresolved;
      exists = true;
    };
    const auto finish = [&] {
      if (exists) out.push_back(word);
      word = {"", line_, ""};
      exists = false;
    };
    const auto expand = [&](bool quoted) {
      const Expanded value = expansion(quoted);
      for (std::size_t i = 0; i < value.words.size(); ++i) {
        if (i > 0) finish();
        if (quoted || !value.words[i].unresolved.empty()) {
          add(value.words[i]);
          continue;
        }
        const std::string& text = value.words[i].text;  // is split at blanks
        for (std::size_t at = 0; at < text.size();) {
          const std::size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
          if (end > at) add({text.substr(at, end - at), value.words[i].line, ""});
          if (end < text.size()) finish();
          at = end + 1;
        }
      }
      if (quoted && !value.is_array) exists = true;
    };
    while (!ends_word(peek()) && error_.message.empty()) {
      const char c = take();
      if (c == '\\') {
        if (peek() == '\r' && peek(1) == '\n') take();
        if (const char next = take(); next != '\n' && next != '\0') add({{next}, line_, ""});
      } else if (c == '\'') {
        const int begin = line_;
        std::string inside;
        while (peek() != '\'' && at_ < text_.size()) inside += take();
        if (take() != '\'') refuse("a quote (') is not closed", begin);
        add({inside, line_, ""});
      } else if (c == '"') {
        const int begin = line_;
        exists = exists || peek() == '"';
        while (peek() != '"' && at_ < text_.size()) {
          const char inner = take();
          if (inner == '\\') {
            const char next = take();
            if (next != '\n')
              add({next == '"' || next == '\\' || next == '$' || next == '`'
                       ? std::string(1, next)
                       : std::string("\\") + next,
                   line_, ""});
          } else if (inner == '$') {
            expand(true);
          } else if (inner == '`') {
            backquoted(add);
          } else {
            add({{inner}, line_, ""});
          }
        }
        if (take() != '"') refuse("a quote (\") is not closed", begin);
      } else if (c == '$') {
        expand(false);
      } else if (c == '`') {
        backquoted(add);
      } else {
        add({{c}, line_, ""});
      }
    }
    finish();
    spend(1);
  }
  void backquoted(const auto& add) {
    const int begin = line_;
    std::string inside;
    while (peek() != '`' && at_ < text_.size()) inside += take();
    if (take() != '`') refuse("a quote (`) is not closed", begin);
    add(unknown("`" + inside + "`", "the output of a command, " + inside).words.front());
  }

  // Blanks, continued lines and comments; true at the end of a line.
  void skip_blanks() {
    while (true) {
      if (is_blank(peek())) {
        take();
      } else if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        take();
        while (take() != '\n') {
        }
      } else if (peek() == '#') {
        std::string comment;
        const int line = line_;
        while (peek() != '\n' && at_ < text_.size()) comment += take();
        if (comment.starts_with("#SBATCH")) batch_option(comment.substr(7), line);
      } else {
        return;
      }
    }
  }
  void batch_option(std::string_view text, int line) {
    const std::size_t begin = text.find("--");
    if (begin == std::string_view::npos) return;
    text = text.substr(begin + 2);
    text = text.substr(0, std::min(text.find_first_of("#\r"), text.size()));
    const std::size_t equals = text.find_first_of("= ");
    std::string value(equals == std::string_view::npos ? "true" : text.substr(equals + 1));
    while (!value.empty() && is_blank(value.back())) value.pop_back();
    std::string key = "sbatch_" + std::string(text.substr(0, equals));
    std::ranges::replace(key, '-', '_');
    flags_.push_back({key, value, file_, line, true, ""});
  }

  [[nodiscard]] Effect effect() const {
    return branches_.empty() ? Effect::taken : branches_.back().effect;
  }

  [[nodiscard]] bool in_function() const {
    return std::ranges::any_of(branches_, &Branch::function);
  }
  // Why it is not known whether a statement has an effect; empty if it is.
  [[nodiscard]] std::string why_unknown() const {
    if (effect() != Effect::unknown) return "";
    return in_function() ? "given in a function, whose calls are not followed"
                         : "given under a condition that is not known";
  }

  void assign(const std::string& name, bool append, Words words) {
    if (effect() == Effect::skipped) return;
    if (effect() == Effect::unknown || chained_) {
      const std::string why =
          std::string(in_function() ? "set in a function" : "set under a condition") + " on line " +
          std::to_string(line_);
      if (words.empty() && !append) words.push_back({"$" + name, line_, why});
      for (Word& w : words) w.unresolved = w.unresolved.empty() ? why : w.unresolved;
    }
    Words& variable = (*variables_)[name];
    if (!append) variable.clear();
    for (Word& w : words) variable.push_back(std::move(w));
  }

  // "NAME=", "NAME+=" at this place; returns false if it is none.
  bool read_assignment() {
    std::size_t end = 0;
    if (!starts_shell_name(peek())) return false;
    while (in_shell_name(peek(end))) ++end;
    const bool append = peek(end) == '+' && peek(end + 1) == '=';
    if (peek(end) != '=' && !append) return false;
    const std::string name = take_name();
    at_ += append ? 2 : 1;
    Words words;
    if (peek() == '(') {
      const int begin = line_;
      take();
      while (true) {
        skip_blanks();
        if (peek() == '\n') {
          take();
        } else if (peek() == ')') {
          take();
          break;
        } else if (peek() == '\0') {
          refuse("'(' is not closed", begin);
          break;
        } else {
          const std::size_t before = at_;
          append_word(words);
          if (at_ == before) take();
        }
      }
      assign(name, append, std::move(words));
      return true;
    }
    if (peek() == '<') {  // DATA_PATH=<Specify path>
      std::string rest;
      while (peek() != '\n' && at_ < text_.size()) rest += take();
      assign(name, append, {{rest, line_, rest + " is to be filled in"}});
      return true;
    }
    append_word(words);
    Word joined{"", line_, ""};  // what is assigned is not split
    for (const Word& w : words) {
      joined.text += (joined.text.empty() ? "" : " ") + w.text;
      if (joined.unresolved.empty()) joined.unresolved = w.unresolved;
    }
    if (append && variables_->contains(name) && !(*variables_)[name].empty()) {
      const Word& before = (*variables_)[name].front();
      joined.text = before.text + joined.text;
      if (joined.unresolved.empty()) joined.unresolved = before.unresolved;
    }
    assign(name, false, {joined});
    return true;
  }

  // Up to a separator, which is taken: one simple command.
  void read_statement() {
    Words words;
    bool assigns = true;
    while (error_.message.empty()) {
      skip_blanks();
      if (assigns && read_assignment()) continue;
      const char c = peek();
      if (c == '<' && peek(1) == '<' && peek(2) != '<') {
        at_ += 2;
        documents_.push_back(take_here_document(text_, at_));
        continue;
      }
      if (c == '<' || c == '>') {  // a redirection and its target
        while (peek() == '<' || peek() == '>' || peek() == '&') take();
        skip_blanks();
        Words target;
        append_word(target);
        continue;
      }
      if (c == '\0' || c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')') break;
      const std::size_t before = words.size();
      append_word(words);
      if (assigns && words.size() > before) {
        const std::string& word = words.back().text;
        while (keyword(words)) {
        }
        assigns = words.empty() || word == "export" || word == "local" || word == "declare" ||
                  word == "readonly";
        if (words.size() == 1 && words.front().text.starts_with('-')) assigns = true;
      }
    }
    const char first = take();
    if (first == '\n') skip_here_documents();
    const bool doubled = (first == '&' || first == '|' || first == ';') && peek() == first;
    if (doubled) take();
    finish_statement(words, doubled ? first : '\0', first);
  }

  // The lines of the here-documents of a command, which are data; flags in them are listed.
  void skip_here_documents() {
    for (const HereDocument& document : std::exchange(documents_, {})) {
      const std::size_t end = end_of_here_document(text_, at_, document);
      const std::string_view body = text_.substr(at_, end - at_);
      if (body.find(" --") != std::string_view::npos || body.starts_with("--")) {
        flags_.push_back(
            {"<<" + document.delimiter, "", file_, line_, true, "a here-document is not read"});
      }
      line_ += static_cast<int>(std::ranges::count(body, '\n'));
      at_ = end;
    }
  }

  // Takes a leading word of the grammar; true if there was one.
  bool keyword(Words& words) {
    if (words.empty()) return false;
    const std::string word = words.front().text;
    if (word == "if" || word == "while" || word == "until" || word == "for" || word == "case") {
      branches_.push_back(
          {effect(), effect() == Effect::skipped ? Effect::skipped : Effect::unknown});
      condition_ = word == "if" ? Condition::first : Condition::none;
      truth_ = Truth::unknown;
      if (word != "if" && word != "while" && word != "until") return false;
    } else if (word == "elif" && !branches_.empty()) {
      settle(branches_.back());
      condition_ = Condition::first;
    } else if (word == "else" && !branches_.empty()) {
      settle(branches_.back());
      choose(Truth::yes);
    } else if (word == "then" || word == "do") {
      if (condition_ != Condition::none) choose(truth_);
      condition_ = Condition::none;
    } else if (word == "fi" || word == "done" || word == "esac") {
      if (!branches_.empty()) branches_.pop_back();
      condition_ = Condition::none;
    } else if (word == "{") {
      if (!branches_.empty()) ++branches_.back().braces;
    } else if (word == "}") {
      if (!branches_.empty() && branches_.back().braces > 0) {
        --branches_.back().braces;
        if (branches_.back().braces == 0 && branches_.back().function) branches_.pop_back();
      }
    } else {
      return false;
    }
    words.erase(words.begin());
    return true;
  }
  // After a branch: whether it was taken.
  static void settle(Branch& branch) {
    branch.was_taken = branch.was_taken || branch.effect == Effect::taken;
    branch.undecided = branch.undecided || branch.effect == Effect::unknown;
  }
  // The effect of the next branch, whose condition has this truth.
  void choose(Truth truth) {
    if (branches_.empty()) return;
    Branch& b = branches_.back();
    if (b.outer == Effect::skipped || b.was_taken || truth == Truth::no) {
      b.effect = Effect::skipped;
    } else if (truth == Truth::unknown || b.undecided || b.outer == Effect::unknown) {
      b.effect = Effect::unknown;
    } else {
      b.effect = Effect::taken;
    }
  }

  // "name() {" and "function name {", whose calls are not followed; false if the words are neither.
  bool begins_function(const Words& words, char separator) {
    const bool keyword = !words.empty() && words.front().text == "function";
    const bool brackets = separator == '(' && peek() == ')' && words.size() == (keyword ? 2U : 1U);
    if (!keyword && !brackets) return false;
    if (brackets) take();
    bool open = words.back().text == "{";
    if (!open) {
      for (skip_blanks(); peek() == '\n'; skip_blanks()) take();
      open = peek() == '{';
      if (open) take();
    }
    if (open) {
      const Effect outer = effect();
      branches_.push_back({.outer = outer,
                           .effect = outer == Effect::skipped ? outer : Effect::unknown,
                           .function = true,
                           .braces = 1});
    }
    return true;
  }

  void finish_statement(const Words& words, char doubled, char separator) {
    if (condition_ != Condition::none && !words.empty()) {
      const Truth truth = truth_of(words);
      if (condition_ == Condition::first) {
        truth_ = truth;
      } else if (condition_ == Condition::either) {
        truth_ = truth_ == Truth::yes || truth == Truth::yes ? Truth::yes
                 : truth_ == Truth::no && truth == Truth::no ? Truth::no
                                                             : Truth::unknown;
      } else {
        truth_ = truth_ == Truth::no || truth == Truth::no     ? Truth::no
                 : truth_ == Truth::yes && truth == Truth::yes ? Truth::yes
                                                               : Truth::unknown;
      }
      condition_ = doubled == '|' ? Condition::either : Condition::both;
      chained_ = false;
      return;
    }
    if (begins_function(words, separator)) return;
    add_flags(words);
    chained_ = doubled == '&' || doubled == '|';
  }

  void add_flags(const Words& words) {
    if (effect() != Effect::skipped) append_flags(words, why_unknown(), file_, flags_);
  }

  enum class Condition { none, first, either, both };

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  int line_ = 1;
  int depth_ = 0;
  std::size_t expanded_ = 0;
  std::map<std::string, Words> own_;
  std::map<std::string, Words>* variables_ = &own_;  // those of the whole script
  std::vector<Branch> branches_;
  Condition condition_ = Condition::none;  // a condition is being read, and how tests are joined
  Truth truth_ = Truth::unknown;           // of the condition so far
  std::vector<HereDocument> documents_;    // of the command, whose lines follow
  bool chained_ = false;                   // the statement follows && or ||
  LaunchFlags flags_;
  Error error_;
};

}  // namespace

Result<LaunchFlags> read_shell_script(std::string_view text, const std::string& file) {
  return ShellReader(text, file).read();
}

}  // namespace orrery
