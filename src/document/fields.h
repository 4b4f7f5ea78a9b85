// One table of fields per type that is read. It defines the reader, writer, error messages, schema
// and page of keys. For types that are only written, see results.h.
//
//   struct Link { std::string name; BytesPerSecond bandwidth; Seconds latency; };
//   Fields<Link> fields_of(const Link*) {
//     return Fields<Link>("link")
//         .required<&Link::name>("identifier")
//         .required<&Link::bandwidth>("one direction")
//         .optional<&Link::latency>("end to end");
//   }
//   Result<Link> link = read<Link>(document);
//
// A member may be a bool, integer, double, string, quantity, enum (outcome/enum_names.h), optional,
// vector, or another type with fields_of(), found by argument-dependent lookup. An optional field
// that is absent or null keeps the member's initial value, and is not written when it equals it.
// Unknown keys are errors with the nearest known key. Every error states file, line and key path;
// the first one in a map is returned.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "document/description.h"
#include "document/value.h"
#include "outcome/enum_names.h"
#include "outcome/nearest_name.h"
#include "units/quantity.h"
#include "units/quantity_text.h"

namespace orrery {

template <class T>
class Fields;

template <class T>
concept Described = requires(const T* t) {
  { fields_of(t) } -> std::same_as<Fields<T>>;
};

// The table that fields_of() describes, made once.
template <Described T>
const Fields<T>& field_table() {
  static const Fields<T> kTable = fields_of(static_cast<const T*>(nullptr));
  return kTable;
}

// A value with all its fields, and without optional ones that have their initial value.
template <Described T>
Value all_fields(const T& t) {
  return field_table<T>().write_all(t);
}
template <Described T>
Value non_default_fields(const T& t) {
  return field_table<T>().write(t);
}

// How one member type is read, written and described.
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
  static ValueShape shape() { return {.kind = ValueShape::Kind::boolean}; }
};

template <std::integral I>
  requires(!std::same_as<I, bool>)
struct Codec<I> {
  static Result<I> read(const Value& v) {
    ORRERY_TRY(const std::int64_t i, read_integer(v));
    if (!std::in_range<I>(i)) {
      return bad_input("number " + v.scalar_text() + " is out of range", "",
                       "at most " + std::to_string(std::numeric_limits<I>::max()));
    }
    return static_cast<I>(i);
  }
  static Value write(I i) { return Value::number(static_cast<std::int64_t>(i)); }
  static ValueShape shape() {
    return {.kind = ValueShape::Kind::integer, .unsigned_integer = std::unsigned_integral<I>};
  }
};

template <>
struct Codec<double> {
  static Result<double> read(const Value& v) { return read_real(v); }
  static Value write(double d) { return Value::number(d); }
  static ValueShape shape() { return {.kind = ValueShape::Kind::number}; }
};

template <>
struct Codec<std::string> {
  static Result<std::string> read(const Value& v) { return read_text(v); }
  static Value write(const std::string& s) { return Value::text(s); }
  static ValueShape shape() { return {}; }
};

template <NamedEnum E>
struct Codec<E> {
  static Result<E> read(const Value& v) {
    ORRERY_TRY(const std::string text, read_text(v));
    return parse_enum<E>(text);
  }
  static Value write(E e) { return Value::text(std::string(to_text(e))); }
  static ValueShape shape() { return {.names = texts_of<E>()}; }
};

#define ORRERY_QUANTITY_CODEC(Type, parse, sample)                       \
  template <>                                                            \
  struct Codec<Type> {                                                   \
    static Result<Type> read(const Value& v) {                           \
      ORRERY_TRY(const std::string text, read_text(v));                  \
      return parse(text);                                                \
    }                                                                    \
    static Value write(Type q) { return Value::text(to_exact_text(q)); } \
    static ValueShape shape() { return {.example = (sample)}; }          \
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
  static ValueShape shape() {
    ValueShape out = Codec<T>::shape();
    out.nullable = true;
    return out;
  }
};

