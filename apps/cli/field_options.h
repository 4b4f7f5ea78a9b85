// Options that say what a field of a specification says: --step-at is its field step_at.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"

namespace orrery::cli {

// Of a number where the text is one.
Value scalar(const std::string& text);

// Where the field of an option stands: at the top of its section or in `step` of it; or elsewhere,
// or not as the option writes it.
enum class Field { top, step, other };

struct FieldOption {
  const char* name;  // without its --
  const char* sentence;
  Field field = Field::top;
};

class FieldOptions {
 public:
  void add(CLI::App* app, std::span<const FieldOption> options);
  // The text of an option that was added; empty if it was not given.
  [[nodiscard]] const std::string& operator[](std::string_view name) const;
  // The text of an option that not every command has; null if there is no such option or it was not
  // given.
  [[nodiscard]] const std::string* find(std::string_view name) const;
  // The names of those that were given, in alphabetical order.
  [[nodiscard]] std::vector<std::string> given(Field where) const;
  // Sets the fields of those that were given.
  void write(Field where, Value& fields) const;

 private:
  struct Text {
    Field field = Field::other;
    std::string text;
  };
  std::map<std::string, Text, std::less<>> texts_;
};

}  // namespace orrery::cli
