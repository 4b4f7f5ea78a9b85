// Says in words why the devices of a recording are idle and why its ranks wait for each other, for
// commands that compare a recording with a prediction (orrery trace spec, orrery trace diff
// --predicted).
//
//   idle      what the hosts did meanwhile (analyze/host_activity.h), with time slices of another
//             process apart (replay/time_slices.h); how much they launch, and how long launching
//             takes according to the software profile
//   waiting   which rank the others waited for (analyze/communication_table.h)
//
// Read from the recording; nothing is fitted. O(events log events).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "compare/step_profile.h"
#include "trace/recorded_trace.h"
#include "units/quantity.h"

namespace orrery {

// The time that the host of a rank needs to launch the passes of a predicted step.
struct PredictedLaunching {
  std::string software;  // profile
  Seconds time;
};

// Of one step.
struct ComparedIdleTime {
  Seconds recorded;
  Seconds predicted;
  Seconds recorded_step;
  double launches = 0;  // kernels, copies and fills that are recorded, of a rank
  std::optional<PredictedLaunching> launching;  // none: what is compared is no predicted step
};

// Kernels, copies and fills of a step of a rank, on average.
double step_launches(const StepProfile& profile);

// A sentence or two, for `steps` of the run.
std::string why_idle(std::span<const RecordedTrace> run, const ComparedIdleTime& idle,
                     const ProfileOptions& steps = {});
std::string why_waiting(std::span<const RecordedTrace> run, const ProfileOptions& steps = {});

}  // namespace orrery
