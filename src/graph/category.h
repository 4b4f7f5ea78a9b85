// Categories: the lines of a breakdown on which the time of an operation is booked. The graph knows
// them by number; their names and what class they are of come from the lowering or the importer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace orrery {

enum class CategoryIndex : std::uint8_t {};

// At most this many in one graph, so that a breakdown is an array.
inline constexpr std::size_t kMostCategories = 24;

enum class CategoryClass : std::uint8_t {
  computing,      // a kernel holds the rank's computing stream
  communication,  // inside a group: exposed where the rank that takes part computes nothing
  transfer,       // from one rank to another: exposed on the receiver, too
  copy,           // memory to memory
  host,           // the host works, or the device waits for it
  idle,           // nothing runs; the first one of a graph is where gaps are booked
};

struct CategoryLabel {
  std::string name;
  CategoryClass kind = CategoryClass::computing;
  bool operator==(const CategoryLabel&) const = default;
};

}  // namespace orrery
