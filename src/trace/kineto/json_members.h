// Iterates over the members of one JSON object, which it finds by brackets and quotes only.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace orrery {

struct JsonMember {
  std::string_view key;  // without its quotes, escapes not resolved
  std::string_view value;
};

class JsonMembers {
 public:
  explicit JsonMembers(std::string_view object) : text_(object) {}

  // Nothing after the last member, or if the text is not an object.
  std::optional<JsonMember> next();
  // Whether the closing brace was reached.
  [[nodiscard]] bool whole() const { return whole_; }

 private:
  void skip_space();

  std::string_view text_;
  std::size_t at_ = 0;
  bool whole_ = false;
};

}  // namespace orrery
