// Two profiles of a step, aligned by operator: what got slower, by how much, and why.
//
// Lines are aligned in this order:
//   1. the same operator with the same shapes (or the same communication with the same volume),
//   2. the same operator with other shapes, in the order in which they first appear,
//   3. the operators left over within the same outermost operator, as one group on each side: an
//      attention written as three operators here is one there,
//   4. what is left exists in one profile only.
//
// The difference of a line's contribution to the step is split exactly into causes. With n calls,
// work w = busy - waiting, per step, of the first (1) and second (2) profile:
//
//   calls        (n2 - n1) w1 / n1            the operator is called more often
//   work         w2 - w1 - calls              each call takes longer
//   waiting      of communications, for other ranks
//   overlap      hidden1 - hidden2            less of it overlaps with something else
//   late         the device is idle before it because the host launches late
//   latency      the device is idle before it between launch call and start
//
// If only one side has the line, the cause is `only_first` or `only_second`. The sum over
// all rows and the ends of the steps is the difference of the step times. O(lines log lines).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compare/step_profile.h"
#include "outcome/enum_names.h"
#include "units/quantity.h"

namespace orrery {

enum class DifferenceCause : std::uint8_t {
  only_first,
  only_second,
  calls,
  work,
  waiting,
  overlap,
  late,
  latency
};
inline constexpr std::size_t kDifferenceCauses = 8;

enum class Alignment : std::uint8_t { same, other_shapes, replaced, only_first, only_second };

struct DifferenceRow {
  Alignment alignment = Alignment::same;
  LineKind kind = LineKind::computing;
  // Lines of each profile; more than one only if a group replaced a group.
  std::vector<std::size_t> first = {};
  std::vector<std::size_t> second = {};
  Seconds contribution_first = {};  // to one step
  Seconds contribution_second = {};
  double calls_first = 0;  // of one step
  double calls_second = 0;
  std::array<Seconds, kDifferenceCauses> causes{};

  [[nodiscard]] Seconds difference() const { return contribution_second - contribution_first; }
  [[nodiscard]] Seconds operator[](DifferenceCause cause) const {
    return causes[static_cast<std::size_t>(cause)];
  }
  // The cause with the largest part of the difference that has the sign of the whole difference.
  [[nodiscard]] DifferenceCause main_cause() const;
};

struct Difference {
  StepProfile first;
  StepProfile second;
  std::vector<DifferenceRow> rows;  // largest change first, whatever its sign

  [[nodiscard]] Seconds step_first() const { return Seconds(first.per_step_s(first.step_ns)); }
  [[nodiscard]] Seconds step_second() const { return Seconds(second.per_step_s(second.step_ns)); }
  // After the last work of the device, until the step ends.
  [[nodiscard]] Seconds end_first() const { return Seconds(first.per_step_s(first.end_ns)); }
  [[nodiscard]] Seconds end_second() const { return Seconds(second.per_step_s(second.end_ns)); }
};

Difference difference(StepProfile first, StepProfile second);

// Whether the kernels of a row's two sides have the same names.
bool same_kernels(const Difference& difference, const DifferenceRow& row);

}  // namespace orrery
