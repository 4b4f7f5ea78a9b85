// The documents of replays: of recorded runs, of operation timelines, of Chakra traces and of graph
// files.
#include <algorithm>
#include <array>
#include <vector>

#include "report/traces/graph_replay_report.h"
#include "report/traces/recorded_values.h"
#include "report/traces/replay_report.h"

namespace orrery {
namespace {

struct Dependencies {
  const Replay& replay;
  const GraphFromRun& graph;
};

struct ByWorkKind {
  const std::array<std::int64_t, kWorkKinds>& ns;
};

struct RankOfReplay {
  const RecordedTrace& trace;
  const LaunchParameters& constants;
};

struct ReplayDocument {
  const Replay& replay;
  const GraphFromRun& graph;
  std::span<const RecordedTrace> traces;
};

struct ReplayOfGraph {
  const GraphReplay& replay;
  const Graph& graph;
};

struct GraphFileDocument {
  const GraphReplay& replay;
  const GraphFile& file;
};

struct ChakraDocument {
  const GraphReplay& replay;
  const ChakraGraph& graph;
  const ChakraRun& run;
};

std::vector<RankOfReplay> ranks_of(const ReplayDocument& d) {
  std::vector<RankOfReplay> out;
  for (std::size_t t = 0; t < d.traces.size(); ++t) {
    out.push_back({d.traces[t], d.graph.parameters[t]});
  }
  return out;
}

// Whose the start times of the files are; none have none.
std::optional<TimesOfRun> times_of(const GraphReplay& replay) {
  const bool timed = std::ranges::any_of(
      replay.ranks, [](const ReplayedRank& rank) { return rank.recorded.has_value(); });
  if (!timed) return std::nullopt;
  return replay.of_simulated_times ? TimesOfRun::simulated : TimesOfRun::recorded;
}

std::vector<std::string> files_of(const ChakraRun& run) {
  std::vector<std::string> out;
  for (const ChakraRank& rank : run) out.push_back(rank.file);
  return out;
}

}  // namespace

template <>
inline constexpr auto kResults<FourParts> = table<FourParts>(
    "four_parts", "Parts of a step on the device, in seconds.",
    field<&FourParts::exposed_compute>("computing kernels run, communication does not"),
    field<&FourParts::overlapped>("both run"),
    field<&FourParts::exposed_communication>("communication runs, no computing kernel does"),
    field<&FourParts::other>("neither: copies, fills, idle"));

template <>
inline constexpr auto kResults<BoundBy> = table<BoundBy>(
    "bound_by",
    "What a replayed step depended on, from its end backwards; the parts add up to replayed_s.",
    field<&BoundBy::host>("threads of the rank, with calls of the runtime"),
    field<&BoundBy::launches>("from calls and other streams to work, and between two works"),
    field<&BoundBy::device>("computing kernels, copies and fills of the rank"),
    field<&BoundBy::communication>("transfers, from when the last rank has come"),
    field<&BoundBy::other_ranks>("until the last rank has come"));

template <>
inline constexpr auto kResults<ReplayedStep> = table<ReplayedStep>(
    "step", "One step of a rank.",
    field("rank", "of the job, from 0; null: not recorded",
          [](auto& r) { return if_recorded(r.rank); }),
    field<&ReplayedStep::name>(
        "step", "its name in the recording; \"recording\" where no steps are marked"),
    field<&ReplayedStep::recorded>("recorded_s", "on the host's thread, as recorded"),
    field<&ReplayedStep::replayed>("replayed_s", "the same, replayed"),
    field<&ReplayedStep::error>("|replayed - recorded| / recorded"),
    field<&ReplayedStep::recorded_parts>("recorded_breakdown_s",
                                         "of the recorded step on the device"),
    field<&ReplayedStep::replayed_parts>("replayed_breakdown_s",
                                         "of the replayed step on the device"),
    field<&ReplayedStep::misplaced>(
        "share of the step that the replay puts into another of the four parts than the recording"),
    field<&ReplayedStep::displacement>("displacement_s",
                                       "median over the work that began in the step of how far its "
                                       "replayed start is from the recorded one"),
    field<&ReplayedStep::bound_by>(
        "bound_by_s",
        "what the replayed step hung on, walked back from its end; the parts sum to replayed_s"));

template <>
inline constexpr auto kResults<ByWorkKind> = table<ByWorkKind>(
    "by_work", "A time for each kind of device work.",
    field("kernel", "of kernels", [](auto& r) { return time_of(r.ns[1]); }),
    field("communication", "of communications", [](auto& r) { return time_of(r.ns[2]); }),
    field("copy", "of copies", [](auto& r) { return time_of(r.ns[3]); }),
    field("fill", "of fills", [](auto& r) { return time_of(r.ns[4]); }));

template <>
inline constexpr auto kResults<LaunchParameters> = table<LaunchParameters>(
    "constants", "Times of the whole recording that replace recorded starts.",
    field("launch_s",
          "from the end of a launch call to its work on an idle stream; of copies from its start",
          [](auto& r) { return ByWorkKind{r.launch_ns}; }),
    field("dispatch_s", "from the end of one piece of work to the next that is ready",
          [](auto& r) { return ByWorkKind{r.dispatch_ns}; }),
    nanoseconds<&LaunchParameters::wake_ns>("wake_s",
                                            "from the end of what a stream waited for to its work"),
    nanoseconds<&LaunchParameters::slice_ns>("slice_s",
                                             "of another process on the device; 0: none"));

template <>
inline constexpr auto kResults<RankOfReplay> = table<RankOfReplay>(
    "rank", "One rank.",
    field("rank", "of the job, from 0; null: not recorded",
          [](auto& r) { return if_recorded(r.trace.rank); }),
    field("file", "as given", [](auto& r) { return r.trace.file; }),
    field("constants", "few times of the whole recording, in place of recorded starts",
          [](auto& r) { return r.constants; }));

template <>
inline constexpr auto kResults<Dependencies> = table<Dependencies>(
    "dependencies", "How many dependencies of each kind were found.",
    field("device_to_host", "calls that wait for device work",
          [](auto& r) { return r.graph.synchronizations; }),
    field("stream_to_stream", "waits of one stream for another",
          [](auto& r) { return r.graph.stream_waits; }),
    field("room_on_device", "work that found the device full",
          [](auto& r) { return r.graph.room_waits; }),
    field("turns_on_device", "work that waited for another process's turn",
          [](auto& r) { return r.graph.resumed; }),
    field("thread_to_thread", "waits of one thread for another",
          [](auto& r) { return r.graph.thread_waits; }),
    field("rank_to_rank", "communications matched over two and more ranks",
          [](auto& r) { return r.graph.rendezvous; }),
    field("rank_to_rank_incomplete", "of which ranks are missing",
          [](auto& r) { return r.graph.incomplete; }),
    field("unlaunched", "work whose launch is not recorded",
          [](auto& r) { return r.graph.unlaunched; }),
    field("anchored", "of the unlaunched: work that follows the progress of the host",
          [](auto& r) { return r.graph.anchored; }),
    field("dropped", "dependencies that closed a cycle",
          [](auto& r) { return r.replay.dropped_edges; }));

template <>
inline constexpr auto kResults<ReplayDocument> = table<ReplayDocument>(
    "replay", "A recorded run simulated from its durations and dependencies.",
    schema_version<kReplaySchemaVersion>(),
    constant("kind", "what the document is", "trace-replay"),
    field("steps", "by rank, then by start", [](auto& r) { return r.replay.steps; }),
    field("mean_error", "over all ranks and steps", [](auto& r) { return r.replay.mean_error; }),
    field("worst_error", "of a rank and step", [](auto& r) { return r.replay.worst_error; }),
    field("mean_misplaced", "of the steps", [](auto& r) { return r.replay.mean_misplaced; }),
    field("worst_misplaced", "of the steps", [](auto& r) { return r.replay.worst_misplaced; }),
    field("dependencies", "how many of each kind were found",
          [](auto& r) { return Dependencies{r.replay, r.graph}; }),
    field("nodes", "of the graph", [](auto& r) { return r.graph.graph.nodes.size(); }),
    field("ranks", "by rank", [](auto& r) { return ranks_of(r); }));

template <>
inline constexpr auto kResults<ReplayedOperationStep> = table<ReplayedOperationStep>(
    "operation_step", "One step of the job.", field<&ReplayedOperationStep::step>("its number"),
    field<&ReplayedOperationStep::recorded>("recorded_s", "from the first start to the last end"),
    field<&ReplayedOperationStep::base>("replayed_s", "replayed as it was"),
    field<&ReplayedOperationStep::no_delay>("no_delay_s", "without launch delays"),
    field<&ReplayedOperationStep::ideal>("ideal_s", "without launch delays and stragglers"));

template <>
inline constexpr auto kResults<PartSlowdown> = table<PartSlowdown>(
    "part", "A part of the job.", field<&PartSlowdown::part>("its name"),
    field<&PartSlowdown::slowdown>("times as long as the ideal job, where all else is ideal"));

template <>
inline constexpr auto kResults<OperationReplay> = table<OperationReplay>(
    "operation_replay", "A job's operation timeline replayed, and who slows it.",
    schema_version<kReplaySchemaVersion>(),
    constant("kind", "what the document is", "operation-replay"),
    field<&OperationReplay::steps>("ascending"),
    field<&OperationReplay::incomplete_steps>("left out because they lack an operation"),
    field<&OperationReplay::slowdown>("mean of no_delay_s over mean of ideal_s"),
    field<&OperationReplay::launch_slowdown>("mean of replayed_s over mean of no_delay_s"),
    field<&OperationReplay::by_worker>("data-parallel rank and stage, worst first"),
    field<&OperationReplay::by_data_parallel_rank>("worst first"),
    field<&OperationReplay::by_stage>("worst first"),
    field<&OperationReplay::by_type>("of operation, worst first"));

template <>
inline constexpr auto kResults<ReplayedParts> = table<ReplayedParts>(
    "parts", "Parts of the step, which they add up to, in seconds.",
    field<&ReplayedParts::computing>("kernels run, no communication does"),
    field<&ReplayedParts::overlapped>("both"),
    field<&ReplayedParts::communicating>("communication runs, no kernel does"),
    field<&ReplayedParts::waiting>("neither; communication waits for other ranks"),
    field<&ReplayedParts::idle>("none of these"));

template <>
inline constexpr auto kResults<ReplayedRank> = table<ReplayedRank>(
    "replayed_rank", "One rank.", field<&ReplayedRank::rank>("of the job, from 0"),
    field<&ReplayedRank::recorded>("recorded_s",
                                   "from its first operation to its last; null: no start times"),
    field<&ReplayedRank::replayed>("replayed_s",
                                   "the same, simulated; transfers between two ranks apart"),
    field<&ReplayedRank::parts>("breakdown_s", "of the step; the parts add up to step_time_s"));

template <>
inline constexpr auto kResults<ReplayedGraphStep> = table<ReplayedGraphStep>(
    "named_step", "A step that the file names.",
    field<&ReplayedGraphStep::rank>("of the job, from 0"),
    field<&ReplayedGraphStep::name>("step", "its name"),
    field<&ReplayedGraphStep::recorded>("recorded_s", "null: not recorded"),
    field<&ReplayedGraphStep::replayed>("replayed_s", "simulated"));

template <>
inline constexpr auto kResults<ReplayOfGraph> = table<ReplayOfGraph>(
    "graph_replay", "A simulated graph.",
    field("step_time_s", "from the first operation of any rank to the last",
          [](auto& r) { return r.replay.step; }),
    field("longest_rank_s", "the largest replayed_s",
          [](auto& r) { return r.replay.longest_rank; }),
    field("ranks", "by rank", [](auto& r) { return r.replay.ranks; }),
    field("operations", "nodes of the graph", [](auto& r) { return r.graph.size(); }),
    field("dependencies", "its edges, besides the order of streams",
          [](auto& r) { return r.graph.edges(); }));

template <>
inline constexpr auto kResults<GraphFileDocument> = table<GraphFileDocument>(
    "graph_file_replay", "A graph file, simulated.", schema_version<kGraphReplaySchemaVersion>(),
    constant("kind", "what the document is", "graph-replay"),
    fields_within([](auto& r) -> ReplayOfGraph { return ReplayOfGraph{r.replay, r.file.graph}; }),
    field("steps", "that the file names", [](auto& r) { return r.replay.steps; }));

template <>
inline constexpr auto kResults<ChakraDocument> = table<ChakraDocument>(
    "chakra_replay", "Chakra traces of one or more ranks, simulated.",
    schema_version<kGraphReplaySchemaVersion>(),
    constant("kind", "what the document is", "chakra-replay"),
    fields_within([](auto& r) -> ReplayOfGraph { return ReplayOfGraph{r.replay, r.graph.graph}; }),
    field("times", "whose the start times of the files are, as these say; null: they have none",
          [](auto& r) { return times_of(r.replay); }),
    field("files", "as given, by rank", [](auto& r) { return files_of(r.run); }),
    field("rank_to_rank", "communications of two or more of the given ranks",
          [](auto& r) { return r.graph.rendezvous; }),
    field("rank_to_rank_alone", "of one given rank alone", [](auto& r) { return r.graph.alone; }),
    field("priced", "operations whose time is the cost model's",
          [](auto& r) { return r.graph.priced; }),
    field("without_duration", "operations of devices of which no time is known: they take none",
          [](auto& r) { return r.graph.without_duration; }),
    field("undefined_groups", "process groups no file defines, taken for all ranks",
          [](auto& r) { return r.graph.undefined; }));

Value replay_json(const Replay& replay, const GraphFromRun& graph,
                  std::span<const RecordedTrace> traces) {
  return answer(ReplayDocument{replay, graph, traces});
}
const Description& replay_document() { return description_of<ReplayDocument>(); }

Value operation_replay_json(const OperationReplay& replay) { return answer(replay); }
const Description& operation_replay_document() { return description_of<OperationReplay>(); }

Value chakra_replay_json(const GraphReplay& replay, const ChakraGraph& graph,
                         const ChakraRun& run) {
  return answer(ChakraDocument{replay, graph, run});
}
const Description& chakra_replay_document() { return description_of<ChakraDocument>(); }

Value graph_replay_json(const GraphReplay& replay, const GraphFile& file) {
  return answer(GraphFileDocument{replay, file});
}
const Description& graph_replay_document() { return description_of<GraphFileDocument>(); }

}  // namespace orrery
