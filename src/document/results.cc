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
    out.fields.push_back(
        {std::string(field.name()), field.need, std::move(shape), std::string(field.sentence)});
  }
  return out;
}

Value written(std::span<const ResultField> fields, const void* row, const void* context) {
  Value out = Value::map();
  for (const ResultField& field : fields) {
    std::optional<Value> value = field.value(field, row, context);
    if (!value) continue;
    if (field.within == nullptr) {
      out.append_member(std::string(field.name()), std::move(*value));
    } else {
      for (const auto& [key, inner] : value->members()) out.append_member(key, inner);
    }
  }
  return out;
}

Value map_of(std::initializer_list<Member> members) {
  Value out = Value::map();
  for (const Member& member : members) out.append_member(member.key, member.value);
  return out;
}

}  // namespace orrery
