// A document that was read (YAML or JSON) or will be written: a tree of values that remember their
// line, for error messages.
//
// Scalars keep their text; the type of a field determines how it is read (fields.h). This interface
// is independent of yaml-cpp and RapidJSON. Limits against hostile input: at most kMaxValues
// values, nesting of kMaxDepth, no YAML anchors or aliases, no duplicate keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outcome/result.h"

namespace orrery {

class Value {
 public:
  enum class Kind { null, boolean, number, text, list, map };

  Value() = default;
  static Value null() { return {}; }
  static Value boolean(bool b);
  static Value number(double d);  // d must be finite
  static Value number(std::int64_t i);
  static Value text(std::string s);
  static Value list() { return Value(Kind::list); }
  static Value map() { return Value(Kind::map); }
  // A scalar whose raw text was read; kind null, boolean, number or text.
  static Value scalar(Kind kind, std::string raw, int line);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_scalar() const { return kind_ != Kind::list && kind_ != Kind::map; }
  // The text of a scalar as written ("4096", "true", "80 GiB"); empty for list and map.
  [[nodiscard]] const std::string& scalar_text() const { return text_; }
  [[nodiscard]] const std::vector<Value>& items() const { return items_; }
  [[nodiscard]] const std::vector<std::pair<std::string, Value>>& members() const {
    return members_;
  }
  // The member of that key, or nullptr.
  [[nodiscard]] const Value* find(std::string_view key) const;
  // 1-based line in the source text; 0 if the value was not read from a text.
  [[nodiscard]] int line() const { return line_; }
  void set_line(int line) { line_ = line; }

  Value& append(Value v);                        // to a list
  Value& set(std::string key, Value v);          // in a map: replaces or appends; returns *this
  void append_member(std::string key, Value v);  // in a map, where the key is known to be new

 private:
  explicit Value(Kind kind) : kind_(kind) {}
  Kind kind_ = Kind::null;
  int line_ = 0;
  std::string text_;
  std::vector<Value> items_;
  std::vector<std::pair<std::string, Value>> members_;
};

inline constexpr std::size_t kMaxValues = 1'000'000;
inline constexpr std::size_t kMaxDepth = 64;

// A parsed file: its name (for messages) and its root.
struct Document {
  std::string name;
  Value root;
};

// `name` is only used in messages. Errors: syntax (with line), limits above, empty document.
Result<Document> parse_yaml(std::string_view text, std::string name);
Result<Document> parse_json(std::string_view text, std::string name);

// Reads a file ("-" is standard input) whole. Errors: absent, a directory, unreadable, larger than
// `limit` bytes.
Result<std::string> read_file(const std::string& path, std::size_t limit = 64u << 20);

// Reads and parses by extension: .json as JSON, everything else as YAML. Text on standard input
// that begins with '{' is read as JSON. A text that is a relative path of something beside the file
// becomes its path from the working directory, whatever its key; other texts stay as written, so
// that paths from the working directory are understood too.
Result<Document> read_document(const std::string& path);

// Writes the whole file or nothing (new_file.h). Errors: io.
Result<void> write_file(const std::string& path, std::string_view text);

// Two-space indented; one trailing newline. Deterministic.
std::string to_json(const Value& value);
std::string to_yaml(const Value& value);

}  // namespace orrery
