// Brings the clocks of several ranks together, by the communications they took part in.
//
// Nobody leaves a collective before everybody has entered it. For an instance of ranks a and b,
// with d to be added to the times of b:
//
//   start_a <= end_b + d   and   start_b + d <= end_a        (ns)
//
// Clocks that satisfy this for all instances are kept as recorded: differences of the ends below
// that are as likely real. Otherwise d is the median of end_a - end_b, held within the bounds where
// they leave room: ranks leave a collective within tens of microseconds of each other, measured on
// the recorded runs of validation/traces (2 to 86 us median).
//
// Where ranks share no collective, sends and receives tell: nothing is received before it is sent,
//
//   start_a <= end_b + d   of what a sends to b   and   start_b + d <= end_a   of what b sends to a
//
// for nine messages of ten each way: where windows are cut, a few may be paired wrongly.
//
// Ranks that share nothing with the first are aligned by those that do, one after the other,
// those with most instances first; a rank that shares nothing with anybody keeps its clock.
//
// Valid: constant offsets. Not modelled: drift within the recording (a millisecond in 10 s at
// 100 ppm). O(members of all instances).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/collective_instances.h"
#include "trace/recorded_trace.h"

namespace orrery {

struct ClockOffset {
  std::int64_t offset_ns = 0;     // to be added to the rank's times; 0: kept
  std::int64_t median_ns = 0;     // of how much earlier it ends collectives than its reference
  std::int64_t spread_ns = 0;     // median distance from that median
  std::int64_t instances = 0;     // it rests on; 0: the first rank, or none shared
  std::int64_t violation_ns = 0;  // by how much recorded clocks break the bounds; 0: they hold
};

// One entry a trace; the first keeps its clock. All traces have one base_ns.
std::vector<ClockOffset> clock_offsets(std::span<const RecordedTrace> traces,
                                       std::span<const CollectiveInstance> instances);

// Adds the offset to all times of the trace.
void shift_clock(RecordedTrace& trace, std::int64_t offset_ns);

}  // namespace orrery
