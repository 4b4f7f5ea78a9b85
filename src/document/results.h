// One table of keys per type of result. It defines the JSON, the schema and the page of keys.
// Adding a key to a result is one line of such a table.
//
//   template <>
//   inline constexpr auto kResults<Spread> = table<Spread>(
//       "spread", "durations of several events",
//       field<&Spread::count>("how many"),
//       nanoseconds<&Spread::total_ns>("total_s", "their sum"),
//       field("mean_s", "their mean", [](auto& s) { return s.mean(); }));
//   Value document = answer(spread);
//
// A key takes a member (and its name, unless another is given), a member function, or a function
// without captures; the table knows the type of the row, which the function leaves open. What these
// return may be a bool, number, text, quantity, enum, description with fields_of() (written with all
// its fields), another type with a table, or an optional or range of these. The key contains the
// unit: seconds `_s`, bytes `_bytes`, rates `_per_s`.
//
// Many rows are indices into something larger (names of a recording, times after its beginning). A
// function of two arguments gets this context as the second one; a table with a context passes it
// on to the tables within.
//
// Tables are constants made of function pointers and cost nothing at start-up. In the source, a
// table must come before the first table or call that uses it.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "document/fields.h"
#include "units/picoseconds.h"

namespace orrery {

// The table of a type; none unless specialized.
template <class T>
inline constexpr std::nullptr_t kResults = nullptr;

template <class T>
concept Tabled = !std::is_null_pointer_v<std::remove_const_t<decltype(kResults<T>)>>;

struct ResultField {
  std::string_view key;
  std::string_view sentence;
  Need need = Need::required;
  ValueShape (*shape)() = nullptr;
  // What a row has for the key; an optional key may have nothing.
  std::optional<Value> (*value)(const ResultField&, const void* row, const void* context) = nullptr;
  std::string_view constant = {};            // the only value of the key
  const Description& (*within)() = nullptr;  // its keys are written in place of this key
  std::string_view (*key_of)() = nullptr;    // used instead of `key`

