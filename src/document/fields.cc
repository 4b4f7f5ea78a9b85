#include "document/fields.h"

#include <algorithm>
#include <cmath>

#include "outcome/parsed_number.h"

namespace orrery {

Result<bool> read_boolean(const Value& v) {
  if (v.kind() == Value::Kind::boolean) return v.scalar_text() == "true";
  return bad_input("'" + v.scalar_text() + "' is not a truth value", "", "true or false");
}

Result<double> read_real(const Value& v) {
  const std::string& s = v.scalar_text();
  const auto d = parsed_number<double>(s);
  if (v.kind() == Value::Kind::number && d && std::isfinite(*d)) return *d;
  return bad_input("'" + s + "' is not a finite number");
}

Result<std::int64_t> read_integer(const Value& v) {
  const std::string& s = v.scalar_text();
  const auto i = parsed_number<std::int64_t>(s);
  if (v.kind() == Value::Kind::number && i) return *i;
  // "1e6" and "4096.0" are whole numbers too.
  auto d = read_real(v);
  if (d && std::abs(*d) < 9e15 && std::floor(*d) == *d) return static_cast<std::int64_t>(*d);
  return bad_input("'" + s + "' is not a whole number");
}

Result<std::string> read_text(const Value& v) {
  if (!v.is_scalar() || v.kind() == Value::Kind::null) return bad_input("expected text");
  return v.scalar_text();
}

FieldTable::FieldTable(std::string_view name) : description_{std::string(name), {}, {}} {}

void FieldTable::add(std::string_view key, const MemberType& type, std::ptrdiff_t offset,
                     std::string_view sentence, Need need) {
  description_.fields.push_back({std::string(key), need, type.shape(), std::string(sentence)});
  members_.push_back({&type, offset});
}

std::string FieldTable::article() const {
  const bool vowel = std::string_view("aeio").find(name().front()) != std::string_view::npos;
  return vowel ? "an " : "a ";
}

namespace {

std::string place(const Value& v, const std::string& key) {
  std::string out = v.line() > 0 ? "line " + std::to_string(v.line()) : "";
  if (!key.empty()) out += (out.empty() ? "" : ", ") + key;
  return out;
}

const void* at_offset(const void* row, std::ptrdiff_t offset) {
  return static_cast<const std::byte*>(row) + offset;
}

}  // namespace

Result<void> FieldTable::read(const Value& v, void* row) const {
  if (v.kind() != Value::Kind::map) {
    return bad_input("expected a map with the fields of " + article() + name(), place(v, ""));
  }
  for (const auto& [key, value] : v.members()) {
    const auto field = std::ranges::find(fields(), key, &FieldDescription::key);
    if (field == fields().end()) {
      std::vector<std::string> keys;
      for (const FieldDescription& f : fields()) keys.push_back(f.key);
      return bad_input("unknown field '" + key + "' in " + name(), place(value, ""),
                       name_hint(key, keys));
    }
    if (value.kind() == Value::Kind::null && field->need == Need::optional) continue;
    const Member& member = members_[static_cast<std::size_t>(field - fields().begin())];
    auto* begin = static_cast<std::byte*>(row) + member.offset;
    if (auto r = member.type->read(value, begin); !r) {
      // A value within this one that has been located already states its own line.
      const bool located = r.error().where.find("line ") != std::string::npos;
      return fail(at(located ? key : place(value, key), r.error()));
    }
  }
  for (const FieldDescription& field : fields()) {
    if (field.need == Need::required && v.find(field.key) == nullptr) {
      return bad_input("missing field '" + field.key + "' in " + name(), place(v, ""),
                       to_text(field.shape) + ": " + field.sentence);
    }
  }
  return {};
}

Value FieldTable::write(const void* row, const void* initial) const {
  Value out = Value::map();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto& [type, offset] = members_[i];
    const void* member = at_offset(row, offset);
    if (fields()[i].need == Need::required || !type->equal(member, at_offset(initial, offset))) {
      out.set(fields()[i].key, type->write(member));
    }
  }
  return out;
}

Value FieldTable::write_all(const void* row) const {
  Value out = Value::map();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto& [type, offset] = members_[i];
    out.append_member(fields()[i].key, type->write_all(at_offset(row, offset)));
  }
  return out;
}

}  // namespace orrery
