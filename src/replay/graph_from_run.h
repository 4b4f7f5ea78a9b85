// Builds the graph of a recorded run: durations, gaps of the host, and dependencies.
//
// Dependencies (Lumos, arXiv 2504.09307, section 3.3, and formats of PyTorch's profiler):
//
//   thread order        segments and runtime calls of a thread follow each other
//                       (replay/host_segments.h)
//   thread to thread    a thread that was idle while another one ran waits for it
//                       (replay/thread_waits.h)
//   launch              a launch call and what it launched share a correlation
//   stream order        kernels and copies of one stream follow each other
//   stream to stream    recorded wait events, or else deduced from the runtime calls
//                       (replay/stream_waits.h)
//   device to host      a synchronising call ends after what it waits for (replay/stream_waits.h)
//   rank to rank        all ranks arrive at a communication before any transfers
//
// The start times of device work (kernels, copies, fills) and the gaps between it are not inputs.
// They follow from the dependencies and from a few constants of the whole trace (LaunchParameters),
// each a median or mean over it:
//
//   launch    start of work on an idle stream - end of its launch call (copies: start of the call),
//             by kind of work
//   dispatch  start of work that was launched long before - end of the work before it
//   wake      start of work that waited for another stream - end of what it waited for
//
// Recorded times of the device only decide which dependencies are possible (work cannot have waited
// for what ended later) and split the duration of a synchronising call into waiting and its own
// time,
//
//   own = end of the call - max(start of the call, end of what it waited for),
//
// just like the durations of communications. Initial conditions are taken as recorded: when each
// rank's recording begins, and when work runs that was launched before it. Later work without a
// recorded launch is tied to the host's progress at its start, and counted.
//
// Not modelled: kernels that slow each other down, the overhead of the profiler, a full launch
// queue. O(events log events).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "outcome/result.h"
#include "replay/run_graph.h"
#include "trace/recorded_trace.h"
#include "trace/work_kind.h"

namespace orrery {

struct LaunchParameters {
  std::array<std::int64_t, kWorkKinds>
      launch_ns{};  // may be negative; copies: from the call's start
  std::array<std::int64_t, kWorkKinds> dispatch_ns{};  // before work of this class
  std::int64_t wake_ns = 0;
  std::int64_t slice_ns = 0;  // of another process on the device; 0: none

  // From the start of a launch call to the start of its work on an idle stream.
  [[nodiscard]] std::int64_t after_call_begins(WorkKind of, std::int64_t call_ns) const;
};

enum class StreamWaits : std::uint8_t { kept, dropped };

struct GraphFromRunOptions {
  // Dropped: streams of a device do not wait for each other. Lumos, section 3.1, measures the error
  // that this causes in earlier simulators.
  StreamWaits stream_waits = StreamWaits::kept;
  // By trace: the event of a thread that is the trace's only step; empty: those that are marked.
  std::vector<std::uint32_t> steps = {};
};

struct GraphFromRun {
  RunGraph graph;
  std::vector<LaunchParameters> parameters;  // of every trace
  std::size_t stream_waits = 0;              // edges between streams of one device
  std::size_t room_waits = 0;                // work that waited because the device was full
  std::size_t resumed = 0;                   // work that waited for another process's turn
  std::size_t synchronizations = 0;          // calls that wait for device work
  std::size_t thread_waits = 0;              // edges between threads
  std::size_t rendezvous = 0;                // communications matched over two or more ranks
  std::size_t incomplete = 0;                // of these, with ranks that were not recorded
  std::size_t unlaunched = 0;                // work whose launch is not recorded
  std::size_t anchored = 0;                  // of this, tied to the host's progress
};

// Errors: a run without events that can be replayed.
Result<GraphFromRun> graph_from_run(std::span<const RecordedTrace> traces,
                                    const GraphFromRunOptions& options = {});

}  // namespace orrery
