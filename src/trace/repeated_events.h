// Events that stand twice in one file, and kernels whose times a stream cannot have.
//
// Files are joined, and written twice, by tools and by hand; every sum over them is then twice what
// ran. Two events are one if row, kind, name, start, duration, correlation and External id agree
// (of synchronizations the streams and events too), and if that cannot be chance:
//
//   work of a device   longer than the rounding, as a stream runs one after the other
//   of the host        that takes time, with a correlation or an External id; in nanoseconds
//                      without one too, as a thread does one thing of a name at a time
//
// Others (without duration, or annotations and python functions in whole microseconds) may agree by
// chance. They count as repeated as often as those do on average, to a whole number: where a file
// holds everything twice, one of two stays, and where single kernels are repeated, all of them.
// Allocations are told apart by address and totals in nanoseconds, and are such others elsewhere.
//
// Kernels of one stream overlap if one begins before another ends, by more than a microsecond:
// files of before April 2024 round start and duration to whole ones each. A stream runs its kernels
// one after the other; only programmatic dependent launch lets the next begin earlier (CUDA C++
// Programming Guide, "Programmatic Dependent Launch and Synchronization"). Otherwise clocks are
// wrong, or the streams of several devices bear one name. They are counted and kept.
//
// O(n), and O(k log k) for k events of the same start and duration.
#pragma once

#include "trace/recorded_trace.h"

namespace orrery {

// Leaves the copies of sorted events out (the first in the file stays) and counts them. Before
// arrows are joined, as events change their numbers.
void leave_out_repeated(RecordedTrace& trace);

// Kernels that begin before an earlier one of their stream ends. Of sorted events.
std::int64_t overlapping_kernels(const RecordedTrace& trace);

}  // namespace orrery
