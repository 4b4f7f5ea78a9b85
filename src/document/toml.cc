// TOML by toml++, as a Value tree with the limits of DocumentBuilder.
#include "document/toml.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "document/document_builder.h"

namespace orrery {
namespace {

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

// Numbers and dates as TOML writes them.
template <class T>
Value scalar(Value::Kind kind, const toml::value<T>& node) {
  std::ostringstream text;
  text << toml::toml_formatter(node);
  return Value::scalar(kind, text.str(), line_of(node));
}

bool build(DocumentBuilder& out, const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Value map = Value::map();
    map.set_line(line_of(node));
    if (!out.begin(std::move(map))) return false;
    for (const auto& [key, child] : *table) {
      if (!out.key(std::string(key.str()), line_of(child)) || !build(out, child)) return false;
    }
    return out.end();
  }
  if (const auto* array = node.as_array()) {
    Value list = Value::list();
    list.set_line(line_of(node));
    if (!out.begin(std::move(list))) return false;
    for (const toml::node& child : *array) {
      if (!build(out, child)) return false;
    }
    return out.end();
  }
  const int line = line_of(node);
  if (const auto* text = node.as_string()) {
    return out.scalar(Value::scalar(Value::Kind::text, text->get(), line));
  }
  if (const auto* flag = node.as_boolean()) {
    return out.scalar(Value::scalar(Value::Kind::boolean, flag->get() ? "true" : "false", line));
  }
  if (const auto* whole = node.as_integer()) {
    return out.scalar(Value::scalar(Value::Kind::number, std::to_string(whole->get()), line));
  }
  if (const auto* real = node.as_floating_point()) {
    if (!std::isfinite(real->get())) return out.scalar(scalar(Value::Kind::text, *real));
    return out.scalar(
        Value::scalar(Value::Kind::number, Value::number(real->get()).scalar_text(), line));
  }
  std::string text;
  if (const auto* date = node.as_date()) text = scalar(Value::Kind::text, *date).scalar_text();
  if (const auto* time = node.as_time()) text = scalar(Value::Kind::text, *time).scalar_text();
  if (const auto* both = node.as_date_time()) text = scalar(Value::Kind::text, *both).scalar_text();
  return out.scalar(Value::scalar(Value::Kind::text, text, line));
}

}  // namespace

Result<Document> parse_toml(std::string_view text, std::string name) {
  // toml++ 3.3 does not define what becomes of some characters beyond ASCII.
  const auto beyond = std::ranges::find_if(text, [](char c) { return (c & 0x80) != 0; });
  if (beyond != text.end()) {
    return bad_input("a character beyond ASCII",
                     name + ": line " + std::to_string(1 + std::count(text.begin(), beyond, '\n')),
                     "leave it out of comments, and write it as \\uXXXX in texts");
  }
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return bad_input("not valid TOML: " + std::string(error.description()),
                     name + ": line " + std::to_string(error.source().begin.line));
  }
  DocumentBuilder builder;
  if (!build(builder, parsed.table())) return fail(at(std::move(name), builder.error()));
  return Document{std::move(name), builder.take_root()};
}

}  // namespace orrery
