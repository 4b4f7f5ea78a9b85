#include "trace/repeats.h"

#include <algorithm>

namespace orrery {

std::vector<Repeat> repeats(std::span<const std::uint32_t> sequence, std::size_t shortest) {
  const std::size_t n = sequence.size();
  std::vector<Repeat> out;
  // The smallest period that covers a place from where on; larger multiples of it say nothing new.
  std::vector<Repeat> covering(n);
  const std::size_t largest =
      n == 0 ? 0 : std::min(n / 2, std::max<std::size_t>(1, kMostComparisons / n));
  for (std::size_t p = 1; p <= largest; ++p) {
    std::size_t matched = 0;
    for (std::size_t i = 0; i + p <= n; ++i) {
      if (i + p < n && sequence[i] == sequence[i + p]) {
        ++matched;
        continue;
      }
      if (matched >= p) {
        const std::size_t begin = i - matched;
        const Repeat found{begin, p, (matched + p) / p};
        const Repeat& smaller = covering[begin];
        const bool multiple =
            smaller.period > 0 && p % smaller.period == 0 &&
            smaller.begin + smaller.length() + smaller.period > begin + found.length();
        if (!multiple) {
          if (p >= shortest) out.push_back(found);
          for (std::size_t k = begin; k < begin + found.length(); ++k) {
            if (covering[k].period == 0) covering[k] = found;
          }
        }
      }
      matched = 0;
    }
  }
  std::ranges::sort(out, [](const Repeat& a, const Repeat& b) {
    if (a.length() != b.length()) return a.length() > b.length();
    return a.begin != b.begin ? a.begin < b.begin : a.period < b.period;
  });
  return out;
}

std::vector<Repeat> repeats_of_count(std::span<const std::uint32_t> sequence, std::size_t count,
                                     std::size_t shortest) {
  std::vector<Repeat> out;
  for (const Repeat& r : repeats(sequence, shortest)) {
    if (r.count != count) continue;
    if (!out.empty() && r.length() * 4 < out.front().length()) break;
    const bool overlaps = std::ranges::any_of(out, [&](const Repeat& other) {
      return r.begin < other.begin + other.length() && other.begin < r.begin + r.length();
    });
    if (!overlaps) out.push_back(r);
  }
  std::ranges::sort(out, {}, &Repeat::begin);
  return out;
}

}  // namespace orrery
