// Operators of one rank: how often they ran, how long they took on the host and on the device, and
// how close they came to the limits of the accelerator.
//
// Device time of an operator is the sum of what it launched itself (direct) or with the operators
// inside it (all). Rates divide FLOPs and bytes (recorded_work.h) by all of it:
//
//   achieved FLOP/s = FLOPs / device time             bytes/s = bytes / device time
//   roofline        = max(FLOPs / peak, bytes / bandwidth) / device time,  1 is the optimum
//
// Operators that enclose others count them: aten::linear has the time of its aten::addmm. For
// totals use the FLOPs of OperatorTable::all, which counts nothing twice. O(events x nesting).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/device_work.h"
#include "analyze/recorded_work.h"
#include "analyze/spread.h"
#include "cluster/accelerator.h"
#include "trace/launch_links.h"

namespace orrery {

enum class OperatorGrouping : std::uint8_t {
  name,
  shapes,     // and types
  arguments,  // and strides and values
};

struct OperatorRow {
  std::uint32_t name = 0;  // into the texts of the trace
  std::uint32_t shapes = 0;
  std::uint32_t types = 0;
  std::uint32_t example = 0;  // the first call, an event
  Spread host;                // durations of the calls
  std::int64_t direct_ns = 0;
  std::int64_t own_ns = 0;
  Spread device;              // of each call that launched work: all device time of it
  std::int64_t launched = 0;  // pieces of device work
  // Of the calls whose work is known and that launched any.
  std::optional<RecordedWorkClass> operator_class;
  std::int64_t with_work = 0;
  std::int64_t with_work_ns = 0;
  Flops flops;
  Bytes bytes;
  double roofline = -1;  // below 0: not known
  FlopsPerSecond peak;   // of its class and type on the accelerator; 0: not known

  [[nodiscard]] FlopsPerSecond flops_rate() const;
  [[nodiscard]] BytesPerSecond bytes_rate() const;
};

struct OperatorTotals {
  Flops flops;                 // of operators that stand in no other whose work is known
  std::int64_t device_ns = 0;  // of those
  std::vector<std::int64_t> by_class_ns = std::vector<std::int64_t>(kRecordedWorkClasses);
  std::int64_t other_ns = 0;  // launched by operators whose work is not known
};

struct OperatorTable {
  std::vector<OperatorRow> rows;  // most own time first, then device time, host time, name, shapes
  OperatorTotals all;
};

// Of operators that start in `window`. `accelerator` may be null.
OperatorTable operator_table(const RecordedTrace& trace, const LaunchLinks& links,
                             OperatorGrouping grouping, const Accelerator* accelerator,
                             Interval window = kAllTime);

// The rate that bounds work of a class and type (as PyTorch names it) on an accelerator; empty
// where it has no such units.
std::optional<FlopsPerSecond> peak_rate(const Accelerator& accelerator, RecordedWorkClass c,
                                        std::string_view type);

}  // namespace orrery
