// What repeats in a row in a sequence: layers of a step, microbatches, steps.
//
// A repeat is a stretch in which s[i] = s[i + p] for all but its last p entries, as long as it can
// be; it holds floor(length / p) copies of p entries. For every period p one pass finds all of
// them: O(n x largest period), bounded by kMostComparisons, beyond which larger periods are not
// tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

struct Repeat {
  std::size_t begin = 0;
  std::size_t period = 0;
  std::size_t count = 0;  // whole copies

  [[nodiscard]] std::size_t length() const { return period * count; }
  bool operator==(const Repeat&) const = default;
};

inline constexpr std::size_t kMostComparisons = 1'000'000'000;

// Repeats of at least two copies of at least `shortest` entries, none a multiple of another's
// period over the same stretch: the longest first, then by begin.
std::vector<Repeat> repeats(std::span<const std::uint32_t> sequence, std::size_t shortest);

// Those with exactly that many copies that do not overlap and are at least a quarter as long as the
// longest of them; by begin.
std::vector<Repeat> repeats_of_count(std::span<const std::uint32_t> sequence, std::size_t count,
                                     std::size_t shortest);

}  // namespace orrery
