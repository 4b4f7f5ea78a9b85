// Describes the keys of a document. Error messages, JSON schemas and the page of keys are made from
// it, for inputs (fields.h) and for results (results.h).
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

// The JSON Schema (draft 2020-12) of documents with that description. Only described keys are
// allowed. A map with a name is defined once, under "$defs".
Value json_schema(const Description& document, std::string_view title);

// The same as Markdown: one table of keys for the document and one for each map within it, in the
// order of appearance. `written` lists the maps for which the page already has a table.
std::string key_tables(const Description& document, std::vector<const Description*>& written);

}  // namespace orrery
