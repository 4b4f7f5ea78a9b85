// One table of fields per description: the source of its reader, writer, error messages and schema.
//
//   struct Link { std::string name; BytesPerSecond bandwidth; Seconds latency; };
//   const Fields<Link>& fields_of(const Link*) {
//     static const Fields<Link> table = Fields<Link>("link")
//         .required("name", &Link::name, "identifier")
//         .required("bandwidth", &Link::bandwidth, "one direction")
//         .optional("latency", &Link::latency, "end to end");
//     return table;
//   }
//   Result<Link> link = read<Link>(document);
//
// A member may be a bool, integer, double, string, quantity, enum with names_of(), optional,
// vector, or another description with fields_of() found by argument-dependent lookup. An optional
// field that is absent or null keeps the member's initial value, and is not written when it equals
// it. Unknown keys are errors with the nearest known key. Every error carries file, line and key
// path; all errors of one map are found in order, the first is returned.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "document/value.h"
#include "outcome/nearest_name.h"
#include "units/quantity.h"
#include "units/quantity_text.h"

namespace orrery {

template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  { names_of(e) } -> std::convertible_to<std::span<const EnumName<E>>>;
};

template <NamedEnum E>
std::string_view to_text(E e) {
  for (const auto& n : std::span<const EnumName<E>>(names_of(e))) {
    if (n.value == e) return n.name;
  }
  return "?";
}

// The enumerator of that name; '_' and '-' are the same. Error: unknown name, with the nearest one.
template <NamedEnum E>
Result<E> parse_enum(std::string_view text) {
  std::vector<std::string> known;
  std::string folded(text);
  std::replace(folded.begin(), folded.end(), '_', '-');
  for (const auto& n : std::span<const EnumName<E>>(names_of(E{}))) {
    std::string name(n.name);
    std::replace(name.begin(), name.end(), '_', '-');
    if (name == folded) return n.value;
    known.emplace_back(n.name);
  }
  return fail(ErrorCode::bad_input, "unknown value '" + std::string(text) + "'", "",
              name_hint(text, known));
}

template <class T>
class Fields;

template <class T>
concept Described = requires(const T* t) {
  { fields_of(t) } -> std::convertible_to<const Fields<T>&>;
};

// How one member type is read, written and named in a schema.
template <class T>
struct Codec;

// ---- scalars ----

Result<bool> read_boolean(const Value& v);
Result<std::int64_t> read_integer(const Value& v);
Result<double> read_real(const Value& v);  // finite
Result<std::string> read_text(const Value& v);

template <>
struct Codec<bool> {
  static Result<bool> read(const Value& v) { return read_boolean(v); }
  static Value write(bool b) { return Value::boolean(b); }
  static std::string type() { return "true or false"; }
};

template <std::integral I>
  requires(!std::same_as<I, bool>)
struct Codec<I> {
  static Result<I> read(const Value& v) {
    ORRERY_TRY(const std::int64_t i, read_integer(v));
    if (!std::in_range<I>(i)) {
      return fail(ErrorCode::bad_input, "number " + v.scalar_text() + " is out of range", "",
                  "at most " + std::to_string(std::numeric_limits<I>::max()));
    }
    return static_cast<I>(i);
  }
  static Value write(I i) { return Value::number(static_cast<std::int64_t>(i)); }
  static std::string type() { return "integer"; }
};

template <>
struct Codec<double> {
  static Result<double> read(const Value& v) { return read_real(v); }
  static Value write(double d) { return Value::number(d); }
  static std::string type() { return "number"; }
};

template <>
struct Codec<std::string> {
  static Result<std::string> read(const Value& v) { return read_text(v); }
  static Value write(const std::string& s) { return Value::text(s); }
  static std::string type() { return "text"; }
};

template <NamedEnum E>
struct Codec<E> {
  static Result<E> read(const Value& v) {
    ORRERY_TRY(const std::string text, read_text(v));
    return parse_enum<E>(text);
  }
  static Value write(E e) { return Value::text(std::string(to_text(e))); }
  static std::string type() {
    std::string out;
    for (const auto& n : std::span<const EnumName<E>>(names_of(E{}))) {
      out += (out.empty() ? "" : " | ") + std::string(n.name);
    }
    return out;
  }
};

#define ORRERY_QUANTITY_CODEC(Type, parse, example)                          \
  template <>                                                                \
  struct Codec<Type> {                                                       \
    static Result<Type> read(const Value& v) {                               \
      ORRERY_TRY(const std::string text, read_text(v));                      \
      return parse(text);                                                    \
    }                                                                        \
    static Value write(Type q) { return Value::text(to_exact_text(q)); }     \
    static std::string type() { return "quantity such as \"" example "\""; } \
  }
ORRERY_QUANTITY_CODEC(Seconds, parse_seconds, "12 us");
ORRERY_QUANTITY_CODEC(Bytes, parse_bytes, "80 GiB");
ORRERY_QUANTITY_CODEC(BytesPerSecond, parse_bytes_per_second, "3.35 TB/s");
ORRERY_QUANTITY_CODEC(FlopsPerSecond, parse_flops_per_second, "989 TFLOP/s");
ORRERY_QUANTITY_CODEC(Hertz, parse_hertz, "1.98 GHz");
ORRERY_QUANTITY_CODEC(Watts, parse_watts, "700 W");
ORRERY_QUANTITY_CODEC(DollarsPerSecond, parse_dollars_per_second, "2.95 $/h");
#undef ORRERY_QUANTITY_CODEC

