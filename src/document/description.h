// Describes the keys of a document. Error messages are made from it, and what documents them: JSON
// schemas and the page of keys; for inputs (fields.h) and for results (results.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"

namespace orrery {

struct Description;

// The values that are allowed.
struct ValueShape {
  enum class Kind { boolean, integer, number, text, list, map };

  Kind kind = Kind::text;
  bool nullable = false;
  bool unsigned_integer = false;          // never below zero
  std::vector<std::string> names = {};    // of a text: all that are allowed; empty: any
  std::string example = {};               // of a quantity with its unit
  std::optional<Value> constant = {};     // the only value, if there is one
  std::vector<ValueShape> item = {};      // of a list: one entry, the shape of its items
  const Description& (*map)() = nullptr;  // of a map: its keys
};

enum class Need { required, optional };

struct FieldDescription {
  std::string key;
  Need need = Need::optional;
  ValueShape shape;
  std::string sentence;  // what the value means
};

struct Description {
  std::string name;      // "accelerator", as it is called in messages; may be empty
  std::string sentence;  // what the map means; may be empty
  std::vector<FieldDescription> fields;
};

// Whether two maps have the same name, sentence and keys. A type whose table several files see has a
// description in each, so an address tells nothing.
bool same_map(const Description& a, const Description& b);

// What is expected, in words: "list of port", "ring | full-mesh".
std::string to_text(const ValueShape& shape);

}  // namespace orrery
