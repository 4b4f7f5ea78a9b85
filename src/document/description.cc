#include "document/description.h"

#include <algorithm>

namespace orrery {

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

}  // namespace orrery
