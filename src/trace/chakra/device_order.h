// What work on the devices of a rank waited for, besides the operator that launched it: for
// simulators that replay a trace.
//
// Work of a stream follows the work before it. What began more than 20 us after its launch and its
// stream allowed
//
//   follows work of another stream of its device that ended within 20 us before (an event between
//   the streams; 2 us later counts too, older recordings hold whole microseconds), and otherwise
//   began late for a reason that no dependency says
//
// Work whose launch was not recorded was mostly queued before the recording began. The first of a
// stream, and what nothing explains, is `placed`: it begins when it did, or after the operator of
// the host that ended last before it.
//
// What began up to 20 us after all that, `lag_ns`, took so long to be dispatched: microseconds, but
// before every kernel.
//
// The times that these dependencies give, with the host as recorded, are `end_ns`: begin =
// max(launch, end of what it follows) + lag, at most the recorded one; end = begin + duration. A
// launch lets its work begin when the call ends, or when it begins if the call waited for the work.
//
// Source: in-order streams of CUDA and HIP; the rule of 20 us as in replay/stream_waits.h. Not
// modelled: why a device is late (other processes that share it by turns, its own scheduler).
// O(works x streams x log works).
#pragma once

#include <cstdint>
#include <vector>

#include "trace/chakra/call_tree.h"
#include "trace/recorded_trace.h"

namespace orrery {

// One entry an event; of what is no work on a device kNoEvent, false and 0.
struct DeviceOrder {
  std::vector<std::uint32_t> launch;       // the call; kNoEvent: not recorded
  std::vector<std::uint32_t> after_other;  // work of another stream
  std::vector<std::uint32_t> after_host;   // of work without launch: an operator
  std::vector<bool> placed;                // begins when it did: nothing says what it waited for
  std::vector<std::int64_t> lag_ns;
  std::vector<std::int64_t> end_ns;
};

// Fills that are left out count as time of what comes after them.
DeviceOrder device_order(const RecordedTrace& recorded, Fills fills);

}  // namespace orrery
