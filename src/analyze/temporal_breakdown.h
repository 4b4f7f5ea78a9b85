// Divides the time of one rank's device into parts that add up to the window exactly.
//
// With C, M, P the unions of computing, communicating and copying (all streams), clipped to a
// window W, and |x| the length of a set:
//
//   compute               = |C|
//   exposed communication = |M without C|
//   exposed copies        = |P without C without M|
//   idle                  = |W| - |C or M or P|,   divided by cause, see idle_time.h
//   overlapped            = |C and M|              (part of compute; not added again)
//
// The presets differ in what belongs to which set, and in the window:
//
//   preset     fills are  window                                        work taken
//   orrery     copies     what is asked for; by default from the first  all
//                         start to the last end of device work
//   tracelens  compute    first start to last end                       that an operator in the
//                                                                        recording launched
//   hta        copies     first start to last end                       launched before the last
//                                                                        profiler step; all, if
//                                                                        there are not two
//
// hta also classifies by other names (^nccl, ^hip*, ^hccl or "ncclKernel" communicate; "Memcpy",
// "Memset", "dma" first copy).
//
// Source: AMD-AGI/TraceLens 171dd747 (gpu_timeline); facebookresearch/HolisticTraceAnalysis f4d0062
// (temporal breakdown); orrery: the definitions of validation/traces/README.md.
// Checked in temporal_breakdown_test.cc against the figures of both.
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/device_work.h"
#include "analyze/idle_time.h"
#include "outcome/enum_names.h"
#include "trace/launch_links.h"

namespace orrery {

enum class BreakdownPreset : std::uint8_t { orrery, hta, tracelens };

struct TemporalBreakdown {
  Interval window;
  std::int64_t compute_ns = 0;
  std::int64_t exposed_communication_ns = 0;
  std::int64_t exposed_copy_ns = 0;
  DeviceIdle idle = {};

  std::int64_t communication_ns = 0;  // |M|
  std::int64_t copy_ns = 0;           // |P|
  std::int64_t overlapped_ns = 0;     // |C and M|

  [[nodiscard]] std::int64_t total_ns() const { return window.end - window.start; }
  [[nodiscard]] std::int64_t busy_ns() const { return total_ns() - idle.total_ns(); }
  // Of the communication, the share that ran beside computing; 0 where there is none.
  [[nodiscard]] double overlap() const {
    return communication_ns == 0
               ? 0
               : static_cast<double>(overlapped_ns) / static_cast<double>(communication_ns);
  }
  // Of several windows the sum, as long as they are together.
  TemporalBreakdown& operator+=(const TemporalBreakdown& b);
};

// The kind of every event by a preset; WorkKind::none also of work that it does not take.
std::vector<WorkKind> kinds_of(const RecordedTrace& trace, const LaunchLinks& links,
                               BreakdownPreset preset);

// Of one rank. `window` only applies to BreakdownPreset::orrery. `other_process`: as of idle_time.
TemporalBreakdown temporal_breakdown(const RecordedTrace& trace, const LaunchLinks& links,
                                     BreakdownPreset preset,
                                     std::optional<Interval> window = std::nullopt,
                                     const Intervals& other_process = {});

// The same for several windows of one rank at once, by the definitions of BreakdownPreset::orrery.
std::vector<TemporalBreakdown> temporal_breakdowns(const RecordedTrace& trace,
                                                   const LaunchLinks& links,
                                                   const std::vector<WorkKind>& kinds,
                                                   const std::vector<Interval>& windows,
                                                   const Intervals& other_process = {});

}  // namespace orrery
