// The critical path of a simulated graph: the chain of nodes each of which could begin because the
// one before it ended, followed back from the node that ended last.
//
//   before(n) = of all that n waited for, the node that ended last
//
// A node waits for the node before it on its stream, for its predecessors and, in a rendezvous, for
// the nodes before it on its further streams; among those that ended together, the first in this
// order wins, so the chain is deterministic. Every moment of the path belongs to exactly one node:
//
//   length = sum over bounds = sum over ranks = sum over stretches,   in whole nanoseconds
//
// A stretch is the part of the path on one thread or stream before it changes to another. Making an
// operation faster that is not on the path does not make the step faster.
//
// The chain knows only durations and dependencies. The maker of the graph says what its nodes are
// (rank, thread or stream, name, what bounds them): replay/step_path.h of a recorded run,
// replay/graph_path.h of a graph, analyze/critical_path.h of HTA's construction.
//
// O(nodes + edges) once for a graph, O(length of the chain) for each path.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/edge_lists.h"
#include "outcome/enum_names.h"
#include "simulate/simulate.h"

namespace orrery {

inline constexpr std::uint32_t kNoNode = std::numeric_limits<std::uint32_t>::max();

// A node of a chain, and the part of its time that belongs to the path.
struct ChainNode {
  std::uint32_t node = 0;
  std::int64_t ns = 0;
};

class CriticalChains {
 public:
  CriticalChains(const Graph& graph, Timeline timeline);
  // Of nodes that ended at `end_ps` and waited for those of `sources`.
  CriticalChains(std::vector<double> end_ps, EdgeLists sources)
      : end_ps_(std::move(end_ps)), sources_(std::move(sources)) {}

  // From `from_ns` to the end of `last`, first to last. Nodes that took no time are among them.
  [[nodiscard]] std::vector<ChainNode> up_to(std::uint32_t last, std::int64_t from_ns) const;
  [[nodiscard]] double end_ps(std::size_t node) const { return end_ps_[node]; }
  [[nodiscard]] std::int64_t end_ns(std::size_t node) const;

 private:
  std::vector<double> end_ps_;
  EdgeLists sources_;
};

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
  std::vector<PathShare> names;                          // the longest first, then by name
  std::vector<PathStretch> stretches;                    // first to last
};

// What a path is of: of `step`, from a moment of the simulation to the end of a node.
struct PathWindow {
  StepPath step;
  std::int64_t from_ns = 0;
  std::uint32_t to = kNoNode;  // none: nothing happened
};

// What a node of a chain is.
struct PathLabel {
  std::int64_t rank = 0;
  std::uint64_t place = 0;     // identifies the thread or stream
  std::string on = {};         // names it
  bool on_host = false;        // a thread
  std::string_view name = {};  // must live as long as the collection
  PathBound bound = PathBound::host;
  bool awaited = true;  // by the next node; else it made room for it, where both are on streams
};

// Makes a path of the labels of a chain, first to last.
class PathCollection {
 public:
  explicit PathCollection(StepPath path) : path_(std::move(path)) {}
  void add(const PathLabel& label, std::int64_t ns);
  [[nodiscard]] StepPath path();

 private:
  struct Sum {
    std::int64_t count = 0;
    std::int64_t total_ns = 0;
  };
  using Key = std::tuple<std::int64_t, std::string_view, PathBound>;

  void begin_stretch(const PathLabel& label);
  void close_stretch();

  StepPath path_;
  std::map<Key, Sum> names_;
  std::map<std::int64_t, std::int64_t> ranks_;
  std::map<Key, std::int64_t> in_stretch_;
  std::optional<PathLabel> before_;  // the last that took time
  bool awaited_ = false;             // any since
};

}  // namespace orrery
