#include "whatif/edit_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <variant>

#include "outcome/nearest_name.h"
#include "trace/kernel_class.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr double kLargestFactor = 1e6;
constexpr std::int64_t kLargestCount = 1'000'000'000;

// What may and must stand in an edit beside its verb.
enum class Part : std::uint8_t { no, may, must };
struct Grammar {
  EditKind kind;
  std::string_view verb;
  Part where = Part::may;
  Part factor = Part::no;
  Part time = Part::no;  // with a factor that may stand: one of the two must
  std::string_view form;
};
constexpr std::array kGrammar = {
    Grammar{EditKind::scale, "scale", Part::must, Part::must, Part::no, "scale WHERE by FACTOR"},
    Grammar{EditKind::set, "set", Part::must, Part::no, Part::must, "set WHERE to TIME"},
    Grammar{EditKind::remove, "remove", Part::must, Part::no, Part::no, "remove WHERE"},
    Grammar{EditKind::fuse, "fuse", Part::must, Part::may, Part::no, "fuse WHERE [by FACTOR]"},
    Grammar{EditKind::capture, "capture", Part::may, Part::no, Part::no, "capture [WHERE]"},
    Grammar{EditKind::bandwidth, "bandwidth", Part::may, Part::must, Part::no,
            "bandwidth by FACTOR [WHERE]"},
    Grammar{EditKind::latency, "latency", Part::may, Part::may, Part::may,
            "latency by FACTOR [WHERE], or latency to TIME [WHERE]"},
    Grammar{EditKind::bucket, "bucket", Part::may, Part::no, Part::no, "bucket SIZE [WHERE]"},
    Grammar{EditKind::overlap, "overlap", Part::must, Part::no, Part::no, "overlap WHERE"},
    Grammar{EditKind::even, "even", Part::may, Part::no, Part::no, "even [WHERE]"},
    Grammar{EditKind::data_ranks, "dp", Part::may, Part::no, Part::no,
            "dp N [WHERE], or dp N [gradients SIZE] [link RATE] [latency TIME]"},
    Grammar{EditKind::tensor_ranks, "tp", Part::may, Part::no, Part::no, "tp N [WHERE]"},
    Grammar{EditKind::pipeline, "pp", Part::no, Part::no, Part::no,
            "pp N [schedule NAME] [chunks N] [microbatches N] [send SIZE] [link RATE] [latency "
            "TIME]"},
    Grammar{EditKind::resize, "resize", Part::no, Part::no, Part::no, "resize N to N"},
    Grammar{EditKind::repeat, "layers", Part::no, Part::no, Part::no, "layers N to N"},
    Grammar{EditKind::microbatches, "microbatches", Part::no, Part::no, Part::no,
            "microbatches N to N"},
    Grammar{EditKind::accelerator, "accelerator", Part::may, Part::no, Part::no,
            "accelerator NAME [WHERE]"},
    Grammar{EditKind::price, "price", Part::must, Part::no, Part::no, "price WHERE"},
};

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
          return fail(ErrorCode::bad_input, "a quotation does not end",
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
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc() && end == digits.data() + digits.size() && !digits.empty()) {
    if (percent) value /= 100;
    if (value >= 0 && value <= kLargestFactor) return value;
  }
  return fail(ErrorCode::bad_input, fmt::format("'{}' is no factor", text), "",
              "a number from 0 to 1000000, as 0.5, or 50%");
}

Result<std::int64_t> parse_whole(std::string_view text, std::int64_t least,
                                 std::int64_t most = kLargestCount) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) {
    return value;
  }
  return fail(ErrorCode::bad_input,
              fmt::format("'{}' is no whole number from {}{}", text, least,
                          most < kLargestCount ? fmt::format(" to {}", most) : ""));
}

