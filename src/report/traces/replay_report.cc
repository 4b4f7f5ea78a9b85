#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "report/drawing/table.h"
#include "report/traces/recorded_style.h"
#include "report/traces/trace_reports.h"

namespace orrery {
namespace {

std::string microseconds(std::int64_t ns) {
  return fmt::format("{:.1f}", static_cast<double>(ns) * 1e-3);
}
// Errors are small: two decimals.
std::string error_text(double error) { return fmt::format("{:.2f} %", error * 100); }

std::string rank_text(const ReplayedStep& step) {
  return step.rank == kNotRecorded ? "?" : std::to_string(step.rank);
}

constexpr std::size_t kMostSteps = 24;  // rows of single steps
constexpr std::size_t kMostRanks = 16;  // rows of ranks
constexpr std::size_t kWorstSteps = 5;  // shown where ranks are summed up
constexpr double kBadError = 0.05;

Table step_table(std::span<const ReplayedStep> steps) {
  Table table(right("rank", 9), left("step", 8), right("recorded", 8), right("replayed", 8),
              right("error", 9), right("computing", 4), right("both", 3), right("communicating", 4),
              right("neither", 2));
  for (const ReplayedStep& s : steps) {
    const FourParts& parts = s.replayed_parts;
    table.row(rank_text(s), s.name, milliseconds(s.recorded), milliseconds(s.replayed),
              cell(error_text(s.error()), {.bold = s.error() > kBadError}),
              milliseconds(parts.exposed_compute), milliseconds(parts.overlapped),
              milliseconds(parts.exposed_communication), milliseconds(parts.other));
  }
  return table;
}

// Of the steps of one rank together.
struct RankSum {
  const ReplayedStep* first = nullptr;
  std::int64_t steps = 0;
  double recorded_s = 0;
  double replayed_s = 0;
  double error = 0;
  double worst_error = 0;
  double misplaced = 0;
};

// One row a rank, where one a step would fill screens.
std::string ranks_text(const Replay& replay, const TextStyle& style) {
  std::vector<RankSum> ranks;
  for (const ReplayedStep& s : replay.steps) {
    if (ranks.empty() || ranks.back().first->trace != s.trace) ranks.push_back({&s});
    RankSum& rank = ranks.back();
    ++rank.steps;
    rank.recorded_s += s.recorded.value();
    rank.replayed_s += s.replayed.value();
    rank.error += s.error();
    rank.worst_error = std::max(rank.worst_error, s.error());
    rank.misplaced += s.misplaced();
  }
  const std::size_t all = ranks.size();
  if (all > kMostRanks) {
    std::ranges::stable_sort(ranks, std::ranges::greater(), &RankSum::worst_error);
    ranks.resize(kMostRanks);
  }
  Table table(right("rank", 9), right("steps", 8), right("recorded", 8), right("replayed", 8),
              right("mean error", 9), right("worst", 9), right("misplaced", 4));
  for (const RankSum& rank : ranks) {
    const auto steps = static_cast<double>(rank.steps);
    table.row(rank_text(*rank.first), std::to_string(rank.steps),
              milliseconds(Seconds(rank.recorded_s)), milliseconds(Seconds(rank.replayed_s)),
              error_text(rank.error / steps),
              cell(error_text(rank.worst_error), {.bold = rank.worst_error > kBadError}),
              error_text(rank.misplaced / steps));
  }
  std::string out =
      heading("Replay", "milliseconds, all steps of a rank together", style).substr(1);
  out += table.text(style);
  if (all > kMostRanks) {
    out += fmt::format("  Of {} ranks those with the worst steps; --json lists all.\n", all);
  }
  std::vector<ReplayedStep> steps = replay.steps;
  std::ranges::stable_sort(steps, std::greater(), &ReplayedStep::error);
  steps.resize(std::min(steps.size(), kWorstSteps));
  return out + section("Worst steps", "milliseconds; parts of the replayed step on the device",
                       step_table(steps), style);
}

// What the steps waited for, over all of them.
std::string bound_text(const Replay& replay) {
  BoundBy sum;
  for (const ReplayedStep& s : replay.steps) {
    sum.host += s.bound_by.host;
    sum.launches += s.bound_by.launches;
    sum.device += s.bound_by.device;
    sum.communication += s.bound_by.communication;
    sum.other_ranks += s.bound_by.other_ranks;
  }
  if (sum.total() <= Seconds(0)) return "";
  const auto share = [&](Seconds part) { return percent(part / sum.total()); };
  return fmt::format(
      "The steps hung on the host for {} of their time, on launches for {}, on the device for {}, "
      "on communication for {}, on other ranks for {}.",
      share(sum.host), share(sum.launches), share(sum.device), share(sum.communication),
      share(sum.other_ranks));
}

Seconds median_displacement(const Replay& replay) {
  std::vector<Seconds> all;
  for (const ReplayedStep& s : replay.steps) all.push_back(s.displacement);
  std::ranges::sort(all);
  return all.empty() ? Seconds() : all[all.size() / 2];
}

}  // namespace

std::string replay_text(const Replay& replay, const GraphFromRun& graph, const TextStyle& style) {
  std::string out;
  if (replay.steps.size() > kMostSteps) {
    out += ranks_text(replay, style);
  } else {
    out = heading("Replay", "milliseconds; parts of the replayed step on the device", style)
              .substr(1) +
          step_table(replay.steps).text(style);
  }
  const auto say = [&](const std::string& sentence) { out += paragraph(style, sentence); };
  const auto count = [](auto n) { return grouped(static_cast<std::int64_t>(n)); };
  if (replay.steps.empty()) {
    out += "  No thread was recorded: there is no step to compare.\n\n";
  } else {
    out += fmt::format("\n  Error: {} on average, {} at worst.\n", error_text(replay.mean_error),
                       error_text(replay.worst_error));
    say(fmt::format(
        "Device: {} of a step misplaced on average, {} at worst; work begins {} us from "
        "where it did (median).",
        error_text(replay.mean_misplaced), error_text(replay.worst_misplaced),
        microseconds(std::llround(median_displacement(replay).value() * 1e9))));
    say(bound_text(replay));
  }
  say(fmt::format(
      "Dependencies: {} calls that wait for the device, {} waits between streams, {} for "
      "room on a full device, {} between threads, {} communications of several ranks.",
      count(graph.synchronizations), count(graph.stream_waits), count(graph.room_waits),
      count(graph.thread_waits), count(graph.rendezvous)));
  if (!graph.parameters.empty()) {
    const LaunchParameters& p = graph.parameters[0];
    constexpr auto kCompute = static_cast<std::size_t>(WorkKind::compute);
    say(fmt::format(
        "Of the first trace: work starts {} us after its launch call ended, {} us after "
        "the work before it, {} us after a stream it waited for.",
        microseconds(p.launch_ns[kCompute]), microseconds(p.dispatch_ns[kCompute]),
        microseconds(p.wake_ns)));
  }
  if (graph.resumed > 0) {
    say(fmt::format("Another process shares the device: {} launches waited for its turn.",
                    count(graph.resumed)));
  }
  if (graph.incomplete > 0) {
    say(
        fmt::format("{} communications lack ranks that are not recorded: their waiting for those "
                    "stays in the transfer.",
                    count(graph.incomplete)));
  }
  if (graph.unlaunched > 0) {
    say(fmt::format("Work without a recorded launch: {}, of which {} follows the host's progress.",
                    count(graph.unlaunched), count(graph.anchored)));
  }
  if (replay.dropped_edges > 0) {
    say(count(replay.dropped_edges) + " dependencies closed a cycle and were left out.");
  }
  return out;
}

std::string operation_replay_text(const OperationReplay& replay, const TextStyle& style) {
  Table steps(right("step", 9), right("recorded", 5), right("replayed", 8),
              right("without launch delays", 7), right("without stragglers", 6));
  for (const ReplayedOperationStep& s : replay.steps) {
    steps.row(std::to_string(s.step), milliseconds(s.recorded), milliseconds(s.base),
              milliseconds(s.no_delay), milliseconds(s.ideal));
  }
  std::string out = heading("Replay", "milliseconds", style).substr(1);
  out += steps.text(style);
  out +=
      fmt::format("\n  Stragglers make the job {:.3f} times, launch delays {:.3f} times as long.\n",
                  replay.slowdown, replay.launch_slowdown);
  if (replay.incomplete_steps > 0) {
    out += fmt::format("  Left out: {} steps that lack an operation.\n", replay.incomplete_steps);
  }
  if (replay.negative_durations > 0) {
    out += fmt::format(
        "  Negative durations: {} operations, which take no time; --partial leaves their steps "
        "out.\n",
        replay.negative_durations);
  }
  out += heading("Who makes it so", "times as long, where all else is ideal", style);
  Table parts(left("part", 8), right("slowdown", 9));
  constexpr std::size_t kShown = 5;
  const auto add = [&](const char* kind, const std::vector<PartSlowdown>& list) {
    for (std::size_t i = 0; i < std::min(list.size(), kShown); ++i) {
      const bool matters = list[i].slowdown > 1.05;
      parts.row(fmt::format("{}{}", kind, list[i].part),
                cell(fmt::format("{:.3f}", list[i].slowdown), {.bold = matters}));
    }
  };
  add("", replay.by_worker);
  parts.add_rule();
  add("data-parallel rank ", replay.by_data_parallel_rank);
  parts.add_rule();
  add("stage ", replay.by_stage);
  parts.add_rule();
  add("", replay.by_type);
  return out + parts.text(style);
}

// The documents of replays: of recorded runs, of operation timelines, of Chakra traces and of graph
// files.
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
