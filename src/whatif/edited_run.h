// A recorded run under edit: its graph, and what every piece of device work in it is.
//
// Edits change durations, order and dependencies of the graph (replay/run_graph.h); what work is
// stays with the recording it came from. Copies an edit makes stand for the same recorded work.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/run_graph.h"
#include "trace/kernel_class.h"
#include "trace/launch_links.h"
#include "trace/recorded_trace.h"
#include "whatif/edit.h"

namespace orrery {

// What a piece of device work is. Texts live as long as the recordings.
struct WorkSubject {
  std::string_view kernel;
  KernelClass kernel_class = KernelClass::other;
  std::string_view op;  // innermost operator; empty if not known
  std::string_view shapes;
  std::string_view types;
  std::int64_t rank = kNotRecorded;
  std::int64_t stream = kNotRecorded;
  // Of a communication.
  std::string collective;  // "allreduce"; without arguments from the kernel's name, "AllReduce"
  std::string_view group;
  std::string_view group_description;
  std::optional<std::int64_t> group_size;
  std::optional<Bytes> volume;   // of the whole message (analyze/recorded_message.h)
  std::optional<Bytes> element;  // of it
};

// Communications of all ranks that are one.
struct RunInstance {
  std::string key;                     // collective and group, the same on all ranks
  std::vector<std::uint32_t> members;  // into RunGraph::works
};

class EditedRun {
 public:
  EditedRun(std::span<const RecordedTrace> traces, RunGraph graph);

  [[nodiscard]] RunGraph& graph() { return graph_; }
  [[nodiscard]] const RunGraph& graph() const { return graph_; }
  [[nodiscard]] std::span<const RecordedTrace> traces() const { return traces_; }

  [[nodiscard]] const LaunchLinks& links(std::uint32_t trace) const { return links_[trace]; }
  [[nodiscard]] WorkSubject subject(const RunWork& work) const;
  // Whether device work is selected; never where the host is meant.
  [[nodiscard]] bool selects(const Selection& where, const RunWork& work) const;
  // Whether time of the host is selected: by rank, by operator, and only where the host is meant.
  [[nodiscard]] bool selects_host(const Selection& where, const RunNode& node) const;
  [[nodiscard]] std::vector<std::uint32_t> selected(const Selection& where) const;  // works

  [[nodiscard]] bool communicates(const RunWork& work) const {
    return graph_.nodes[work.last].kind == RunNodeKind::transfer;
  }
  // Of all nodes of a work together; setting it keeps their proportions.
  [[nodiscard]] std::int64_t duration_ns(std::uint32_t work) const;
  void set_duration_ns(std::uint32_t work, std::int64_t duration_ns);

  // The communications among `works`, by their first start in the recording.
  [[nodiscard]] std::vector<RunInstance> instances(std::span<const std::uint32_t> works) const;

  // Takes the time of works and what launched and dispatched them: calls that launch nothing else,
  // latencies. `keep_work`: only the launch goes.
  enum class Remove { work_and_launch, launch };
  void remove(std::span<const std::uint32_t> works, Remove what = Remove::work_and_launch);

  // Of every work the call node that launched it (its first half, if it is two); kNoEvent.
  [[nodiscard]] std::vector<std::uint32_t> launching_nodes() const;
  // Whether a node only says when the recording of its thread begins.
  [[nodiscard]] bool begins_recording(std::uint32_t node) const;

 private:
  std::span<const RecordedTrace> traces_;
  RunGraph graph_;
  std::vector<LaunchLinks> links_;  // of every trace
};

// Most nodes that an edit may add to a run.
inline constexpr std::size_t kMostCopiedNodes = 20'000'000;

// Nanoseconds times a factor, rounded.
std::int64_t scaled_ns(std::int64_t ns, double factor);

}  // namespace orrery
