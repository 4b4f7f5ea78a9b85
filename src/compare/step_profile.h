// Attributes every moment of a recorded step to one operator.
//
// At every moment of a step of one rank exactly one line owns the time:
//
//   a kernel that computes runs           the operator that launched it       (the first to start,
//   else a communication kernel runs      the communication                    of several)
//   else a copy or fill runs              the operator that launched it
//   else the device is idle               what ends the idle time: until its launch call begins the
//                                         host is late, from then on the launch takes its time
//   else, after the last work             nobody: the end of the step
//
// so that the lines add up to the step exactly (whole nanoseconds). A line also has the
// time in which its work ran (busy); the part in which other lines owned the time is hidden. A
// communication's busy time has a part spent waiting for other ranks, where several are recorded
// (trace/collective_instances.h). A recording without device work is profiled by the innermost
// operator of the thread that runs its steps.
//
// Lines are sums over the steps and ranks of the run, divided by their number, so they are those of
// an average step. Work is clipped at the windows of the host's marks (trace/marked_steps.h).
// O(events log events).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "outcome/enum_names.h"
#include "outcome/result.h"
#include "trace/recorded_trace.h"
#include "units/quantity.h"

namespace orrery {

enum class LineKind : std::uint8_t { computing, communication, copying, host };

// Nanoseconds of all steps and ranks together, as integers.
struct LineTimes {
  std::int64_t calls = 0;       // kernels, copies; of a host line operators
  std::int64_t busy_ns = 0;     // its work ran
  std::int64_t owned_ns = 0;    // its work owned the time
  std::int64_t waiting_ns = 0;  // of busy: for ranks that came later
  std::int64_t late_ns = 0;     // idle: the launch call had not begun
  std::int64_t latency_ns = 0;  // idle: from the launch call to the work

  [[nodiscard]] std::int64_t hidden_ns() const { return busy_ns - owned_ns; }
  [[nodiscard]] std::int64_t contribution_ns() const { return owned_ns + late_ns + latency_ns; }
};

struct ProfileLine {
  std::string name;     // "aten::mm", "allreduce, group 13"; of unlaunched work the kernel's name
  std::string detail;   // shapes of the inputs, or the volume of a communication
  std::string context;  // the outermost operator around it; else the class of the kernel
  LineKind kind = LineKind::computing;
  LineTimes times;
  std::map<std::string, std::int64_t> kernels;  // time by name of the kernel, of busy
};

struct StepProfile {
  std::int64_t steps = 0;          // windows, of all ranks
  std::int64_t step_ns = 0;        // their sum; the contributions and the ends add up to it
  std::int64_t end_ns = 0;         // of step_ns: after the last work
  std::vector<ProfileLine> lines;  // by first appearance
  bool waiting_known = false;      // several ranks are recorded

  // A sum of nanoseconds as seconds of one step.
  [[nodiscard]] double per_step_s(std::int64_t ns) const {
    return steps > 0 ? static_cast<double>(ns) * 1e-9 / static_cast<double>(steps) : 0;
  }
};

// The step divided by what owned its time; the parts add up to it.
struct StepParts {
  Seconds computing;
  Seconds exposed_communication;  // nothing computes meanwhile
  Seconds copying;                // nothing else runs meanwhile
  Seconds host;                   // operators of a recording without device work
  Seconds late;                   // the device idles: the host has not launched yet
  Seconds latency;                // the device idles between a launch and its work
  Seconds end;                    // after the last work; of a host, outside of operators
};
StepParts parts(const StepProfile& profile);

struct ProfileOptions {
  std::optional<std::int64_t> step;  // only this one
  std::optional<std::int64_t> rank;
};

// Errors: no such step or rank, a run without a step.
Result<StepProfile> step_profile(std::span<const RecordedTrace> run,
                                 const ProfileOptions& options = {});

}  // namespace orrery
