// Why a device of a pipeline is idle.
//
// A device is idle whenever no operation runs on its computing stream, from time zero to the
// makespan. The same order is executed three times:
//
//   T    as given
//   T0   transfers, latencies, collectives and copies to host memory take no time
//   T1   in addition, every operation takes the mean time of its kind over the pipeline, in whole
//        picoseconds: the balanced execution
//
//   communication  T - T0: the exposed communication, the same for all devices
//   fill           without communication, before the device's first operation
//   drain          without communication, after its last operation
//   dependency     without communication, in between: other devices compute what this one needs
//   imbalance      the amount by which each of the last three exceeds that of the balanced
//                  execution (they keep the rest)
//
// No part is negative (a makespan never falls when something takes longer), and the parts add up to
// makespan - busy of each device exactly. A device that is slower than the mean may wait less than
// when balanced; this is not idle time and is not counted. O(nodes).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "outcome/enum_names.h"
#include "schedule/execution.h"

namespace orrery {

enum class IdleCause : std::uint8_t { fill, drain, dependency, communication, imbalance };
inline constexpr std::array kIdleCauses = {IdleCause::fill, IdleCause::drain, IdleCause::dependency,
                                           IdleCause::communication, IdleCause::imbalance};

struct IdleTime {
  std::array<Picoseconds, kIdleCauses.size()> by_cause{};

  Picoseconds& operator[](IdleCause c) { return by_cause[static_cast<std::size_t>(c)]; }
  Picoseconds operator[](IdleCause c) const { return by_cause[static_cast<std::size_t>(c)]; }
  [[nodiscard]] Picoseconds total() const {
    Picoseconds sum;
    for (const Picoseconds t : by_cause) sum += t;
    return sum;
  }
  IdleTime& operator+=(const IdleTime& o) {
    for (std::size_t i = 0; i < by_cause.size(); ++i) by_cause[i] += o.by_cause[i];
    return *this;
  }
};

// By device. A device without operations counts as draining for the whole makespan.
std::vector<IdleTime> idle_by_cause(const Pipeline& pipeline, const PipelineExecution& execution);

}  // namespace orrery