std::vector<std::string> known_classes() {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kKernelClasses; ++i) {
    out.emplace_back(name(static_cast<KernelClass>(i)));
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
    const Grammar* grammar = nullptr;
    std::vector<std::string> verbs;
    for (const Grammar& g : kGrammar) {
      verbs.emplace_back(g.verb);
      if (g.verb == tokens_[0].text && !tokens_[0].quoted) grammar = &g;
    }
    if (grammar == nullptr) {
      return fail(ErrorCode::bad_input, fmt::format("there is no edit '{}'", tokens_[0].text), "",
                  name_hint(tokens_[0].text, verbs));
    }
    grammar_ = grammar;
    edit_.kind = grammar->kind;
    edit_.verb = std::string(grammar->verb);
    next_ = 1;
    if (auto object = parse_object(); !object) return fail(object.error());
    while (next_ < tokens_.size()) {
      if (auto term = parse_term(); !term) return fail(term.error());
    }
    return complete();
  }

 private:
  // Inserts the form of the edit where an error has no hint of its own.
  [[nodiscard]] Failure refuse(std::string message) const {
    return fail(ErrorCode::bad_input, std::move(message), "",
                fmt::format("write: {}", grammar_->form));
  }

  Result<std::string> argument(std::string_view of) {
    if (next_ >= tokens_.size()) return refuse(fmt::format("nothing follows '{}'", of));
    return tokens_[next_++].text;
  }

  // What stands right behind the verb.
  Result<std::monostate> parse_object() {
    switch (edit_.kind) {
      case EditKind::bucket: {
        ORRERY_TRY(const std::string text, argument(edit_.verb));
        ORRERY_TRY(edit_.size, parse_bytes(text));
        if (!(*edit_.size > Bytes(0))) return refuse("a bucket holds more than nothing");
        break;
      }
      case EditKind::data_ranks:
      case EditKind::tensor_ranks: {
        ORRERY_TRY(const std::string text, argument(edit_.verb));
        ORRERY_TRY(edit_.count, parse_whole(text, 1));
        break;
      }
      case EditKind::pipeline: {
        ORRERY_TRY(const std::string text, argument(edit_.verb));
        ORRERY_TRY(edit_.count, parse_whole(text, 1, kMostStages));
        break;
      }
      case EditKind::resize:
      case EditKind::microbatches:
      case EditKind::repeat: {
        ORRERY_TRY(const std::string from, argument(edit_.verb));
        ORRERY_TRY(edit_.from, parse_whole(from, edit_.kind == EditKind::repeat ? 2 : 1));
        ORRERY_TRY(const std::string to, argument(from));
        if (to != "to") return refuse(fmt::format("'{}' stands where 'to' should", to));
        ORRERY_TRY(const std::string count, argument(to));
        ORRERY_TRY(edit_.count, parse_whole(count, 1,
                                            edit_.kind == EditKind::microbatches ? kMostMicrobatches
                                                                                 : kLargestCount));
        break;
      }
      case EditKind::accelerator: {
        ORRERY_TRY(edit_.name, argument(edit_.verb));
        break;
      }
      default:
        break;
    }
    return std::monostate();
  }

  template <class T>
  Result<std::monostate> once(std::optional<T>& field, Result<T> value, std::string_view word) {
    if (!value) return fail(value.error());
    if (field) return refuse(fmt::format("'{}' is said twice", word));
    field = *value;
    return std::monostate();
  }

  Result<std::monostate> pattern(std::string& field, std::string_view word) {
    ORRERY_TRY(std::string text, argument(word));
    if (text.empty()) return refuse(fmt::format("the pattern of '{}' is empty", word));
    if (!field.empty()) return refuse(fmt::format("'{}' is said twice", word));
    field = std::move(text);
    return std::monostate();
  }

  // What ranks that an edit adds are joined by. Nothing: the word is another one.
  Result<bool> parse_link_term(const std::string& word) {
    if (word == "link") {
      ORRERY_TRY(const std::string text, argument(word));
      auto rate = parse_bytes_per_second(text);
      if (rate && !(*rate > BytesPerSecond(0))) return refuse("over no link nothing arrives");
      if (auto read = once(edit_.rate, rate, word); !read) return fail(read.error());
      return true;
    }
    if (word == "latency") {
      ORRERY_TRY(const std::string text, argument(word));
      if (auto read = once(edit_.time, duration(text), word); !read) return fail(read.error());
      return true;
    }
    if (word == (edit_.kind == EditKind::pipeline ? "send" : "gradients")) {
      ORRERY_TRY(const std::string text, argument(word));
      if (auto read = once(edit_.size, parse_bytes(text), word); !read) return fail(read.error());
      return true;
    }
    return false;
  }

  // What a pipeline is, besides its stages.
  Result<std::monostate> parse_pipeline_term(const std::string& word) {
    if (word == "schedule") return pattern(edit_.name, word);
    if (word == "chunks" || word == "microbatches") {
      std::int64_t& field = word == "chunks" ? edit_.chunks : edit_.microbatches;
      if (field > 0) return refuse(fmt::format("'{}' is said twice", word));
      ORRERY_TRY(const std::string text, argument(word));
      ORRERY_TRY(field, parse_whole(text, 1, kMostMicrobatches));
      return std::monostate();
    }
    const std::vector<std::string> known = {"schedule", "chunks", "microbatches",
                                            "send",     "link",   "latency"};
    return fail(ErrorCode::bad_input, fmt::format("a pipeline has no '{}'", word), "",
                name_hint(word, known));
  }

  Result<Seconds> duration(const std::string& text) const {
    auto time = parse_seconds(text);
    if (time && !(*time >= Seconds(0) && *time <= Seconds(3600))) {
      return refuse(fmt::format("'{}' is no time from 0 to an hour", text));
    }
    return time;
  }

  Result<std::monostate> parse_term() {
    const std::string word = tokens_[next_++].text;
    if (edit_.kind == EditKind::pipeline || edit_.kind == EditKind::data_ranks) {
      ORRERY_TRY(const bool read, parse_link_term(word));
      if (read) return std::monostate();
    }
    if (edit_.kind == EditKind::pipeline) return parse_pipeline_term(word);
    if (word == "by" && grammar_->factor != Part::no) {
      ORRERY_TRY(const std::string text, argument(word));
      return once(edit_.factor, parse_factor(text), word);
    }
    if (word == "to" && grammar_->time != Part::no) {
      ORRERY_TRY(const std::string text, argument(word));
      return once(edit_.time, duration(text), word);
    }
    if (grammar_->where == Part::no) return refuse(fmt::format("'{}' is too much", word));
    Selection& where = edit_.where;
    if (word == "kernel") return pattern(where.kernel, word);
    if (word == "operator") return pattern(where.op, word);
    if (word == "shape") return pattern(where.shape, word);
    if (word == "collective") return pattern(where.collective, word);
    if (word == "group") return pattern(where.group, word);
    if (word == "host") {
      where.host = true;
      return std::monostate();
    }
    if (word == "class") {
      if (auto read = pattern(where.kernel_class, word); !read) return read;
      const std::vector<std::string> known = known_classes();
      if (std::find(known.begin(), known.end(), where.kernel_class) != known.end()) {
        return std::monostate();
      }
      return fail(ErrorCode::bad_input, fmt::format("there is no class '{}'", where.kernel_class),
                  "", name_hint(where.kernel_class, known));
    }
    if (word == "rank" || word == "stream") {
      ORRERY_TRY(const std::string text, argument(word));
      return once(word == "rank" ? where.rank : where.stream, parse_whole(text, 0), word);
    }
    const std::vector<std::string> known = {"kernel", "class", "operator", "shape", "collective",
                                            "group",  "rank",  "stream",   "host"};
    return fail(ErrorCode::bad_input, fmt::format("'{}' selects nothing", word), "",
                name_hint(word, known));
  }

  Result<Edit> complete() {
    if (grammar_->where == Part::must && edit_.where.everything()) {
      return refuse(fmt::format("'{}' does not say what is meant", edit_.verb));
    }
    if (grammar_->factor == Part::must && !edit_.factor) return refuse("'by' is missing");
    if (grammar_->time == Part::must && !edit_.time) return refuse("'to' is missing");
    if (grammar_->time == Part::may && edit_.factor.has_value() == edit_.time.has_value()) {
      return refuse("one of 'by' and 'to' is needed");
    }
    if (edit_.kind == EditKind::data_ranks && (edit_.size || edit_.rate) &&
        !edit_.where.everything()) {
      return refuse("reductions are added for a whole run");
    }
    if (edit_.kind == EditKind::bandwidth && !(*edit_.factor > 0)) {
      return refuse("without bandwidth nothing ends");
    }
    const bool adds = edit_.kind == EditKind::pipeline || edit_.kind == EditKind::data_ranks;
    if (adds && edit_.time && !edit_.rate) {
      return refuse("a latency needs its link");
    }
    return edit_;
  }

  const std::vector<Token>& tokens_;
  const Grammar* grammar_ = nullptr;
  std::size_t next_ = 0;
  Edit edit_;
};

