// Why a device of a pipeline is idle.
//
// A device is idle whenever no operation runs on its computing stream, from time zero to the
// makespan T: before its first operation, between two, and after its last. First
//
//   communication  T - T0, where T0 is the makespan of the same order if transfers, latencies,
//                  collectives and copies to host memory took no time: the exposed communication.
//
// What is left, T0 - busy, is split in that execution without communication. There an operation
// starts as soon as it can, so a chain of operations ends where a gap ends and reaches back over
// all of it: the one waited for, the one that this one waited for, and so on (after a device's
// last operation: the chain of the operation that ends last of all). Every instant of the gap lies
// in one operation of that chain:
//
//   imbalance      of the time spent waiting for an operation that takes longer, T', than the mean
//                  t' of its kind over the pipeline: the part (T' - t') / T', rounded down to a
//                  picosecond
//   fill           the rest before the device's first operation
//   drain          the rest after its last
//   dependency     the rest between: other devices compute what this one needs
//
// No part is negative (a makespan never falls when something takes longer), and the parts add up to
// makespan - busy of each device exactly. Time O(nodes) for the schedules of the literature; at
// worst O(devices x nodes).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "schedule/execution.h"

namespace orrery {

enum class IdleCause : std::uint8_t { fill, drain, dependency, communication, imbalance };
inline constexpr std::array kIdleCauses = {IdleCause::fill, IdleCause::drain, IdleCause::dependency,
                                           IdleCause::communication, IdleCause::imbalance};
std::string_view name(IdleCause cause);

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

// By device. A device without operations drains all the time.
std::vector<IdleTime> idle_by_cause(const Pipeline& pipeline, const PipelineExecution& execution);

}  // namespace orrery
