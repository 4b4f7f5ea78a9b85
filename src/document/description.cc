#include "document/description.h"

#include <algorithm>
#include <utility>

#include "outcome/invariant.h"

namespace orrery {
namespace {

std::string_view json_type(ValueShape::Kind kind) {
  switch (kind) {
    case ValueShape::Kind::boolean:
      return "boolean";
    case ValueShape::Kind::integer:
      return "integer";
    case ValueShape::Kind::number:
      return "number";
    case ValueShape::Kind::text:
      return "string";
    case ValueShape::Kind::list:
      return "array";
    case ValueShape::Kind::map:
      return "object";
  }
  return "?";
}

Value text(std::string_view t) { return Value::text(std::string(t)); }

// References are addresses, which hold no spaces.
std::string name_in_reference(const Description& map) {
  std::string out = map.name;
  std::ranges::replace(out, ' ', '_');
  return out;
}

class SchemaWriter {
 public:
  Value document(const Description& root, std::string_view title) {
    Value out = Value::map();
    out.set("$schema", text("https://json-schema.org/draft/2020-12/schema"));
    out.set("title", text(title));
    add_map(out, root);
    if (!definitions_.members().empty()) out.set("$defs", definitions_);
    return out;
  }

 private:
  void add_map(Value& out, const Description& map) {
    out.set("type", text("object"));
    if (!map.sentence.empty()) out.set("description", text(map.sentence));
    Value properties = Value::map();
    Value required = Value::list();
    for (const FieldDescription& field : map.fields) {
      Value rule = rule_of(field.shape);
      rule.set("description", text(field.sentence));
      properties.append_member(field.key, std::move(rule));
      if (field.need == Need::required) required.append(text(field.key));
    }
    out.set("properties", std::move(properties));
    if (!required.items().empty()) out.set("required", std::move(required));
    out.set("additionalProperties", Value::boolean(false));
  }

  Value reference(const Description& map) {
    if (map.name.empty()) {
      Value out = Value::map();
      add_map(out, map);
      return out;
    }
    const auto known =
        std::ranges::find_if(defined_, [&](const Description* d) { return d->name == map.name; });
    if (known == defined_.end()) {
      defined_.push_back(&map);
      definitions_.set(name_in_reference(map), Value::null());  // in the order they are met
      Value definition = Value::map();
      add_map(definition, map);
      definitions_.set(name_in_reference(map), std::move(definition));
    } else {
      ORRERY_INVARIANT(*known == &map);  // two maps of one document have one name
    }
    Value out = Value::map();
    out.set("$ref", text("#/$defs/" + name_in_reference(map)));
    return out;
  }

  Value rule_of(const ValueShape& shape) {
    if (shape.kind == ValueShape::Kind::map) {
      Value map = reference(shape.map());
      if (!shape.nullable) return map;
      Value null = Value::map();
      null.set("type", text("null"));
      return Value::map().set("anyOf",
                              Value::list().append(std::move(map)).append(std::move(null)));
    }
    Value out = Value::map();
    Value types = text(json_type(shape.kind));
    if (shape.nullable) types = Value::list().append(std::move(types)).append(text("null"));
    out.set("type", std::move(types));
    if (shape.constant) out.set("const", *shape.constant);
    if (shape.unsigned_integer) out.set("minimum", Value::number(std::int64_t{0}));
    if (!shape.names.empty()) {
      Value names = Value::list();
      for (const std::string& name : shape.names) names.append(text(name));
      if (shape.nullable) names.append(Value::null());
      out.set("enum", std::move(names));
    }
    for (const ValueShape& item : shape.item) out.set("items", rule_of(item));
    return out;
  }

  std::vector<const Description*> defined_;
  Value definitions_ = Value::map();
};

// The map within a shape, if it has a table of its own.
const Description* map_within(const ValueShape& shape) {
  if (shape.kind == ValueShape::Kind::map) return shape.map().name.empty() ? nullptr : &shape.map();
  return shape.item.empty() ? nullptr : map_within(shape.item[0]);
}

std::string escaped(std::string_view cell) {
  std::string out;
  for (const char c : cell) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string to_text(const ValueShape& shape) {
  switch (shape.kind) {
    case ValueShape::Kind::boolean:
      return "true or false";
    case ValueShape::Kind::integer:
      return "integer";
    case ValueShape::Kind::number:
      return "number";
    case ValueShape::Kind::list:
      return "list of " + to_text(shape.item.at(0));
    case ValueShape::Kind::map: {
      if (!shape.map().name.empty()) return shape.map().name;
      std::string keys;
      for (const FieldDescription& f : shape.map().fields) {
        keys += (keys.empty() ? "map of " : ", ") + f.key;
      }
      return keys;
    }
    case ValueShape::Kind::text:
      break;
  }
  if (shape.constant) return "\"" + shape.constant->scalar_text() + "\"";
  if (!shape.example.empty()) return "quantity such as \"" + shape.example + "\"";
  std::string out;
  for (const std::string& name : shape.names) out += (out.empty() ? "" : " | ") + name;
  return out.empty() ? "text" : out;
}

bool same_map(const Description& a, const Description& b) {
  if (&a == &b) return true;
  return a.name == b.name && a.sentence == b.sentence &&
         std::ranges::equal(a.fields, b.fields,
                            [](const FieldDescription& x, const FieldDescription& y) {
                              return x.key == y.key && x.sentence == y.sentence &&
                                     x.need == y.need && to_text(x.shape) == to_text(y.shape);
                            });
}

Value json_schema(const Description& document, std::string_view title) {
  return SchemaWriter().document(document, title);
}

std::string key_tables(const Description& document, std::vector<const Description*>& written) {
  std::vector<const Description*> queue = {&document};
  std::string out;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Description& map = *queue[i];
    if (std::ranges::any_of(written,
                            [&](const Description* other) { return same_map(*other, map); })) {
      continue;
    }
    written.push_back(&map);
    if (i > 0) out += "\n**" + map.name + "**: " + map.sentence + "\n\n";
    out += "| key | value | meaning |\n| --- | --- | --- |\n";
    for (const FieldDescription& field : map.fields) {
      out += "| `" + field.key + "` | " + escaped(to_text(field.shape)) +
             (field.shape.nullable ? " or null" : "") +
             (field.need == Need::optional ? ", may be absent" : "") + " | " +
             escaped(field.sentence) + " |\n";
      if (const Description* inner = map_within(field.shape)) queue.push_back(inner);
    }
  }
  return out;
}

}  // namespace orrery
