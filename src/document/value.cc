#include "document/value.h"

#include <charconv>
#include <cmath>

#include "outcome/invariant.h"

namespace orrery {

Value Value::boolean(bool b) { return scalar(Kind::boolean, b ? "true" : "false", 0); }

Value Value::number(double d) {
  ORRERY_INVARIANT(std::isfinite(d));
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, d);
  ORRERY_INVARIANT(error == std::errc());
  return scalar(Kind::number, std::string(buffer, end), 0);
}

Value Value::number(std::int64_t i) { return scalar(Kind::number, std::to_string(i), 0); }

Value Value::text(std::string s) { return scalar(Kind::text, std::move(s), 0); }

Value Value::scalar(Kind kind, std::string raw, int line) {
  Value v(kind);
  v.text_ = std::move(raw);
  v.line_ = line;
  return v;
}

const Value* Value::find(std::string_view key) const {
  for (const auto& [k, v] : members_) {
    if (k == key) return &v;
  }
  return nullptr;
}

Value& Value::append(Value v) {
  ORRERY_INVARIANT(kind_ == Kind::list);
  items_.push_back(std::move(v));
  return *this;
}

Value& Value::set(std::string key, Value v) {
  ORRERY_INVARIANT(kind_ == Kind::map);
  for (auto& [k, existing] : members_) {
    if (k == key) {
      existing = std::move(v);
      return *this;
    }
  }
  members_.emplace_back(std::move(key), std::move(v));
  return *this;
}

void Value::append_member(std::string key, Value v) {
  ORRERY_INVARIANT(kind_ == Kind::map);
  members_.emplace_back(std::move(key), std::move(v));
}

}  // namespace orrery
