#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "document/results.h"
#include "report/drawing/table.h"
#include "report/traces/recorded_style.h"
#include "report/traces/recording_remarks.h"
#include "report/traces/trace_reports.h"
#include "trace/recorded_time.h"
#include "trace/trace_summary.h"
#include "units/picoseconds.h"

namespace orrery {
namespace {

std::int64_t count(const TraceSummary& s, EventKind kind) {
  return s.events[static_cast<std::size_t>(kind)];
}

std::string signed_time(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "0";
  return (nanoseconds > 0 ? "+" : "") + time_text(nanoseconds);
}

std::string of(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "-";
  return percent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string run_title(const RecordedRun& run) {
  const std::size_t given = run.ranks.size();
  if (run.world_size > static_cast<std::int64_t>(given)) {
    return fmt::format("{} of {} ranks", given, grouped(run.world_size));
  }
  return counted(given, "rank");
}

std::string clock_text(const RecordedRun& run, std::size_t i) {
  const ClockOffset& clock = run.clocks[i];
  if (clock.instances == 0) return i == 0 ? "reference" : "alone";
  return clock.offset_ns == 0 ? "kept" : signed_time(clock.offset_ns);
}

// What was recorded beyond names and times, and so what can be computed.
void add_recorded(Table& table, const std::vector<TraceSummary>& summaries,
                  const RecordedRun& run) {
  TraceSummary all;
  std::int64_t memory_events = 0;
  std::int64_t arrows = 0;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const TraceSummary& s = summaries[i];
    for (std::size_t kind = 0; kind < kEventKinds; ++kind) all.events[kind] += s.events[kind];
    all.device_work += s.device_work;
    all.device_work_launched += s.device_work_launched;
    all.communication_kernels += s.communication_kernels;
    all.described_kernels += s.described_kernels;
    all.operators += s.operators;
    all.operators_with_shapes += s.operators_with_shapes;
    memory_events += static_cast<std::int64_t>(run.ranks[i].memory.size());
    arrows += static_cast<std::int64_t>(run.ranks[i].forward_to_backward.size());
  }
  table.row("launch calls", of(all.device_work_launched, all.device_work),
            "of kernels, copies and fills: launch delays, idle time by cause");
  table.row("input shapes", of(all.operators_with_shapes, all.operators),
            "of operators: FLOP, achieved rates, roofline");
  table.row("collective arguments", of(all.described_kernels, all.communication_kernels),
            "of communication kernels: sizes, groups, bus bandwidth");
  table.row("synchronizations", count(all, EventKind::synchronization),
            "recorded waits: exact dependencies across streams");
  table.row("backward links", arrows, "from forward to backward operators");
  table.row("python functions", count(all, EventKind::python_function),
            "stacks of the host program");
  table.row("allocations", memory_events, "memory over time");
}

bool is_linked(const RecordedRun& run, std::size_t i) {
  return i < run.hosts.size() && run.hosts[i].has_value();
}

// The execution traces beside the profiler's, and what they added.
std::string linked_hosts(const RecordedRun& run, const TextStyle& style) {
  Table table(right("rank", 4), left("file", 2), left("schema", 1), left("linked by", 3),
              right("found", 4), right("shapes", 4), right("collectives", 3));
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    if (!is_linked(run, i)) continue;
    const LinkedHost& host = *run.hosts[i];
    table.row(std::to_string(run.ranks[i].rank), host.file.substr(host.file.rfind('/') + 1),
              host.schema, host.method,
              fmt::format("{} of {}", grouped(host.found), grouped(host.operators)), host.shapes,
              host.communications);
  }
  return section("Execution traces", "linked, and what they add to the profiler's", table, style);
}

Value host_json(const RecordedRun& run, std::size_t i) {
  if (!is_linked(run, i)) return Value::null();
  const LinkedHost& host = *run.hosts[i];
  return map_of({{"file", host.file},
                 {"schema", host.schema},
                 {"linked_by", host.method},
                 {"operators", host.operators},
                 {"found", host.found},
                 {"shapes_added", host.shapes},
                 {"communications_added", host.communications},
                 {"groups_added", host.groups}});
}

Value step_json(const StepMark& step) {
  return map_of({{"name", step.name},
                 {"start_s", round_to_picoseconds(step.start)},
                 {"duration_s", round_to_picoseconds(step.duration)}});
}

Value clock_json(const ClockOffset& clock) {
  const auto exact = [](std::int64_t ns) { return round_to_picoseconds(seconds_of_ns(ns)); };
  return map_of({{"offset_s", exact(clock.offset_ns)},
                 {"median_s", exact(clock.median_ns)},
                 {"spread_s", exact(clock.spread_ns)},
                 {"violation_s", exact(clock.violation_ns)},
                 {"collectives", clock.instances}});
}

Value rank_json(const RecordedRun& run, std::size_t i) {
  const RecordedTrace& trace = run.ranks[i];
  const TraceSummary s = summary(trace);
  Value events = Value::map();
  for (std::size_t kind = 0; kind < kEventKinds; ++kind) {
    events.append_member(std::string(to_text(static_cast<EventKind>(kind))),
                         Value::number(s.events[kind]));
  }
  return map_of(
      {{"rank", trace.rank},
       {"file", trace.file},
       {"truncated", trace.truncated},
       {"base_lost", std::ranges::find(run.lost_bases, trace.rank) != run.lost_bases.end()},
       {"times", trace.simulated ? "simulated" : "recorded"},
       {"entries", trace.entries},
       {"left_out", trace.left_out},
       {"unpaired", trace.unpaired},
       {"repeated", trace.repeated},
       {"repeated_kernels", trace.repeated_kernels},
       {"overlapping_kernels", trace.overlapping_kernels},
       {"events", events},
       {"span_s", round_to_picoseconds(s.span)},
       {"steps", list_of(s.steps, step_json)},
       {"device", s.device.empty() ? std::nullopt : std::optional(s.device)},
       {"devices", s.devices},
       {"streams", s.streams},
       {"threads", s.threads},
       {"device_work", s.device_work},
       {"device_work_launched", s.device_work_launched},
       {"communication_kernels", s.communication_kernels},
       {"described_kernels", s.described_kernels},
       {"operators_with_shapes", s.operators_with_shapes},
       {"backward_links", trace.forward_to_backward.size()},
       {"allocations", trace.memory.size()},
       {"groups", trace.groups.size()},
       {"clock", clock_json(run.clocks[i])},
       {"execution_trace", host_json(run, i)}});
}

constexpr std::size_t kShownFiles = 8;

std::string value_text(const TraceFact& fact) {
  if (const auto* number = std::get_if<std::int64_t>(&fact.value)) return grouped(*number);
  if (const auto* time = std::get_if<Seconds>(&fact.value)) return to_text(*time);
  return printable(std::get<std::string>(fact.value));
}

std::string work_table(const TraceContents& file, const TextStyle& style) {
  const auto has = [&](const auto& field) { return std::ranges::any_of(file.work, field); };
  const bool groups = has([](const TraceWork& w) { return !w.group.empty(); });
  const bool bytes = has([](const TraceWork& w) { return w.bytes.has_value(); });
  const bool times = has([](const TraceWork& w) { return w.time && w.time->value() > 0; });
  Table table(left("work", 5), left("group", 2).shown_if(groups), right("count", 4),
              right("bytes", 3).shown_if(bytes), right("time", 3).shown_if(times));
  for (const TraceWork& w : file.work) {
    table.row(w.kind, w.group, w.count,
              w.bytes ? to_text(Bytes(static_cast<double>(*w.bytes))) : "",
              w.time ? to_text(*w.time) : "");
  }
  return table.text(style);
}

Value work_json(const TraceWork& w) {
  return map_of({{"kind", w.kind},
                 {"group", w.group},
                 {"count", w.count},
                 {"bytes", w.bytes},
                 {"time_s", w.time ? std::optional(round_to_picoseconds(*w.time)) : std::nullopt}});
}

Value contents_json(const TraceContents& file) {
  Value facts = Value::map();
  for (const TraceFact& fact : file.facts) {
    const auto* time = std::get_if<Seconds>(&fact.value);
    const Member member =
        time != nullptr
            ? Member(fact.key + "_s", round_to_picoseconds(*time))
            : std::visit([&](const auto& v) { return Member(fact.key, v); }, fact.value);
    facts.append_member(member.key, member.value);
  }
  return map_of({{"file", file.file},
                 {"format", file.format->key},
                 {"facts", facts},
                 {"work", list_of(file.work, work_json)}});
}

}  // namespace

