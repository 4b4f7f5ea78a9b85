#include "document/fields.h"

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

}  // namespace orrery
