#include "document/result_key.h"

namespace orrery {

std::optional<Value> value_of_key(std::span<const ResultField> fields, std::string_view key,
                                  const void* row, const void* context) {
  for (const ResultField& field : fields) {
    if (field.within != nullptr) continue;
    if (key != (field.key_of != nullptr ? field.key_of() : field.key)) continue;
    Value out = Value::map();
    field.add(out, field, row, context);
    if (out.members().empty()) return std::nullopt;
    return out.members().front().second;
  }
  return std::nullopt;
}

}  // namespace orrery
