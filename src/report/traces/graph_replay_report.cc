#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/drawing/table.h"
#include "report/traces/recorded_style.h"
#include "report/traces/recording_remarks.h"
#include "report/traces/trace_reports.h"

namespace orrery {
namespace {

constexpr std::size_t kShownRanks = 64;

std::string count_text(std::size_t n) { return grouped(static_cast<std::int64_t>(n)); }

std::string remarks(const ChakraGraph& graph, const TextStyle& style) {
  std::string out;
  const auto say = [&](const std::string& sentence) { out += paragraph(style, sentence); };
  say(fmt::format("{} operations, {} dependencies, {} communications of several ranks.",
                  count_text(graph.graph.size()), count_text(graph.graph.edges()),
                  count_text(graph.rendezvous)));
  if (graph.alone > 0) {
    say(count_text(graph.alone) +
        " communications are of one rank alone: the others are not among the files, and nothing "
        "waits for them.");
  }
  if (graph.priced > 0) {
    say(count_text(graph.priced) + " operations take what the cost model says.");
  }
  if (graph.without_duration > 0) {
    say(count_text(graph.without_duration) +
        " operations of devices take no time: none is recorded.");
  }
  if (!graph.undefined.empty()) {
    say(undefined_groups_sentence(graph.undefined) + ".");
  }
  return out;
}

// Files that name several steps of a rank are replayed from the first to the last of them.
bool of_several_steps(const GraphReplay& replay) {
  std::set<std::int64_t> ranks;
  return std::ranges::any_of(
      replay.steps, [&](const ReplayedGraphStep& step) { return !ranks.insert(step.rank).second; });
}

std::string table_of(const GraphReplay& replay, const TextStyle& style) {
  const bool recorded =
      std::ranges::any_of(replay.ranks, [](const auto& rank) { return rank.recorded.has_value(); });
  Table table(right("rank", 9),
              right(replay.of_simulated_times ? "simulated" : "recorded", 8).shown_if(recorded),
              right("replayed", 8), right("computing", 5), right("both", 3),
              right("communicating", 5), right("waiting", 4), right("idle", 4));
  for (const ReplayedRank& rank : first(replay.ranks, kShownRanks)) {
    const ReplayedParts& parts = rank.parts;
    table.row(std::to_string(rank.rank), rank.recorded ? milliseconds(*rank.recorded) : "-",
              milliseconds(rank.replayed), milliseconds(parts.computing),
              milliseconds(parts.overlapped), milliseconds(parts.communicating),
              milliseconds(parts.waiting), milliseconds(parts.idle));
  }
  const bool run = of_several_steps(replay);
  std::string out = heading("Replay",
                            run ? "milliseconds; the run of several steps in five parts"
                                : "milliseconds; the step in five parts",
                            style)
                        .substr(1);
  out += table.text(style);
  if (replay.ranks.size() > kShownRanks) {
    out += fmt::format("  ... and {} ranks more\n", replay.ranks.size() - kShownRanks);
  }
  out += fmt::format("\n  {}: {} ms.\n", run ? "Run" : "Step", milliseconds(replay.step));
  return out;
}

}  // namespace

std::string chakra_replay_text(const GraphReplay& replay, const ChakraGraph& graph,
                               const TextStyle& style) {
  return table_of(replay, style) + remarks(graph, style);
}

std::string graph_replay_text(const GraphReplay& replay, const GraphFile& file,
                              const TextStyle& style) {
  std::string out = table_of(replay, style);
  out += paragraph(style, "{} operations, {} dependencies.", count_text(file.graph.size()),
                   count_text(file.graph.edges()));
  if (replay.steps.empty()) return out;
  Table table(right("rank", 9), left("step", 8), right("recorded", 8), right("replayed", 8));
  for (const ReplayedGraphStep& step : replay.steps) {
    table.row(std::to_string(step.rank), step.name,
              step.recorded ? milliseconds(*step.recorded) : "-", milliseconds(step.replayed));
  }
  return out + heading("Steps", "milliseconds", style) + table.text(style);
}

}  // namespace orrery
