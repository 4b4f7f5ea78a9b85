// Strong index types, so that a stage cannot be passed as a rank.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace orrery {

template <class Tag>
class Index {
 public:
  constexpr Index() = default;
  constexpr explicit Index(std::size_t value) : value_(static_cast<std::uint32_t>(value)) {}
  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
  constexpr auto operator<=>(const Index&) const = default;

 private:
  std::uint32_t value_ = 0;
};

using NodeIndex = Index<struct NodeTag>;      // operation in a graph
using StreamIndex = Index<struct StreamTag>;  // in-order queue of one rank class
using NameIndex = Index<struct NameTag>;      // interned operation name

}  // namespace orrery
