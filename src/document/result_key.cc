#include "document/result_key.h"

namespace orrery {

std::optional<Value> value_of_key(std::span<const ResultField> fields, std::string_view key,
                                  const void* row, const void* context) {
  for (const ResultField& field : fields) {
    if (field.within == nullptr && key == field.name()) return field.value(field, row, context);
  }
  return std::nullopt;
}

}  // namespace orrery