// A pattern as it must be written to be one word.
std::string word_text(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_of(" \t\r\n;#") == std::string::npos;
  return plain ? text : "\"" + text + "\"";
}

// Of an edit that adds ranks.
std::string ranks_text(const Edit& edit) {
  std::string out = fmt::format("{} {}", edit.verb, edit.count);
  if (!edit.name.empty()) out += " schedule " + word_text(edit.name);
  if (edit.chunks > 0) out += fmt::format(" chunks {}", edit.chunks);
  if (edit.microbatches > 0) out += fmt::format(" microbatches {}", edit.microbatches);
  if (edit.size) {
    const char* word = edit.kind == EditKind::pipeline ? "send" : "gradients";
    out += fmt::format(" {} \"{}\"", word, to_exact_text(*edit.size));
  }
  if (edit.rate) out += " link \"" + to_exact_text(*edit.rate) + "\"";
  if (edit.time) out += " latency \"" + to_exact_text(*edit.time) + "\"";
  return out;
}

}  // namespace

Result<std::vector<Edit>> parse_edits(std::string_view text, const std::string& name) {
  ORRERY_TRY(const std::vector<Statement> statements, statements_of(text, name));
  if (statements.size() > kMostEdits) {
    return fail(ErrorCode::bad_input, fmt::format("there are {} edits", statements.size()), name,
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
  if (edit.kind == EditKind::pipeline ||
      (edit.kind == EditKind::data_ranks && (edit.size || edit.rate))) {
    return ranks_text(edit);
  }
  std::string out = edit.verb;
  if (edit.size) out += " \"" + to_exact_text(*edit.size) + "\"";
  if (edit.from > 0) {
    out += fmt::format(" {} to {}", edit.from, edit.count);
  } else if (edit.count > 0) {
    out += fmt::format(" {}", edit.count);
  }
  if (!edit.name.empty()) out += " " + word_text(edit.name);
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
  if (edit.time) out += " to \"" + to_exact_text(*edit.time) + "\"";
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
