// Which call of the host put work on a device, and in which operator of the framework.
//
// Device work and the runtime call that launched it carry the same correlation; a call that appears
// twice under one correlation counts once, the earlier. An event of the host lies in the innermost
// operator of its thread that covers all of it. A call that none covers whole, as profilers date
// the end of a call or an operator some microseconds off, lies in the innermost one that covers its
// start. Where the launch is not in the recording, the operator whose external id the work carries
// takes its place, if that id is not the correlation over again (traces until early 2024).
//
// Source: validation/traces/README.md (share of work with a launch, by file); writers of
// pytorch/kineto. Not modelled: kernels launched by kernels. O(n log n) for n events,
// thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/recorded_trace.h"

namespace orrery {

struct LaunchLinks {
  // Of device work and synchronizations: the runtime call of the same correlation; kNoEvent.
  std::vector<std::uint32_t> call;
  // The innermost operator around an event of the host, or that launched work of a device.
  std::vector<std::uint32_t> inner_operator;
  // The outermost operator around an event of the host.
  std::vector<std::uint32_t> outermost;

  // The operator in which the call of device work was made; kNoEvent.
  [[nodiscard]] std::uint32_t operator_of(std::size_t work) const {
    return call[work] == kNoEvent ? kNoEvent : inner_operator[call[work]];
  }
  // The outermost operator around the event, or that launched it: what a person called.
  [[nodiscard]] std::uint32_t outer_operator(std::uint32_t event) const;
  // Whether it is recorded what launched this device work: the call, or at least the operator.
  [[nodiscard]] bool is_launched(std::uint32_t event) const {
    return call[event] != kNoEvent || inner_operator[event] != kNoEvent;
  }
};

LaunchLinks launch_links(const RecordedTrace& trace);

// Whether device work without a launch was launched before the recording began, by a host that is
// ahead of its device: all of it began before the first work that has a launch. False where no work
// has one: nothing tells then.
bool unlaunched_is_earlier(const RecordedTrace& trace, const LaunchLinks& links);

}  // namespace orrery