  [[nodiscard]] std::string_view name() const { return key_of != nullptr ? key_of() : key; }
};

// A field of a table for this type of row.
template <class Row, class Context>
struct FieldOf {
  ResultField field;
  template <std::same_as<Row>>
  [[nodiscard]] constexpr FieldOf of() const {
    return *this;
  }
};

// A field for any row.
struct FieldOfAny {
  ResultField field;
  template <class Row>
  [[nodiscard]] constexpr FieldOf<Row, void> of() const {
    return {field};
  }
};

// A field that is made once the table says what its rows are.
template <class Make>
struct OpenField {
  std::string_view key;
  std::string_view sentence;
  Make make;
  template <class Row>
  [[nodiscard]] constexpr auto of() const {
    return make.template operator()<Row>(key, sentence);
  }
};

template <class Row, class ContextType, std::size_t N>
struct ResultTable {
  using Context = ContextType;
  std::string_view name;
  std::string_view sentence;
  std::array<ResultField, N> fields;
};

template <class T>
struct ResultCodec;  // how a type is written and described

Description described(std::string_view name, std::string_view sentence,
                      std::span<const ResultField> fields);
Value written(std::span<const ResultField> fields, const void* row, const void* context);

// The description of a type with a table.
template <Tabled T>
const Description& description_of() {
  static const Description kDescription =
      described(kResults<T>.name, kResults<T>.sentence, kResults<T>.fields);
  return kDescription;
}

// A row with another context than that of its table.
template <class T, class Context>
struct InContext {
  const T& row;
  Context context;
};

// A value that is written without the fields that have their default.
template <class T>
struct WithoutDefaults {
  T value;
};

// One value for each enumerator in order, with its name as the key. Those from `kRequired` on may
// be absent.
template <class E, std::size_t kCount, class T, std::size_t kRequired = kCount>
struct ByName {
  std::vector<T> values;
};

struct NoContext {
  using Context = void;
};

template <class T>
  requires std::is_arithmetic_v<T> || std::is_same_v<T, std::string> || NamedEnum<T>
struct ResultCodec<T> : NoContext {
  static Value write(const T& t, const void*) { return Codec<T>::write(t); }
  static ValueShape shape() { return Codec<T>::shape(); }
};

template <class T>
  requires(std::is_convertible_v<T, std::string_view> && !std::is_same_v<T, std::string>)
struct ResultCodec<T> : NoContext {
  static Value write(std::string_view t, const void*) { return Value::text(std::string(t)); }
  static ValueShape shape() { return {}; }
};

template <int... kDimensions>
struct ResultCodec<Quantity<kDimensions...>> : NoContext {
  static Value write(Quantity<kDimensions...> q, const void*) { return Value::number(q.value()); }
  static ValueShape shape() { return {.kind = ValueShape::Kind::number}; }
};

template <>
struct ResultCodec<Picoseconds> : NoContext {
  static Value write(Picoseconds time, const void*) {
    return Value::scalar(Value::Kind::number, exact_seconds(time), 0);
  }
  static ValueShape shape() { return {.kind = ValueShape::Kind::number}; }
};

template <class E, std::size_t kCount, class T, std::size_t kRequired>
struct ResultCodec<ByName<E, kCount, T, kRequired>> : NoContext {
  static Value write(const ByName<E, kCount, T, kRequired>& t, const void*) {
    Value out = Value::map();
    for (std::size_t i = 0; i < t.values.size(); ++i) {
      out.append_member(std::string(to_text(static_cast<E>(i))),
                        ResultCodec<T>::write(t.values[i], nullptr));
    }
    return out;
  }
  static const Description& description() {
    static const Description kDescription = [] {
      Description out;
      for (std::size_t i = 0; i < kCount; ++i) {
        std::string key(to_text(static_cast<E>(i)));
        std::string words = key;
        std::replace(words.begin(), words.end(), '_', ' ');
        out.fields.push_back({std::move(key), i < kRequired ? Need::required : Need::optional,
                              ResultCodec<T>::shape(), std::move(words)});
      }
      return out;
    }();
    return kDescription;
  }
  static ValueShape shape() { return {.kind = ValueShape::Kind::map, .map = &description}; }
};

template <Described T>
struct ResultCodec<T> : NoContext {
  static Value write(const T& t, const void*) { return all_fields(t); }
  // No key is left out.
  static const Description& description() {
    static const Description kDescription = [] {
      Description out = field_table<T>().description();
      for (FieldDescription& field : out.fields) field.need = Need::required;
      return out;
    }();
    return kDescription;
  }
  static ValueShape shape() { return {.kind = ValueShape::Kind::map, .map = &description}; }
};

template <Tabled T>
struct ResultCodec<T> {
  using Context = typename decltype(kResults<T>)::Context;
  static Value write(const T& t, const void* context) {
    return written(kResults<T>.fields, &t, context);
  }
  static ValueShape shape() { return {.kind = ValueShape::Kind::map, .map = &description_of<T>}; }
};

template <class T, class C>
struct ResultCodec<InContext<T, C>> : NoContext {
  static Value write(const InContext<T, C>& t, const void*) {
    return ResultCodec<T>::write(t.row, std::addressof(t.context));
  }
  static ValueShape shape() { return ResultCodec<T>::shape(); }
};

template <class T>
struct ResultCodec<WithoutDefaults<T>> : NoContext {
  static Value write(const WithoutDefaults<T>& t, const void*) { return Codec<T>::write(t.value); }
  static ValueShape shape() { return Codec<T>::shape(); }
};

template <class T>
struct ResultCodec<std::optional<T>> {
  using Context = typename ResultCodec<T>::Context;
  static Value write(const std::optional<T>& t, const void* context) {
    return t ? ResultCodec<T>::write(*t, context) : Value::null();
  }
  static ValueShape shape() {
    ValueShape out = ResultCodec<T>::shape();
    out.nullable = true;
    return out;
  }
};

template <class R>
  requires(!std::is_convertible_v<R, std::string_view> &&
           requires(const R& items) { items.begin() != items.end(); })
struct ResultCodec<R> {
  using Item = std::remove_cvref_t<decltype(*std::declval<const R&>().begin())>;
  using Context = typename ResultCodec<Item>::Context;
  static Value write(const R& items, const void* context) {
    Value out = Value::list();
    for (const auto& item : items) out.append(ResultCodec<Item>::write(item, context));
    return out;
  }
  static ValueShape shape() {
    return {.kind = ValueShape::Kind::list, .item = {ResultCodec<Item>::shape()}};
  }
};

// The row, the context and the result of a function without captures.
template <class F>
struct Signature;
template <class L, class R, class T>
struct Signature<R (L::*)(const T&) const> {
  using Row = T;
  using Context = void;
  using Result = std::remove_cvref_t<R>;
};
template <class L, class R, class T, class C>
struct Signature<R (L::*)(const T&, const C&) const> : Signature<R (L::*)(const T&) const> {
  using Context = C;
};
template <class T, class M>
struct Signature<M T::*> {
  using Row = T;
  using Result = M;
};
template <class T, class R>
struct Signature<R (T::*)() const> {
  using Row = T;
  using Result = std::remove_cvref_t<R>;
};

// The row of a function of a row and an enumerator.
template <class F>
struct EntrySignature;
template <class L, class R, class T, class E>
struct EntrySignature<R (L::*)(const T&, E) const> {
  using Row = T;
};

template <class A, class B>
using OneContext = std::conditional_t<std::is_void_v<A>, B, A>;

// Of a function whose parameter is a row, or `auto&`.
template <class F, class Row>
struct SignatureFor : Signature<decltype(&F::template operator()<const Row>)> {};
template <class F, class Row>
  requires requires { &F::operator(); }
struct SignatureFor<F, Row> : Signature<decltype(&F::operator())> {};

template <class F, class Row>
decltype(auto) value_of_row(const void* row, const void* context) {
  using S = SignatureFor<F, Row>;
  const auto& typed = *static_cast<const Row*>(row);
  if constexpr (std::is_void_v<typename S::Context>) {
    return F{}(typed);
  } else {
    return F{}(typed, *static_cast<const typename S::Context*>(context));
  }
}

template <auto kMember, auto... kInner, class Row>
decltype(auto) member(const Row& row) {
  if constexpr (sizeof...(kInner) == 0) {
    return std::invoke(kMember, row);
  } else {
    return member<kInner...>(std::invoke(kMember, row));
  }
}

// The field of a function whose result has the codec `A`.
template <class F, class Row, class A>
using FieldFor =
    FieldOf<Row, OneContext<typename SignatureFor<F, Row>::Context, typename A::Context>>;

template <class F>
constexpr auto field(std::string_view key, std::string_view sentence, F) {
  return OpenField{key, sentence, []<class Row>(std::string_view k, std::string_view s) {
                     using A = ResultCodec<typename SignatureFor<F, Row>::Result>;
                     return FieldFor<F, Row, A>{{k, s, Need::required, &A::shape,
                                                 [](const ResultField&, const void* row,
                                                    const void* c) -> std::optional<Value> {
                                                   return A::write(value_of_row<F, Row>(row, c), c);
                                                 }}};
                   }};
}

// A member, or a member of a member.
template <auto kMember, auto... kInner>
constexpr auto field(std::string_view key, std::string_view sentence) {
  using Row = typename Signature<decltype(kMember)>::Row;
  using A =
      ResultCodec<std::remove_cvref_t<decltype(member<kMember, kInner...>(std::declval<Row>()))>>;
  return FieldOf<Row, typename A::Context>{
      {key, sentence, Need::required, &A::shape,
       [](const ResultField&, const void* row, const void* context) -> std::optional<Value> {
         return A::write(member<kMember, kInner...>(*static_cast<const Row*>(row)), context);
       }}};
}

// A member with its name as the key.
template <auto kMember>
constexpr auto field(std::string_view sentence) {
  return field<kMember>(spelling<kMember>(), sentence);
}

// A key that is absent if its optional is empty.
template <class F>
constexpr auto optional_field(std::string_view key, std::string_view sentence, F) {
  return OpenField{key, sentence, []<class Row>(std::string_view k, std::string_view s) {
                     using A = ResultCodec<typename SignatureFor<F, Row>::Result::value_type>;
                     return FieldFor<F, Row, A>{{k, s, Need::optional, &A::shape,
                                                 [](const ResultField&, const void* row,
                                                    const void* c) -> std::optional<Value> {
                                                   const auto& value = value_of_row<F, Row>(row, c);
                                                   if (!value) return std::nullopt;
                                                   return A::write(*value, c);
                                                 }}};
                   }};
}

// The keys of another table in place of one key that holds them.
template <class F>
constexpr auto fields_within(F) {
  return OpenField{{}, {}, []<class Row>(std::string_view, std::string_view) {
                     using A = ResultCodec<typename SignatureFor<F, Row>::Result>;
                     return FieldFor<F, Row, A>{
                         {.key = {},
                          .sentence = {},
                          .value = [](const ResultField&, const void* row,
                                      const void* c) -> std::optional<Value> {
                            return A::write(value_of_row<F, Row>(row, c), c);
                          },
                          .within = +[]() -> const Description& { return A::shape().map(); }}};
                   }};
}

// Whole nanoseconds as seconds.
template <auto kMember, auto... kInner>
constexpr auto nanoseconds(std::string_view key, std::string_view sentence) {
  using Row = typename Signature<decltype(kMember)>::Row;
  return FieldOf<Row, void>{
      {key, sentence, Need::required, &ResultCodec<double>::shape,
       [](const ResultField&, const void* row, const void*) -> std::optional<Value> {
         const std::int64_t ns = member<kMember, kInner...>(*static_cast<const Row*>(row));
         return Value::number(static_cast<double>(ns) * 1e-9);
       }}};
}

// The key `to_text(e)` of an enumerator, with the value that `F` returns for it and a row.
template <auto kEnumerator, class F>
constexpr auto entry(std::string_view sentence, F) {
  using E = decltype(kEnumerator);
  using Row = typename EntrySignature<decltype(&F::operator())>::Row;
  using A = ResultCodec<std::remove_cvref_t<std::invoke_result_t<F, const Row&, E>>>;
  return FieldOf<Row, void>{{.key = {},
                             .sentence = sentence,
                             .shape = &A::shape,
                             .value = [](const ResultField&, const void* row,
                                         const void* context) -> std::optional<Value> {
                               return A::write(F{}(*static_cast<const Row*>(row), kEnumerator),
                                               context);
                             },
                             .key_of = +[]() -> std::string_view { return to_text(kEnumerator); }}};
}

// A key that always has this text.
constexpr auto constant(std::string_view key, std::string_view sentence, std::string_view text) {
  return FieldOfAny{
      {.key = key,
       .sentence = sentence,
       .shape = [] { return ValueShape{}; },
       .value = [](const ResultField& f, const void*, const void*) -> std::optional<Value> {
         return Value::text(std::string(f.constant));
       },
       .constant = text}};
}

// `schema_version`, the first key of every document.
template <std::int64_t kVersion>
constexpr auto schema_version() {
  return FieldOfAny{
      {"schema_version", "changes when a key is removed or changes its meaning", Need::required,
       [] {
         return ValueShape{.kind = ValueShape::Kind::integer, .constant = Value::number(kVersion)};
       },
       [](const ResultField&, const void*, const void*) -> std::optional<Value> {
         return Value::number(kVersion);
       }}};
}

template <class... Contexts>
struct FirstContext : std::type_identity<void> {};
template <class C, class... Others>
struct FirstContext<C, Others...>
    : std::conditional_t<std::is_void_v<C>, FirstContext<Others...>, std::type_identity<C>> {};

template <class Row, class... Contexts>
constexpr auto table_of(std::string_view name, std::string_view sentence,
                        FieldOf<Row, Contexts>... fields) {
  using Context = typename FirstContext<Contexts...>::type;
  static_assert(((std::is_void_v<Contexts> || std::is_same_v<Contexts, Context>) && ...),
                "all keys of a table need the same context");
  return ResultTable<Row, Context, sizeof...(fields)>{name, sentence, {fields.field...}};
}

template <class Row, class... Fields>
constexpr auto table(std::string_view name, std::string_view sentence, Fields... fields) {
  return table_of<Row>(name, sentence, fields.template of<Row>()...);
}

// A value that is made already.
template <>
struct ResultCodec<Value> : NoContext {
  static Value write(const Value& v, const void*) { return v; }
};

// Documents without a schema, and parts whose keys follow from what is written:
//   map_of({{"rank", trace.rank}, {"steps", list_of(steps, step_json)}})
// Values are written as those of tables are.
struct Member {
  std::string key;
  Value value;
  template <class T>
  Member(std::string_view k, const T& v) : key(k), value(ResultCodec<T>::write(v, nullptr)) {}
};
Value map_of(std::initializer_list<Member> members);

template <std::ranges::range Range, class Make>
Value list_of(const Range& items, const Make& make) {
  Value out = Value::list();
  for (const auto& item : items) out.append(std::invoke(make, item));
  return out;
}

// A row as a document, or as a part of one.
template <Tabled T>
Value answer(const T& row) {
  static_assert(std::is_void_v<typename ResultCodec<T>::Context>, "this table needs its context");
  return ResultCodec<T>::write(row, nullptr);
}
template <Tabled T, class Context>
Value answer(const T& row, const Context& context) {
  static_assert(std::is_same_v<typename ResultCodec<T>::Context, Context>);
  return ResultCodec<T>::write(row, &context);
}

}  // namespace orrery
