// The one way from an enumerator to its text and back: its text is its name.
//
//   enum class Norm { layer, rms };
//   to_text(Norm::rms);                              // "rms"
//
// `_` may be written as another character, and where the texts are others, or in another order, the
// enum has a table, found by argument-dependent lookup. Both stand beside the enum.
//
//   template <>
//   inline constexpr char kWordSeparator<ModelKind> = '-';  // "vision-encoder"
//   std::span<const EnumName<Norm>> names_of(Norm);
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "outcome/nearest_name.h"
#include "outcome/result.h"

namespace orrery {

template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

template <class E>
inline constexpr char kWordSeparator = '_';

// An enumerator or a member ("&Plan::tp") as it is spelled in the source, without its type. A value
// that has no enumerator is written as a cast, "(orrery::Norm)7", of which the number is returned.
template <auto kValue>
consteval auto spelling() {
  std::string_view text = __PRETTY_FUNCTION__;  // "... [with auto kValue = orrery::Norm::rms]"
  text.remove_suffix(1);
  text.remove_prefix(text.find_last_of(":)") + 1);
  return text;
}

template <auto kEnumerator>
inline constexpr auto kSpelled = [] {
  std::array<char, spelling<kEnumerator>().size()> out{};
  std::ranges::replace_copy(spelling<kEnumerator>(), out.begin(), '_',
                            kWordSeparator<decltype(kEnumerator)>);
  return out;
}();

// How many enumerators there are, which count from 0.
template <class E, std::size_t kFrom = 0>
consteval std::size_t enumerators() {
  constexpr char kFirst = spelling<static_cast<E>(kFrom)>().front();
  if constexpr (kFirst >= '0' && kFirst <= '9') {
    return kFrom;
  } else {
    return enumerators<E, kFrom + 1>();
  }
}

template <class E>
  requires(std::is_enum_v<E> && !std::is_convertible_v<E, int>)
std::span<const EnumName<E>> names_of(E) {
  static constexpr auto kNames = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{
        EnumName<E>{static_cast<E>(i),
                    {kSpelled<static_cast<E>(i)>.data(), kSpelled<static_cast<E>(i)>.size()}}...};
  }(std::make_index_sequence<enumerators<E>()>());
  return kNames;
}

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  { names_of(e) } -> std::convertible_to<std::span<const EnumName<E>>>;
};

template <NamedEnum E>
std::string_view to_text(E e) {
  const std::span<const EnumName<E>> names = names_of(e);
  const auto at = static_cast<std::size_t>(e);
  if (at < names.size() && names[at].value == e) return names[at].name;
  const auto it = std::ranges::find(names, e, &EnumName<E>::value);
  return it == names.end() ? "?" : it->name;
}

// The enumerator of that name; '_' and '-' are the same. Error: unknown name, with the nearest one.
template <NamedEnum E>
Result<E> parse_enum(std::string_view text) {
  std::vector<std::string> known;
  std::string folded(text);
  std::ranges::replace(folded, '_', '-');
  for (const auto& n : std::span<const EnumName<E>>(names_of(E{}))) {
    std::string name(n.name);
    std::ranges::replace(name, '_', '-');
    if (name == folded) return n.value;
    known.emplace_back(n.name);
  }
  return bad_input("unknown value '" + std::string(text) + "'", "", name_hint(text, known));
}

}  // namespace orrery