std::string trace_info_text(const RecordedRun& run, const TextStyle& style) {
  std::vector<TraceSummary> summaries;
  summaries.reserve(run.ranks.size());
  for (const RecordedTrace& trace : run.ranks) summaries.push_back(summary(trace));
  const std::string device = printable(summaries.front().device);
  const bool simulated = is_simulated(run.source);
  std::string out = heading(run_title(run) + (simulated ? ", simulated" : ""), device, style);
  Table table(right("rank", 9), left("file", 2), right("events", 8), right("span", 7),
              right("steps", 6), right("kernels", 6), right("comm", 5), right("copies", 3),
              right("streams", 4), right("threads", 3),
              right("clock", 4).shown_if(run.ranks.size() > 1));
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    const RecordedTrace& trace = run.ranks[i];
    const TraceSummary& s = summaries[i];
    table.row(std::to_string(trace.rank), trace.file.substr(trace.file.rfind('/') + 1),
              grouped(static_cast<std::int64_t>(trace.size())) + (trace.truncated ? ", cut" : ""),
              s.span, std::to_string(s.steps.size()), count(s, EventKind::kernel),
              s.communication_kernels, count(s, EventKind::copy) + count(s, EventKind::fill),
              std::to_string(s.streams), std::to_string(s.threads), clock_text(run, i));
  }
  out += table.text(style);

  const TraceSummary& first = summaries.front();
  if (!first.steps.empty()) {
    Table steps(left("step", 3), right("begins", 2), right("takes", 3));
    for (const StepMark& step : first.steps) steps.row(step.name, step.start, step.duration);
    out += section("Steps", fmt::format("of rank {}", run.ranks.front().rank), steps, style);
  }
  out += linked_hosts(run, style);
  out += heading("Recorded", "and what it is good for", style);
  Table recorded(left("what", 3), right("how much", 2), left("", 1));
  add_recorded(recorded, summaries, run);
  out += recorded.text(style);
  for (const std::int64_t rank : run.lost_bases) {
    out += "\n" + wrapped(fmt::format("Rank {}: the end of its file is cut off, and with it "
                                      "baseTimeNanoseconds; its times count from where the other "
                                      "ranks' do.",
                                      rank),
                          0, style);
  }
  const std::vector<std::string> remarks = recording_remarks(run.ranks);
  if (!remarks.empty()) out += "\n";
  for (const std::string& remark : remarks) out += wrapped(remark, 0, style);
  return out;
}

std::string trace_contents_text(const std::vector<TraceContents>& files, const TextStyle& style) {
  std::string out;
  for (std::size_t i = 0; i < std::min(files.size(), kShownFiles); ++i) {
    const TraceContents& file = files[i];
    out += heading(printable(file.file.substr(file.file.rfind('/') + 1)),
                   std::string(file.format->name), style);
    Table facts(left("what", 2), left("how much", 3));
    for (const TraceFact& fact : file.facts) facts.row(spaced(fact.key), value_text(fact));
    out += facts.text(style);
    if (!file.work.empty()) out += "\n" + work_table(file, style);
  }
  if (files.size() > kShownFiles) {
    out += fmt::format("\n  ... and {} more files (--json has all)\n", files.size() - kShownFiles);
  }
  return out;
}

Value trace_info_json(const RecordedRun& run, const std::vector<TraceContents>& files) {
  Value ranks = Value::list();
  for (std::size_t i = 0; i < run.ranks.size(); ++i) ranks.append(rank_json(run, i));
  return map_of({{"schema_version", 1},
                 {"world_size", if_recorded(run.world_size)},
                 {"ranks", ranks},
                 {"files", list_of(files, contents_json)}});
}

}  // namespace orrery
