#include "report/replay_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/figures.h"
#include "report/table.h"

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

Value parts_json(const FourParts& parts) {
  Value out = Value::map();
  out.set("exposed_compute", Value::number(parts.exposed_compute.value()));
  out.set("overlapped", Value::number(parts.overlapped.value()));
  out.set("exposed_communication", Value::number(parts.exposed_communication.value()));
  out.set("other", Value::number(parts.other.value()));
  return out;
}

Value seconds_of(std::int64_t ns) { return Value::number(static_cast<double>(ns) * 1e-9); }
Value count(std::size_t n) { return Value::number(static_cast<std::int64_t>(n)); }

Value parameters_json(const LaunchParameters& parameters) {
  constexpr std::array<const char*, kWorkClasses> kNames = {"kernel", "communication", "copy",
                                                            "fill"};
  Value launch = Value::map();
  Value dispatch = Value::map();
  for (std::size_t c = 0; c < kWorkClasses; ++c) {
    launch.set(kNames[c], seconds_of(parameters.launch_ns[c]));
    dispatch.set(kNames[c], seconds_of(parameters.dispatch_ns[c]));
  }
  Value out = Value::map();
  out.set("launch_s", std::move(launch));
  out.set("dispatch_s", std::move(dispatch));
  out.set("wake_s", seconds_of(parameters.wake_ns));
  out.set("slice_s", seconds_of(parameters.slice_ns));
  return out;
}

}  // namespace

std::string replay_text(const Replay& replay, const GraphFromRun& graph, const TextStyle& style) {
  Table table({{"rank", Align::right, 9},
               {"step", Align::left, 8},
               {"recorded", Align::right, 8},
               {"replayed", Align::right, 8},
               {"error", Align::right, 9},
               {"computing", Align::right, 4},
               {"both", Align::right, 3},
               {"communicating", Align::right, 4},
               {"neither", Align::right, 2}});
  for (const ReplayedStep& s : replay.steps) {
    table.add_row({{rank_text(s)},
                   {s.name},
                   {milliseconds(s.recorded)},
                   {milliseconds(s.replayed)},
                   {error_text(s.error()), {.colour = 0, .bold = s.error() > 0.05}},
                   {milliseconds(s.replayed_parts.exposed_compute)},
                   {milliseconds(s.replayed_parts.overlapped)},
                   {milliseconds(s.replayed_parts.exposed_communication)},
                   {milliseconds(s.replayed_parts.other)}});
  }
  std::string out =
      heading("Replay", "milliseconds; parts of the replayed step on the device", style).substr(1);
  out += table.text(style);
  if (replay.steps.empty()) {
    out += "  No thread was recorded: there is no step to compare.\n\n";
  } else {
    out += fmt::format("\n  Error: {} on average, {} at worst.\n", error_text(replay.mean_error),
                       error_text(replay.worst_error));
  }
  out += wrapped(
      fmt::format(
          "Dependencies: {} calls that wait for the device, {} waits between streams, {} for "
          "room on a full device, {} between threads, {} communications of several ranks.",
          grouped(static_cast<std::int64_t>(graph.synchronizations)),
          grouped(static_cast<std::int64_t>(graph.stream_waits)),
          grouped(static_cast<std::int64_t>(graph.room_waits)),
          grouped(static_cast<std::int64_t>(graph.thread_waits)),
          grouped(static_cast<std::int64_t>(graph.rendezvous))),
      2, style);
  if (!graph.parameters.empty()) {
    const LaunchParameters& p = graph.parameters[0];
    out +=
        wrapped(fmt::format("Of the first trace: work starts {} us after its launch call ended, "
                            "{} us after the work before it, {} us after a stream it waited for.",
                            microseconds(p.launch_ns[0]), microseconds(p.dispatch_ns[0]),
                            microseconds(p.wake_ns)),
                2, style);
  }
  if (graph.resumed > 0) {
    out +=
        wrapped(fmt::format("Another process has the device by turns: {} launches waited for it.",
                            grouped(static_cast<std::int64_t>(graph.resumed))),
                2, style);
  }
  if (graph.incomplete > 0) {
    out +=
        wrapped(fmt::format("{} communications lack ranks that are not recorded: their waiting for "
                            "those stays in the transfer.",
                            grouped(static_cast<std::int64_t>(graph.incomplete))),
                2, style);
  }
  if (graph.anchored > 0) {
    out += wrapped(
        fmt::format("Work without a recorded launch, which follows the host's progress: {}.",
                    grouped(static_cast<std::int64_t>(graph.anchored))),
        2, style);
  }
  if (replay.dropped_edges > 0) {
    out += wrapped(fmt::format("{} dependencies closed a cycle and were left out.",
                               grouped(static_cast<std::int64_t>(replay.dropped_edges))),
                   2, style);
  }
  return out;
}

