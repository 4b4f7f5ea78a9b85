// Whether the times of a trace's events can be of one recording.
//
// A profiler records seconds to minutes. An event that begins more than a day from the median of
// the others, or takes longer than that, has a broken time: a counter that wrapped, a clock of
// another device. One such event stretches the span of the whole trace to years, and makes all
// shares of it nonsense. The bounds also keep every sum of times within 64 bits: durations add up
// to less than 2^62 ns.
//
// The events must be sorted (sorted_events.h). O(n); nothing is copied where all is well.
#pragma once

#include <cstdint>

#include "outcome/result.h"
#include "trace/recorded_trace.h"

namespace orrery {

inline constexpr std::int64_t kLongestRecordingNs = 86'400'000'000'000;  // a day

// An error that names the first event that is too far from the others.
Result<void> check_times(const RecordedTrace& trace);

// Takes such events and allocations out and counts them as left out. An error remains where the
// durations of the others add up to too much.
Result<void> leave_out_strays(RecordedTrace& trace);

}  // namespace orrery
