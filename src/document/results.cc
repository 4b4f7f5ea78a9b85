#include "document/results.h"

namespace orrery {

Description described(std::string_view name, std::string_view sentence,
                      std::span<const ResultField> fields) {
  Description out{std::string(name), std::string(sentence), {}};
  for (const ResultField& field : fields) {
    if (field.within != nullptr) {
      const auto& inner = field.within().fields;
      out.fields.insert(out.fields.end(), inner.begin(), inner.end());
      continue;
    }
    ValueShape shape = field.shape();
    if (!field.constant.empty()) shape.constant = Value::text(std::string(field.constant));
    const std::string_view key = field.key_of != nullptr ? field.key_of() : field.key;
    out.fields.push_back(
        {std::string(key), field.need, std::move(shape), std::string(field.sentence)});
  }
  return out;
}

Value written(std::span<const ResultField> fields, const void* row, const void* context) {
  Value out = Value::map();
  for (const ResultField& field : fields) field.add(out, field, row, context);
  return out;
}

Value map_of(std::initializer_list<Member> members) {
  Value out = Value::map();
  for (const Member& member : members) out.append_member(member.key, member.value);
  return out;
}

}  // namespace orrery
