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
//   EnumNames<Norm> names_of(Norm);
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "outcome/result.h"

namespace orrery {

template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

// The texts of an enum, in an array of static duration. std::span would do, but instantiating it for
// every enum makes folders take 5 to 7 % longer to compile.
template <class E>
class EnumNames {
 public:
  template <std::size_t kCount>
  // NOLINTNEXTLINE(google-explicit-constructor): functions of names return their array
  constexpr EnumNames(const std::array<EnumName<E>, kCount>& names)
      : first_(names.data()), count_(kCount) {}
  [[nodiscard]] constexpr const EnumName<E>* begin() const { return first_; }
  [[nodiscard]] constexpr const EnumName<E>* end() const { return first_ + count_; }
  [[nodiscard]] constexpr std::size_t size() const { return count_; }
  constexpr const EnumName<E>& operator[](std::size_t i) const { return first_[i]; }

 private:
  const EnumName<E>* first_;
  std::size_t count_;
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
  constexpr std::string_view kText = spelling<kEnumerator>();
  std::array<char, kText.size()> out{};
  for (std::size_t i = 0; i < kText.size(); ++i) {
    out[i] = kText[i] == '_' ? kWordSeparator<decltype(kEnumerator)> : kText[i];
  }
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
EnumNames<E> names_of(E) {
  static constexpr auto kNames = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{
        EnumName<E>{static_cast<E>(i),
                    {kSpelled<static_cast<E>(i)>.data(), kSpelled<static_cast<E>(i)>.size()}}...};
  }(std::make_index_sequence<enumerators<E>()>());
  return kNames;
}

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  { names_of(e) } -> std::same_as<EnumNames<E>>;
};

template <NamedEnum E>
std::string_view to_text(E e) {
  const EnumNames<E> names = names_of(e);
  const auto place = static_cast<std::size_t>(e);
  if (place < names.size() && names[place].value == e) return names[place].name;
  for (const EnumName<E>& n : names) {
    if (n.value == e) return n.name;
  }
  return "?";
}

// The texts of all enumerators.
template <NamedEnum E>
std::vector<std::string> texts_of() {
  std::vector<std::string> out;
  for (const EnumName<E>& n : names_of(E{})) out.emplace_back(n.name);
  return out;
}

// Which of the texts this is; '_' and '-' are the same. Error: none, with the nearest one.
Result<std::size_t> place_of_text(std::string_view text, const std::vector<std::string>& texts);

// The enumerator of that text.
template <NamedEnum E>
Result<E> parse_enum(std::string_view text) {
  ORRERY_TRY(const std::size_t place, place_of_text(text, texts_of<E>()));
  return names_of(E{})[place].value;
}

}  // namespace orrery
