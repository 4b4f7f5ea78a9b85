// The critical path of a step: the chain of operations that determined when it ended, over threads,
// streams and ranks, and why each began when it did.
//
// The run's graph (replay/graph_from_run.h) is simulated and followed back from the step's end
// (replay/run_walk.h), so that the path contains everything a replay models: order of threads and
// streams, launches, waits between streams and threads, synchronizing calls, communications across
// ranks. Where a rank waited for another in a communication, the path goes on in that other rank.
//
//   length = end of the step's last operation - end of the last one before the step
//          = sum over bounds = sum over ranks = sum over stretches,   in whole nanoseconds
//
// A stretch is the part of the path on one thread or stream before it changes to another. Making an
// operation faster that is not on the path does not make the step faster.
//
// The length is the replayed step's, which stands beside the recorded one. Where no steps are
// marked, the whole recording of the rank counts, up to its last operation on host or device.
// Memory: that of the graph while it is made; O(nodes + edges + chain).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/enum_names.h"
#include "outcome/result.h"
#include "replay/run_graph.h"
#include "trace/recorded_trace.h"

namespace orrery {

enum class PathBound : std::uint8_t {
  host,  // threads, with calls of the runtime and pauses between operators
  data_loading,
  compute,
  communication,  // after the last rank has arrived
  copies,         // and fills
  kernel_gap,     // between two pieces of work of a stream
  launch_delay,   // from a call to its work
  wake_up,        // of a stream by another, of a thread by another
  other_process,  // until another process's turn on the device was over
};
inline constexpr std::size_t kPathBounds = 9;
std::span<const EnumName<PathBound>> names_of(PathBound);

// Why a stretch began when it did.
enum class StretchCause : std::uint8_t {
  window,        // the step begins with it
  launch,        // a thread launched the work
  other_stream,  // another stream of the device had to end
  device,        // a thread waited for the device
  other_thread,  // a thread waited for another
  rank,          // the last rank arrived at a communication
  room,          // the device was full, or another process used it
};
inline constexpr std::size_t kStretchCauses = 7;
std::span<const EnumName<StretchCause>> names_of(StretchCause);

struct PathStretch {
  std::int64_t rank = 0;
  std::string on;  // "thread 4711", "stream 7"
  StretchCause cause = StretchCause::window;
  std::int64_t begin_ns = 0;  // since the step began
  std::int64_t end_ns = 0;
  std::int64_t operations = 0;
  std::string longest;                // the name it spends most of its time in
  PathBound bound = PathBound::host;  // of that
};

// The part of the path that belongs to one name.
struct PathShare {
  std::string name;
  PathBound bound = PathBound::host;
  std::int64_t rank = 0;
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
};

struct RankShare {
  std::int64_t rank = 0;
  std::int64_t total_ns = 0;
};

struct StepPath {
  std::int64_t rank = 0;      // whose step it is
  std::string of;             // "ProfilerStep#4", "the whole recording"
  std::int64_t start_ns = 0;  // of the recording, on the trace's clock
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> recorded_ns;  // none: nobody recorded it
  std::int64_t length_ns = 0;
  std::int64_t operations = 0;
  std::array<std::int64_t, kPathBounds> by_bound_ns{};
  std::array<std::int64_t, kPathBounds> on_others_ns{};  // of these, on other ranks
  std::vector<RankShare> ranks;                          // that it touches, the longest first
  std::vector<PathShare> names;                          // the longest first
  std::vector<PathStretch> stretches;                    // first to last
};

struct StepPathOptions {
  // By trace: the annotation or operator whose path is asked for; empty: the first marked step.
  std::vector<std::uint32_t> events;
};

// Of every rank, in the order of `traces`; a rank without operators, calls and device work has a
// path of no length. Refuses what graph_from_run refuses: runs in which no rank has any.
Result<std::vector<StepPath>> step_paths(std::span<const RecordedTrace> traces,
                                         const StepPathOptions& options = {});

}  // namespace orrery