// ---- compounds ----

template <class T>
struct Codec<std::optional<T>> {
  static Result<std::optional<T>> read(const Value& v) {
    if (v.kind() == Value::Kind::null) return std::optional<T>();
    ORRERY_TRY(T t, Codec<T>::read(v));
    return std::optional<T>(std::move(t));
  }
  static Value write(const std::optional<T>& o) { return o ? Codec<T>::write(*o) : Value::null(); }
  static std::string type() { return Codec<T>::type(); }
};

template <class T>
struct Codec<std::vector<T>> {
  static Result<std::vector<T>> read(const Value& v) {
    if (v.kind() != Value::Kind::list) {
      return fail(ErrorCode::bad_input, "expected a list", "", "a list of " + Codec<T>::type());
    }
    std::vector<T> out;
    out.reserve(v.items().size());
    for (std::size_t i = 0; i < v.items().size(); ++i) {
      auto item = Codec<T>::read(v.items()[i]);
      if (!item) return fail(at("[" + std::to_string(i) + "]", item.error()));
      out.push_back(std::move(*item));
    }
    return out;
  }
  static Value write(const std::vector<T>& items) {
    Value out = Value::list();
    for (const T& t : items) out.append(Codec<T>::write(t));
    return out;
  }
  static std::string type() { return "list of " + Codec<T>::type(); }
};

template <Described T>
struct Codec<T> {
  static Result<T> read(const Value& v) {
    return fields_of(static_cast<const T*>(nullptr)).read(v);
  }
  static Value write(const T& t) { return fields_of(static_cast<const T*>(nullptr)).write(t); }
  static std::string type() { return fields_of(static_cast<const T*>(nullptr)).name(); }
};

// ---- the table ----

enum class Need { required, optional };

template <class T>
class Fields {
 public:
  struct Field {
    std::string key;
    Need need = Need::optional;
    std::string type;
    std::string doc;
    std::function<Result<std::monostate>(const Value&, T&)> read;
    std::function<Value(const T&)> write;
    std::function<bool(const T&, const T&)> equal;
  };

  // `name` is what the description is called in messages ("accelerator").
  explicit Fields(std::string name) : name_(std::move(name)) {}

  template <class M>
  Fields& required(std::string key, M T::* member, std::string doc) {
    return add(std::move(key), member, std::move(doc), Need::required);
  }
  template <class M>
  Fields& optional(std::string key, M T::* member, std::string doc) {
    return add(std::move(key), member, std::move(doc), Need::optional);
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }

  [[nodiscard]] Result<T> read(const Value& v) const {
    if (v.kind() != Value::Kind::map) {
      return fail(ErrorCode::bad_input, "expected a map with the fields of a " + name_,
                  place(v, ""));
    }
    T out{};
    for (const auto& [key, member] : v.members()) {
      const Field* field = find(key);
      if (field == nullptr) {
        return fail(ErrorCode::bad_input, "unknown field '" + key + "' in " + name_,
                    place(member, ""), name_hint(key, keys()));
      }
      if (member.kind() == Value::Kind::null && field->need == Need::optional) continue;
      if (auto r = field->read(member, out); !r) return fail(at(place(member, key), r.error()));
    }
    for (const Field& field : fields_) {
      if (field.need == Need::required && v.find(field.key) == nullptr) {
        return fail(ErrorCode::bad_input, "missing field '" + field.key + "' in " + name_,
                    place(v, ""), field.type + ": " + field.doc);
      }
    }
    return out;
  }

  [[nodiscard]] Value write(const T& t) const {
    const T initial{};
    Value out = Value::map();
    for (const Field& field : fields_) {
      if (field.need == Need::required || !field.equal(t, initial)) {
        out.set(field.key, field.write(t));
      }
    }
    return out;
  }

 private:
  template <class M>
  Fields& add(std::string key, M T::* member, std::string doc, Need need) {
    fields_.push_back(Field{std::move(key), need, Codec<M>::type(), std::move(doc),
                            [member](const Value& v, T& t) -> Result<std::monostate> {
                              auto m = Codec<M>::read(v);
                              if (!m) return fail(std::move(m.error()));
                              t.*member = std::move(*m);
                              return std::monostate{};
                            },
                            [member](const T& t) { return Codec<M>::write(t.*member); },
                            [member](const T& a, const T& b) { return a.*member == b.*member; }});
    return *this;
  }
  [[nodiscard]] const Field* find(std::string_view key) const {
    for (const Field& f : fields_) {
      if (f.key == key) return &f;
    }
    return nullptr;
  }
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> out;
    for (const Field& f : fields_) out.push_back(f.key);
    return out;
  }
  static std::string place(const Value& v, const std::string& key) {
    std::string out = v.line() > 0 ? "line " + std::to_string(v.line()) : "";
    if (!key.empty()) out += (out.empty() ? "" : ", ") + key;
    return out;
  }

  std::string name_;
  std::vector<Field> fields_;
};

// Reads a whole document as one description; errors begin with the document's name.
template <Described T>
Result<T> read(const Document& document) {
  auto t = Codec<T>::read(document.root);
  if (!t) return fail(at(document.name, t.error()));
  return t;
}

}  // namespace orrery
