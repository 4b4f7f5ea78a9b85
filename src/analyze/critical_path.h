// The chain of host and device operations that determines how long a part of a recording takes.
//
// Points are the start and the end of every operator, runtime call and data-loading mark of the
// host, and of the device work they launch; synchronizations have points without edges of theirs.
// Edges, with their weights:
//
//   operation        along the nesting of one thread: A.start -> B.start -> B.end -> A.end; from
//                    the start of device work to its end: the elapsed time, but 0 up to the end of
//                    a call that waits for the device, since that time belongs to what it waits for
//   dependency       between consecutive outermost operators of a thread, and among calls that
//                    hold the lock of the CUDA runtime (cudaHostAlloc, cudaLaunchKernel,
//                    cudaMemcpyAsync), which finish one after the other: 0
//   launch delay     from the start of a launch call to its work, where the work waited for
//                    nothing else: elapsed; to all other work: 0, which keeps what-ifs causal
//   kernel gap       from the previous work of a stream, where that is what delayed the start and
//                    the gap is shorter than 1500 us: the gap
//   synchronization  from the last work before an event, on a stream or on the device to what
//                    waits for it: 0
//
// The critical path (timeline/critical_path.h) is the longest path. Where two are equally long, the
// edge found first wins (locks, then nesting by thread, then streams by time), so the result is
// deterministic.
//
// A thread that has "forward" names and one that has "autograd" names count as one thread, because
// the first waits while the second runs.
//
// Source: facebookresearch/HolisticTraceAnalysis f4d0062, critical path analysis. Departures: edges
// between work of one stream that a synchronization would add are left out instead of refusing the
// whole recording (the order of the stream says the same). Valid for one rank; needs the
// profiler's synchronization events to see waits across streams. O(events log events).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/device_work.h"
#include "outcome/enum_names.h"
#include "outcome/result.h"
#include "timeline/critical_path.h"
#include "trace/launch_links.h"

namespace orrery {

inline constexpr std::int64_t kLongestKernelGapNs = 1'500'000;

struct PathPoint {
  std::uint32_t event = 0;
  std::int64_t time_ns = 0;
  bool is_start = false;
};

struct PathEdge {
  enum class Kind : std::uint8_t {
    operation,
    dependency,
    launch_delay,
    kernel_gap,
    synchronization
  };
  std::uint32_t from = 0;  // points
  std::uint32_t to = 0;
  std::uint32_t event = kNoEvent;  // the event whose time it is
  Kind kind = Kind::operation;
  std::int64_t weight_ns = 0;
};
EnumNames<PathEdge::Kind> names_of(PathEdge::Kind);

struct PathGraph {
  Interval window;
  std::vector<PathPoint> points;        // by time, then place in the file, starts before ends
  std::vector<PathEdge> edges;          // in the order in which they were found; one for two points
  std::vector<std::uint32_t> start_of;  // the points of an event; kNoEvent: none
  std::vector<std::uint32_t> end_of;
};

// Of what the host began within `window`, and of what it launched there.
PathGraph path_graph(const RecordedTrace& trace, const LaunchLinks& links, Interval window);

// The edges of the longest path, first to last. Errors: events that wait for each other in a
// circle.
Result<std::vector<std::uint32_t>> longest_path(const RecordedTrace& trace, const PathGraph& graph);

// The first so many bounds are those that this construction tells apart.
inline constexpr std::size_t kEventPathBounds = 7;

// What such edges are bound by, one operation a point, on one stretch.
StepPath critical_path(const RecordedTrace& trace, const PathGraph& graph,
                       const std::vector<std::uint32_t>& edges);

// The k-th annotation (or operator) whose name contains `part`, from 0, by start: an event.
// Errors: there is none; the hint lists what there is.
Result<std::uint32_t> annotated_event(const RecordedTrace& trace, std::string_view part,
                                      std::size_t instance);

}  // namespace orrery
