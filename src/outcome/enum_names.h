// The one way from an enumerator to its text and back: a table of names per enum, found by
// argument-dependent lookup.
//
//   std::span<const EnumName<Norm>> names_of(Norm);  // in the order of the enumerators
//   to_text(Norm::rms);                              // "rms"
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
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
  return fail(ErrorCode::bad_input, "unknown value '" + std::string(text) + "'", "",
              name_hint(text, known));
}

}  // namespace orrery
