// Builds a Value tree from the events of a parser and enforces the limits of value.h.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "document/value.h"

namespace orrery {

class DocumentBuilder {
 public:
  // Every function returns false once a limit was exceeded or a key was repeated; error() says
  // which.
  bool scalar(Value value);
  bool key(std::string name, int line);
  bool begin(Value container);
  bool end();

  [[nodiscard]] bool failed() const { return !error_.message.empty(); }
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] bool has_root() const { return has_root_; }
  // True when the innermost open container is a map.
  [[nodiscard]] bool in_map() const {
    return !open_.empty() && open_.back().value.kind() == Value::Kind::map;
  }
  [[nodiscard]] bool expects_key() const { return in_map() && !open_.back().has_key; }
  Value take_root() { return std::move(root_); }
  bool refuse(std::string message, int line);

 private:
  struct Open {
    Value value;
    std::string key;
    bool has_key = false;
    std::unordered_set<std::string> keys;  // of a wide map, where a linear search would be slow
  };
  static bool is_given(Open& map, const std::string& key);
  bool place(Value value);

  std::vector<Open> open_;
  Value root_;
  bool has_root_ = false;
  std::size_t count_ = 0;
  Error error_;
};

}  // namespace orrery
