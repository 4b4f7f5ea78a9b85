// What costs a recorded run the most: the parts of its time that could be saved, largest first.
//
// The time is that of all steps of all ranks, or of their devices from first to last work where no
// steps are recorded (or a preset other than orrery is asked for). A finding's cost is an upper
// bound of what fixing it alone could save, summed over ranks:
//
//   host waits      the device was idle because its next work had not been launched
//   other process   part of them: the work was launched but another process used the device
//                   (replay/time_slices.h); host waits do not include it
//   waiting         exposed communication in which a rank only waited for others to arrive
//   communication   the rest of the exposed communication; all of it where one rank is recorded
//   slow operators  computing x (1 - the roofline's time / the time taken), over operators whose
//                   FLOPs and bytes are known
//   copies          exposed copies and fills
//   stream waits    idle although work was launched in time: it waited for another stream or event
//
// Findings of less than kLeastFinding of the time are left out. After them comes one that costs
// nothing and says how to read the others:
//
//   earlier work   devices are behind their hosts: of what they did in the windows of steps, at
//                  least kLeastEarlier was launched in steps before (analyze/device_lag.h)
//
// O(rows of the analysis).
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/run_analysis.h"
#include "outcome/enum_names.h"

namespace orrery {

enum class FindingKind : std::uint8_t {
  host_waits,
  other_process,
  waiting,
  communication,
  slow_operators,
  copies,
  stream_waits,
  earlier_work
};
inline constexpr std::size_t kFindingKinds = 8;
inline constexpr double kLeastFinding = 0.01;
inline constexpr double kLeastEarlier = 0.25;

struct Finding {
  FindingKind kind = FindingKind::host_waits;
  std::int64_t cost_ns = 0;  // of all ranks; earlier work: 0
  double share = 0;          // of their time; earlier work: of what devices did in the steps
  std::size_t worst = 0;     // place of the rank it costs most
  double worst_share = 0;    // of that rank's time, or what its device did
};

// The longest first; of equals, the order of FindingKind.
std::vector<Finding> findings(const RunAnalysis& analysis);

// The parts of one rank's time that findings refer to. Its window has the length of that time and
// no particular start.
TemporalBreakdown analyzed_time(const RankAnalysis& rank, BreakdownPreset preset);

}  // namespace orrery
