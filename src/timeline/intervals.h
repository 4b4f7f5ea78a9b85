// Sets of moments, as sorted lists of intervals: union, intersection, difference, clipping, length.
//
// An interval is [start, end) in whole units of the caller's choice (nanoseconds, in recorded
// runs). A set is Intervals: not empty, ascending, neither overlapping nor touching. Every
// operation takes and gives such sets, in one pass: O(n + m). Lengths are exact sums of integers,
// so that length(a) = length(a and b) + length(a without b) holds to the unit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

struct Interval {
  std::int64_t start = 0;
  std::int64_t end = 0;
  bool operator==(const Interval&) const = default;
};

using Intervals = std::vector<Interval>;

inline std::int64_t length(const Intervals& set) {
  std::int64_t sum = 0;
  for (const Interval& i : set) sum += i.end - i.start;
  return sum;
}

// Adds one interval that starts no earlier than any added before; empty ones change nothing.
inline void add_by_start(Intervals& set, Interval next) {
  if (next.end <= next.start) return;
  if (!set.empty() && next.start <= set.back().end) {
    set.back().end = std::max(set.back().end, next.end);
  } else {
    set.push_back(next);
  }
}

// Of intervals sorted by start, which may overlap and be empty.
inline Intervals union_of(std::span<const Interval> by_start) {
  Intervals set;
  for (const Interval& i : by_start) add_by_start(set, i);
  return set;
}

inline Intervals union_of(const Intervals& a, const Intervals& b) {
  Intervals set;
  set.reserve(a.size() + b.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool from_a = j == b.size() || (i < a.size() && a[i].start <= b[j].start);
    add_by_start(set, from_a ? a[i++] : b[j++]);
  }
  return set;
}

inline Intervals intersection(const Intervals& a, const Intervals& b) {
  Intervals set;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    add_by_start(set, {std::max(a[i].start, b[j].start), std::min(a[i].end, b[j].end)});
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return set;
}

// What is in `a` and not in `b`.
inline Intervals difference(const Intervals& a, const Intervals& b) {
  Intervals set;
  std::size_t j = 0;
  for (const Interval& whole : a) {
    std::int64_t from = whole.start;
    while (j < b.size() && b[j].end <= from) ++j;
    for (std::size_t k = j; k < b.size() && b[k].start < whole.end; ++k) {
      add_by_start(set, {from, b[k].start});
      from = std::max(from, b[k].end);
    }
    add_by_start(set, {from, whole.end});
  }
  return set;
}

inline Intervals clipped(const Intervals& set, Interval window) {
  return intersection(set, {window});
}

}  // namespace orrery