template <class T>
struct Codec<std::vector<T>> {
  static Result<std::vector<T>> read(const Value& v) {
    if (v.kind() != Value::Kind::list) {
      return bad_input("expected a list", "", "a list of " + to_text(Codec<T>::shape()));
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
  static ValueShape shape() {
    return {.kind = ValueShape::Kind::list, .item = {Codec<T>::shape()}};
  }
};

template <Described T>
struct Codec<T> {
  static Result<T> read(const Value& v) { return field_table<T>().read(v); }
  static Value write(const T& t) { return non_default_fields(t); }
  static ValueShape shape() {
    return {.kind = ValueShape::Kind::map,
            .map = +[]() -> const Description& { return field_table<T>().description(); }};
  }
};

// ---- the table ----

// Functions that read, write and compare members of one type.
struct MemberType {
  Result<void> (*read)(const Value&, void* member);
  Value (*write)(const void* member);
  Value (*write_all)(const void* member);
  bool (*equal)(const void* a, const void* b);
  ValueShape (*shape)();
};

template <class M>
inline constexpr MemberType kMemberType = {
    .read = [](const Value& v, void* member) -> Result<void> {
      auto m = Codec<M>::read(v);
      if (!m) return fail(std::move(m.error()));
      *static_cast<M*>(member) = std::move(*m);
      return {};
    },
    .write = [](const void* member) { return Codec<M>::write(*static_cast<const M*>(member)); },
    .write_all =
        [](const void* member) {
          if constexpr (Described<M>) {
            return all_fields(*static_cast<const M*>(member));
          } else {
            return Codec<M>::write(*static_cast<const M*>(member));
          }
        },
    .equal = [](const void* a,
                const void* b) { return *static_cast<const M*>(a) == *static_cast<const M*>(b); },
    .shape = &Codec<M>::shape,
};

// The part of a table that does not depend on the described type, so that it is compiled once. A
// member is found by its offset in bytes.
class FieldTable {
 public:
  [[nodiscard]] const std::string& name() const { return description_.name; }
  // "an " before a vowel, else "a ".
  [[nodiscard]] std::string article() const;
  [[nodiscard]] const Description& description() const { return description_; }

 protected:
  explicit FieldTable(std::string_view name);
  void add(std::string_view key, const MemberType& type, std::ptrdiff_t offset,
           std::string_view sentence, Need need);

  // Into what begins at `row`; members whose fields are not in the document keep their values.
  [[nodiscard]] Result<void> read(const Value& v, void* row) const;
  // Without optional fields that are equal in `initial`.
  [[nodiscard]] Value write(const void* row, const void* initial) const;
  [[nodiscard]] Value write_all(const void* row) const;

 private:
  struct Member {
    const MemberType* type;
    std::ptrdiff_t offset;
  };
  [[nodiscard]] const std::vector<FieldDescription>& fields() const { return description_.fields; }

  Description description_;
  std::vector<Member> members_;  // one for each field of the description
};

template <class T>
class Fields : public FieldTable {
 public:
  // `name` is what the description is called in messages ("accelerator").
  explicit Fields(std::string_view name) : FieldTable(name) {}

  // The key is the name of the member, where it is not given.
  template <auto kMember>
  Fields& required(std::string_view sentence) {
    return add(spelling<kMember>(), kMember, sentence, Need::required);
  }
  template <auto kMember>
  Fields& optional(std::string_view sentence) {
    return add(spelling<kMember>(), kMember, sentence, Need::optional);
  }
  template <class M>
  Fields& required(std::string_view key, M T::* member, std::string_view sentence) {
    return add(key, member, sentence, Need::required);
  }

  [[nodiscard]] Result<T> read(const Value& v) const {
    T out{};
    ORRERY_RETURN_IF_ERROR(FieldTable::read(v, &out));
    return out;
  }
  // Without optional fields that have their initial value.
  [[nodiscard]] Value write(const T& t) const { return FieldTable::write(&t, &initial()); }
  // With all fields.
  [[nodiscard]] Value write_all(const T& t) const { return FieldTable::write_all(&t); }

 private:
  static const T& initial() {
    static const T kInitial{};
    return kInitial;
  }
  template <class M>
  Fields& add(std::string_view key, M T::* member, std::string_view sentence, Need need) {
    const auto* begin = reinterpret_cast<const std::byte*>(&initial());
    FieldTable::add(key, kMemberType<M>,
                    reinterpret_cast<const std::byte*>(&(initial().*member)) - begin, sentence,
                    need);
    return *this;
  }
};

// Reads a whole document as one description; errors begin with the document's name.
template <Described T>
Result<T> read(const Document& document) {
  return at(document.name, Codec<T>::read(document.root));
}

}  // namespace orrery