Value replay_json(const Replay& replay, const GraphFromRun& graph,
                  std::span<const RecordedTrace> traces) {
  Value out = Value::map();
  out.set("schema_version", Value::number(std::int64_t{kReplaySchemaVersion}));
  out.set("kind", Value::text("trace-replay"));
  Value steps = Value::list();
  for (const ReplayedStep& s : replay.steps) {
    Value step = Value::map();
    step.set("rank", s.rank == kNotRecorded ? Value::null() : Value::number(s.rank));
    step.set("step", Value::text(s.name));
    step.set("recorded_s", Value::number(s.recorded.value()));
    step.set("replayed_s", Value::number(s.replayed.value()));
    step.set("error", Value::number(s.error()));
    step.set("recorded_breakdown_s", parts_json(s.recorded_parts));
    step.set("replayed_breakdown_s", parts_json(s.replayed_parts));
    steps.append(std::move(step));
  }
  out.set("steps", std::move(steps));
  out.set("mean_error", Value::number(replay.mean_error));
  out.set("worst_error", Value::number(replay.worst_error));
  Value dependencies = Value::map();
  dependencies.set("device_to_host", count(graph.synchronizations));
  dependencies.set("stream_to_stream", count(graph.stream_waits));
  dependencies.set("room_on_device", count(graph.room_waits));
  dependencies.set("turns_on_device", count(graph.resumed));
  dependencies.set("thread_to_thread", count(graph.thread_waits));
  dependencies.set("rank_to_rank", count(graph.rendezvous));
  dependencies.set("rank_to_rank_incomplete", count(graph.incomplete));
  dependencies.set("anchored", count(graph.anchored));
  dependencies.set("dropped", count(replay.dropped_edges));
  out.set("dependencies", std::move(dependencies));
  out.set("nodes", count(graph.graph.nodes.size()));
  Value ranks = Value::list();
  for (std::size_t t = 0; t < traces.size(); ++t) {
    Value rank = Value::map();
    rank.set("rank",
             traces[t].rank == kNotRecorded ? Value::null() : Value::number(traces[t].rank));
    rank.set("file", Value::text(traces[t].file));
    rank.set("constants", parameters_json(graph.parameters[t]));
    ranks.append(std::move(rank));
  }
  out.set("ranks", std::move(ranks));
  return out;
}

std::string operation_replay_text(const OperationReplay& replay, const TextStyle& style) {
  Table steps({{"step", Align::right, 9},
               {"recorded", Align::right, 5},
               {"replayed", Align::right, 8},
               {"without launch delays", Align::right, 7},
               {"without stragglers", Align::right, 6}});
  for (const ReplayedOperationStep& s : replay.steps) {
    steps.add_row({{std::to_string(s.step)},
                   {milliseconds(s.recorded)},
                   {milliseconds(s.base)},
                   {milliseconds(s.no_delay)},
                   {milliseconds(s.ideal)}});
  }
  std::string out = heading("Replay", "milliseconds", style).substr(1);
  out += steps.text(style);
  out +=
      fmt::format("\n  Stragglers make the job {:.3f} times, launch delays {:.3f} times as long.\n",
                  replay.slowdown, replay.launch_slowdown);
  if (replay.incomplete_steps > 0) {
    out += fmt::format("  Left out: {} steps that lack an operation.\n", replay.incomplete_steps);
  }
  out += heading("Who makes it so", "times as long, where all else is ideal", style);
  Table parts({{"part", Align::left, 8}, {"slowdown", Align::right, 9}});
  constexpr std::size_t kShown = 5;
  const auto add = [&](const char* kind, const std::vector<PartSlowdown>& list) {
    for (std::size_t i = 0; i < std::min(list.size(), kShown); ++i) {
      const bool matters = list[i].slowdown > 1.05;
      parts.add_row({{fmt::format("{}{}", kind, list[i].part)},
                     {fmt::format("{:.3f}", list[i].slowdown), {.colour = 0, .bold = matters}}});
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

Value operation_replay_json(const OperationReplay& replay) {
  Value out = Value::map();
  out.set("schema_version", Value::number(std::int64_t{kReplaySchemaVersion}));
  out.set("kind", Value::text("operation-replay"));
  Value steps = Value::list();
  for (const ReplayedOperationStep& s : replay.steps) {
    Value step = Value::map();
    step.set("step", Value::number(std::int64_t{s.step}));
    step.set("recorded_s", Value::number(s.recorded.value()));
    step.set("replayed_s", Value::number(s.base.value()));
    step.set("no_delay_s", Value::number(s.no_delay.value()));
    step.set("ideal_s", Value::number(s.ideal.value()));
    steps.append(std::move(step));
  }
  out.set("steps", std::move(steps));
  out.set("incomplete_steps", count(replay.incomplete_steps));
  out.set("slowdown", Value::number(replay.slowdown));
  out.set("launch_slowdown", Value::number(replay.launch_slowdown));
  const auto parts = [](const std::vector<PartSlowdown>& list) {
    Value rows = Value::list();
    for (const PartSlowdown& p : list) {
      Value row = Value::map();
      row.set("part", Value::text(p.part));
      row.set("slowdown", Value::number(p.slowdown));
      rows.append(std::move(row));
    }
    return rows;
  };
  out.set("by_worker", parts(replay.by_worker));
  out.set("by_data_parallel_rank", parts(replay.by_data_parallel_rank));
  out.set("by_stage", parts(replay.by_stage));
  out.set("by_type", parts(replay.by_type));
  return out;
}

}  // namespace orrery
