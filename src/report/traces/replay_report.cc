#include "report/traces/replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "report/drawing/table.h"

namespace orrery {
namespace {

std::string milliseconds(Seconds s) { return fmt::format("{:.3f}", s.value() * 1e3); }
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
  const double total = sum.total().value();
  if (total <= 0) return "";
  const auto share = [&](Seconds part) {
    return fmt::format("{:.1f} %", part.value() / total * 100);
  };
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
  const auto say = [&](const std::string& sentence) { out += wrapped(sentence, 2, style); };
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

}  // namespace orrery
