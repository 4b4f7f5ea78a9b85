#include "report/answer_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "report/documents.h"

namespace orrery {
namespace {

// "near_miss", "estimate document", "trace-replay" -> "NearMiss", "EstimateDocument",
// "TraceReplay".
std::string upper_camel(std::string_view words) {
  std::string out;
  bool begin = true;
  for (const char c : words) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      begin = true;
      continue;
    }
    out += begin ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begin = false;
  }
  return out;
}

struct Naming {
  std::vector<AnswerClass> classes;
  std::vector<const Description*> met;

  bool taken(const std::string& name) const {
    return std::ranges::find(classes, name, &AnswerClass::name) != classes.end();
  }

  void shape(const ValueShape& of, const std::string& document, const std::string& otherwise) {
    if (of.kind == ValueShape::Kind::list && !of.item.empty()) {
      shape(of.item[0], document, otherwise);
    }
    if (of.kind == ValueShape::Kind::map) map(of.map(), document, otherwise);
  }

  void map(const Description& of, const std::string& document, const std::string& otherwise) {
    if (std::ranges::any_of(met, [&](const Description* m) { return same_map(*m, of); })) return;
    met.push_back(&of);
    std::string name = of.name.empty() ? otherwise : upper_camel(of.name);
    for (const FieldDescription& field : of.fields) {
      shape(field.shape, document, name + upper_camel(field.key));
    }
    if (taken(name)) name = document + name;
    for (int i = 2; taken(name); ++i)
      name = fmt::format("{}{}{}", document, upper_camel(of.name), i);
    classes.push_back({std::move(name), &of});
  }
};

std::string type_of(const ValueShape& shape) {
  std::string out;
  switch (shape.kind) {
    case ValueShape::Kind::boolean:
      out = "bool";
      break;
    case ValueShape::Kind::integer:
      out = "int";
      break;
    case ValueShape::Kind::number:
      out = "float";
      break;
    case ValueShape::Kind::text:
      out = "str";
      if (!shape.names.empty()) {
        out = "Literal[";
        for (const std::string& name : shape.names) {
          out += fmt::format("{}\"{}\"", out.back() == '[' ? "" : ", ", name);
        }
        out += "]";
      }
      break;
    case ValueShape::Kind::list:
      out = fmt::format("Records[{}]", shape.item.empty() ? "Any" : type_of(shape.item[0]));
      break;
    case ValueShape::Kind::map:
      out = answer_class(shape.map())->name;
      break;
  }
  return shape.nullable ? out + " | None" : out;
}

// Whether the key can be read as an attribute; others are items alone.
bool is_attribute(std::string_view key) {
  static constexpr auto kKeywords = std::to_array<std::string_view>(
      {"and",    "as",   "assert", "async",  "await",  "break",   "class",    "continue",
       "def",    "del",  "elif",   "else",   "except", "finally", "for",      "from",
       "global", "if",   "import", "in",     "is",     "lambda",  "nonlocal", "not",
       "or",     "pass", "raise",  "return", "try",    "while",   "with",     "yield"});
  return std::ranges::find(kKeywords, key) == kKeywords.end() &&
         std::ranges::all_of(key, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
         });
}

std::string documentation(const std::string& text) {
  std::string out = R"(""")";
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out + R"(""")";
}

}  // namespace

const std::vector<AnswerClass>& answer_classes() {
  static const std::vector<AnswerClass> kClasses = [] {
    Naming naming;
    for (const DocumentKind& kind : document_kinds()) {
      const std::string document = upper_camel(kind.name.substr(0, kind.name.rfind('-')));
      naming.map(kind.description(), document, document);
    }
    return naming.classes;
  }();
  return kClasses;
}

const AnswerClass* answer_class(const Description& map) {
  for (const AnswerClass& one : answer_classes()) {
    if (same_map(*one.description, map)) return &one;
  }
  return nullptr;
}

std::string python_stubs() {
  std::string out =
      "# Written by `make schema` from the tables of keys that also write the JSON documents.\n"
      "from typing import Any, Literal\n\n"
      "from orrery import Record, Records\n";
  for (const AnswerClass& one : answer_classes()) {
    out += fmt::format("\nclass {}(Record):\n", one.name);
    if (!one.description->sentence.empty()) {
      out += "    " + documentation(one.description->sentence) + "\n";
    }
    for (const FieldDescription& field : one.description->fields) {
      if (!is_attribute(field.key)) continue;
      std::string type = type_of(field.shape);
      if (field.need == Need::optional && !field.shape.nullable) type += " | None";
      out += fmt::format("    {}: {}\n", field.key, type);
      if (!field.sentence.empty()) out += "    " + documentation(field.sentence) + "\n";
    }
    if (one.description->fields.empty()) out += "    ...\n";
  }
  return out;
}

}  // namespace orrery
