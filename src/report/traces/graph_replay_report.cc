#include "report/traces/graph_replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/drawing/figures.h"
#include "report/drawing/table.h"

namespace orrery {
namespace {

constexpr std::size_t kShownRanks = 64;

std::string milliseconds(Seconds s) { return fmt::format("{:.3f}", s.value() * 1e3); }

std::string count_text(std::size_t n) { return grouped(static_cast<std::int64_t>(n)); }

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "'" : ", '") + name + "'";
  return out;
}

std::string remarks(const ChakraGraph& graph, const TextStyle& style) {
  std::string out =
      wrapped(fmt::format("{} operations, {} dependencies, {} communications of several ranks.",
                          count_text(graph.graph.size()), count_text(graph.graph.edges()),
                          count_text(graph.rendezvous)),
              2, style);
  if (graph.alone > 0) {
    out += wrapped(fmt::format("{} communications are of one rank alone: the others are not among "
                               "the files, and nothing waits for them.",
                               count_text(graph.alone)),
                   2, style);
  }
  if (graph.priced > 0) {
    out += wrapped(
        fmt::format("{} operations take what the cost model says.", count_text(graph.priced)), 2,
        style);
  }
  if (graph.without_duration > 0) {
    out += wrapped(fmt::format("{} operations of devices take no time: none is recorded.",
                               count_text(graph.without_duration)),
                   2, style);
  }
  if (!graph.undefined.empty()) {
    out += wrapped(fmt::format("Groups that no file defines are taken for all ranks: {}.",
                               listed(graph.undefined)),
                   2, style);
  }
  return out;
}

// Files that name several steps of a rank are replayed from the first to the last of them.
bool of_several_steps(const GraphReplay& replay) {
  std::set<std::int64_t> ranks;
  return std::any_of(replay.steps.begin(), replay.steps.end(), [&](const ReplayedGraphStep& step) {
    return !ranks.insert(step.rank).second;
  });
}

std::string table_of(const GraphReplay& replay, const TextStyle& style) {
  const bool recorded = std::any_of(replay.ranks.begin(), replay.ranks.end(),
                                    [](const auto& rank) { return rank.recorded.has_value(); });
  std::vector<Column> columns = {{"rank", Align::right, 9}};
  if (recorded) {
    columns.push_back({replay.of_simulated_times ? "simulated" : "recorded", Align::right, 8});
  }
  for (const Column& column :
       {Column{"replayed", Align::right, 8}, Column{"computing", Align::right, 5},
        Column{"both", Align::right, 3}, Column{"communicating", Align::right, 5},
        Column{"waiting", Align::right, 4}, Column{"idle", Align::right, 4}}) {
    columns.push_back(column);
  }
  Table table(std::move(columns));
  for (std::size_t i = 0; i < std::min(kShownRanks, replay.ranks.size()); ++i) {
    const ReplayedRank& rank = replay.ranks[i];
    std::vector<Cell> row = {{std::to_string(rank.rank)}};
    if (recorded) row.push_back({rank.recorded ? milliseconds(*rank.recorded) : "-"});
    for (const Seconds s : {rank.replayed, rank.parts.computing, rank.parts.overlapped,
                            rank.parts.communicating, rank.parts.waiting, rank.parts.idle}) {
      row.push_back({milliseconds(s)});
    }
    table.add_row(std::move(row));
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
  out += wrapped(fmt::format("{} operations, {} dependencies.", count_text(file.graph.size()),
                             count_text(file.graph.edges())),
                 2, style);
  if (replay.steps.empty()) return out;
  Table table({{"rank", Align::right, 9},
               {"step", Align::left, 8},
               {"recorded", Align::right, 8},
               {"replayed", Align::right, 8}});
  for (const ReplayedGraphStep& step : replay.steps) {
    table.add_row({{std::to_string(step.rank)},
                   {step.name},
                   {step.recorded ? milliseconds(*step.recorded) : "-"},
                   {milliseconds(step.replayed)}});
  }
  return out + heading("Steps", "milliseconds", style) + table.text(style);
}

}  // namespace orrery
