#include "report/schedules/schedule_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ranges>
#include <span>
#include <tuple>

#include "document/results.h"
#include "report/drawing/pass_style.h"
#include "report/drawing/pipeline_text.h"
#include "report/drawing/table.h"
#include "schedule/span_kind.h"

namespace orrery {
namespace {

constexpr std::size_t kMostDevices = 16;
constexpr std::array<std::uint8_t, kIdleCauses.size()> kCauseColours = {250, 245, 240, 168, 136};

std::string six_digits(double value) { return fmt::format("{:.6g}", value); }

// The highest value in each of `cells` equal parts of [0, makespan].
std::vector<double> sampled(const std::vector<MemoryChange>& curve, Picoseconds makespan,
                            std::size_t cells) {
  std::vector<double> out(cells, 0);
  const double per_cell = makespan.count() / static_cast<double>(cells);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double until = i + 1 < curve.size() ? curve[i + 1].at.count() : makespan.count();
    const auto first = static_cast<std::size_t>(curve[i].at.count() / per_cell);
    const auto last = static_cast<std::size_t>(std::max(0.0, until / per_cell - 1e-9));
    for (std::size_t c = std::min(first, cells - 1); c <= std::min(last, cells - 1); ++c) {
      out[c] = std::max(out[c], curve[i].held);
    }
  }
  return out;
}

std::string idle_table(const MeasuredSchedule& s, const TextStyle& style) {
  const TimeAxis axis = time_axis(s.unit);
  const IdleTime sum = s.idle_sum();
  const PipelineMeasures& m = s.execution.measures;
  std::vector<Column> columns = {right("device", 9), right("busy", 4), right("idle", 8)};
  for (const IdleCause cause : kIdleCauses) {
    columns.push_back(right(std::string(to_text(cause)), 6).shown_if(sum[cause] > Picoseconds(0)));
  }
  columns.push_back(right("", 5));
  columns.push_back(bars(1, 30));
  Table table(std::move(columns));
  Picoseconds most(1);
  for (const IdleTime& device : s.idle) most = std::max(most, device.total());
  const auto row = [&](const std::string& label, Picoseconds busy, const IdleTime& idle,
                       Picoseconds whole, Picoseconds longest, Ink ink) {
    const auto time = [&](Picoseconds t) { return cell(tick_text(t.seconds(), axis), ink); };
    std::vector<Cell> cells = {cell(label, ink), time(busy), time(idle.total())};
    std::vector<BarSegment> segments;
    for (const IdleCause cause : kIdleCauses) {
      cells.push_back(time(idle[cause]));
      const double share = idle[cause].count() / longest.count();
      if (share > 0) {
        segments.push_back({share, {.colour = kCauseColours[static_cast<std::size_t>(cause)]}});
      }
    }
    cells.push_back(cell(percent(idle.total().count() / std::max(whole.count(), 1.0)), ink));
    cells.push_back(bar_of(std::move(segments)));
    table.add_row(std::move(cells));
  };
  Picoseconds busy;
  for (const Picoseconds b : m.busy) busy += b;
  for (const std::size_t d : evenly_spread(s.idle.size(), kMostDevices)) {
    row(std::to_string(d), m.busy[d], s.idle[d], m.makespan, most, {});
  }
  if (s.idle.size() > 1) {
    table.add_rule();
    row("all", busy, sum, m.makespan * static_cast<int>(s.idle.size()), std::max(sum.total(), most),
        {.bold = true});
  }
  return table.text(style);
}

std::string memory_table(const MeasuredSchedule& s, const TextStyle& style) {
  const TimeAxis axis = time_axis(s.unit);
  const auto cells = static_cast<std::size_t>(std::clamp(usable_width(style) - 44, 8, 80));
  Table table(right("device", 9), right("peak", 8), left("held over time", 5),
              right("lives on average", 3), right("at most", 2));
  double highest = 0;
  for (const auto& curve : s.memory) {
    for (const MemoryChange& c : curve) highest = std::max(highest, c.held);
  }
  for (const std::size_t d : evenly_spread(s.memory.size(), kMostDevices)) {
    // All devices on one scale.
    const std::string line = sparkline(sampled(s.memory[d], s.execution.measures.makespan, cells),
                                       static_cast<int>(cells), 0, highest);
    const ActivationLifetimes& life = s.lifetimes[d];
    const double mean = life.count > 0 ? life.sum.count() / static_cast<double>(life.count) : 0;
    table.row(std::to_string(d), six_digits(s.execution.measures.peak_memory[d]),
              cell(line, {.colour = 67}), tick_text(Seconds(mean * 1e-12), axis),
              tick_text(life.longest.seconds(), axis));
  }
  return table.text(style);
}

}  // namespace

TimeAxis time_axis(const TimeUnit& unit) {
  return {unit.seconds ? Seconds(0) : unit.one.seconds()};
}

std::string shape_sentence(const PipelineShape& shape) {
  std::string out = counted(shape.devices, "device") + " · " +
                    counted(shape.microbatches, "microbatch", "microbatches");
  if (shape.chunks > 1) out += " · " + counted(shape.chunks, "chunk") + " a device";
  return out;
}

std::string memory_unit(const MeasuredSchedule& schedule, bool stated_memory) {
  if (stated_memory) return "stated units";
  return schedule.pipeline.shape.chunks > 1 ? "microbatches of a chunk" : "microbatches";
}

std::string schedule_text(const MeasuredSchedule& s, const ScheduleRemarks& remarks,
                          const TextStyle& style) {
  const PipelineMeasures& m = s.execution.measures;
  const TimeAxis axis = time_axis(s.unit);
  std::string out = heading(remarks.title, shape_sentence(s.pipeline.shape), style).substr(1);
  std::string facts = fmt::format("makespan {} · bubble {} ({} if steps follow without a flush)",
                                  time_text(m.makespan.seconds(), axis), percent(m.bubble_ratio),
                                  percent(m.bubble_ratio_span));
  facts += fmt::format(" · weights {}× · sends {} a microbatch", six_digits(s.weights_held()),
                       six_digits(s.sends_per_microbatch()));
  out += paragraph(style, facts) + "\n";
  out += pipeline_text(pipeline_spans(s), style, axis);
  out += heading("Idle",
                 std::string("time that a device waits, by cause") +
                     (axis.counts_units() ? ", in units" : ""),
                 style) +
         idle_table(s, style);
  std::string remark = "activations, in " + memory_unit(s, remarks.stated_memory);
  if (remarks.memory_limit > 0)
    remark += fmt::format("; limit {}", six_digits(remarks.memory_limit));
  return out + heading("Held", remark, style) + memory_table(s, style);
}

namespace {

// Whole numbers without a point, others with the digits that read back to the same.
std::string number_text(double x) {
  if (x == std::floor(x) && std::abs(x) < 1e15) {
    return fmt::format("{}", static_cast<std::int64_t>(x));
  }
  return fmt::format("{}", x);
}

Value number(double x) { return Value::scalar(Value::Kind::number, number_text(x), 0); }
// "arXiv 2401.10241" in a summary.
Value arxiv(const Schedule* schedule) {
  if (schedule == nullptr) return Value::null();
  const std::string_view text = schedule->summary;
  const std::size_t at = text.find("arXiv ");
  if (at == std::string_view::npos) return Value::null();
  const std::string_view rest = text.substr(at + 6);
  return Value::text(std::string(rest.substr(0, rest.find_first_not_of("0123456789."))));
}

std::string placement(const Pipeline& pipeline) {
  const auto p = static_cast<std::size_t>(pipeline.shape.devices);
  bool loop = true;
  bool snake = true;
  for (std::size_t s = 0; s < pipeline.stages(); ++s) {
    const std::size_t q = s / p;
    const std::size_t r = s % p;
    loop &= pipeline.seats[s].device == r;
    snake &= pipeline.seats[s].device == (q % 2 == 0 ? r : p - 1 - r);
  }
  if (pipeline.routes() == 2) {
    return pipeline.shape.chunks > 1 && snake ? "bidirectional_snake" : "bidirectional";
  }
  if (pipeline.routes() > 2) return "stochastic";
  if (pipeline.shape.chunks == 1 && loop) return "linear";
  return loop ? "loop" : snake ? "snake" : "other";
}

// The duration of each kind of operation that occurs: one number, or one a virtual stage.
Value op_time(const MeasuredSchedule& s) {
  struct Kind {
    PipelineAction action;
    Picoseconds StageTimes::* time;
  };
  constexpr std::array kKinds = {
      Kind{PipelineAction::forward, &StageTimes::forward},
      Kind{PipelineAction::backward, &StageTimes::backward},
      Kind{PipelineAction::input_gradient, &StageTimes::input_gradient},
      Kind{PipelineAction::weight_gradient, &StageTimes::weight_gradient},
      Kind{PipelineAction::forward_and_backward, &StageTimes::forward_and_backward},
      Kind{PipelineAction::offload, &StageTimes::offload},
      Kind{PipelineAction::reload, &StageTimes::reload}};
  const auto occurs = [&](PipelineAction action) {
    return std::ranges::any_of(s.pipeline.order, [&](const auto& device) {
      return std::ranges::any_of(device,
                                 [&](const PipelineOperation& op) { return op.action == action; });
    });
  };
  Value out = Value::map();
  for (const Kind& kind : kKinds) {
    if (!occurs(kind.action)) continue;
    const Picoseconds first = s.times.stage.front().*kind.time;
    const bool equal = std::ranges::all_of(
        s.times.stage, [&](const StageTimes& t) { return t.*kind.time == first; });
    out.set(std::string(letters(kind.action)),
            equal ? number(s.unit.of(first)) : list_of(s.times.stage, [&](const StageTimes& t) {
              return number(s.unit.of(t.*kind.time));
            }));
  }
  const VocabularyTimes& v = s.times.vocabulary;
  const auto vocabulary = [&](PipelineAction action, Picoseconds time) {
    if (occurs(action)) out.set(std::string(letters(action)), number(s.unit.of(time)));
  };
  vocabulary(PipelineAction::output_layer, v.output_layer);
  vocabulary(PipelineAction::output_layer_gradient, v.output_layer_gradient);
  vocabulary(PipelineAction::input_layer, v.input_layer);
  vocabulary(PipelineAction::input_layer_gradient, v.input_layer_gradient);
  return out;
}

Value by_boundary(const MeasuredSchedule& s, const std::vector<Picoseconds>& times) {
  if (times.empty()) return number(0);
  const bool equal = std::ranges::all_of(times, [&](Picoseconds t) { return t == times.front(); });
  return equal ? number(s.unit.of(times.front()))
               : list_of(times, [&](Picoseconds t) { return number(s.unit.of(t)); });
}

Value expected(const MeasuredSchedule& s) {
  const PipelineMeasures& m = s.execution.measures;
  const auto time = [&](Picoseconds t) { return number(s.unit.of(t)); };
  const auto microbatches = [&](double p) { return number(p / s.pipeline.shape.chunks); };
  return map_of({{"makespan", time(m.makespan)},
                 {"busy", list_of(m.busy, time)},
                 {"longest_device_span", time(m.longest_device_span)},
                 {"bubble_ratio", number(m.bubble_ratio)},
                 {"bubble_ratio_span", number(m.bubble_ratio_span)},
                 {"peak_units", list_of(m.peak_memory, number)},
                 {"peak_microbatches", list_of(m.peak_memory, microbatches)}});
}

Value idle(const MeasuredSchedule& s) {
  const auto one = [&](const IdleTime& t) {
    Value out = Value::map();
    out.set("total", number(s.unit.of(t.total())));
    for (const IdleCause cause : kIdleCauses) {
      out.set(std::string(to_text(cause)), number(s.unit.of(t[cause])));
    }
    return out;
  };
  return map_of({{"by_device", list_of(s.idle, one)}, {"sum", one(s.idle_sum())}});
}

Value lifetimes(const MeasuredSchedule& s) {
  return list_of(s.lifetimes, [&](const ActivationLifetimes& life) {
    const double mean = life.count > 0 ? s.unit.of(life.sum) / static_cast<double>(life.count) : 0;
    return map_of({{"count", life.count},
                   {"mean", number(mean)},
                   {"longest", number(s.unit.of(life.longest))}});
  });
}

// A member whose list of short lists would fill pages if each number had its line.
void append_rows(std::string& out, std::string_view key, const std::vector<std::string>& rows) {
  out += fmt::format(",\n  \"{}\": [", key);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.append(i > 0 ? "," : "").append("\n    [").append(rows[i]).append("]");
  }
  out += "\n  ]";
}

}  // namespace

std::string schedule_json(const MeasuredSchedule& s, const ScheduleJsonRemarks& remarks) {
  const Pipeline& pipeline = s.pipeline;
  const PipelineShape& shape = pipeline.shape;
  const bool fixed = remarks.schedule != nullptr && !remarks.schedule->made_for_times;
  Value params = Value::map();
  if (remarks.group > 0) params.set("group", number(remarks.group));
  if (remarks.memory_limit > 0) params.set("mem_cap_units", number(remarks.memory_limit));
  Value document = map_of({{"schema_version", kScheduleSchemaVersion},
                           {"schedule", s.name},
                           {"arxiv", arxiv(remarks.schedule)},
                           {"p", shape.devices},
                           {"m", shape.microbatches},
                           {"v", shape.chunks},
                           {"num_stages", pipeline.stages()},
                           {"placement", placement(pipeline)},
                           {"mode", fixed ? "exact_order" : "reference_solution"},
                           {"params", params},
                           {"time_unit", s.unit.seconds ? "s" : "unit"},
                           {"op_time", op_time(s)},
                           {"comm_latency", by_boundary(s, s.times.latency)},
                           {"comm_transfer", by_boundary(s, s.times.transfer)},
                           {"sends", s.sends == Sends::blocking ? "blocking" : "asynchronous"},
                           {"expected", expected(s)},
                           {"weights_held", number(s.weights_held())},
                           {"sends_per_microbatch", number(s.sends_per_microbatch())},
                           {"idle", idle(s)},
                           {"lifetimes", lifetimes(s)}});
  if (remarks.synthesis.kind() != Value::Kind::null) document.set("synthesis", remarks.synthesis);

  std::string out = to_json(document);
  out.resize(out.rfind("\n}"));
  std::vector<std::size_t> ways(static_cast<std::size_t>(shape.microbatches));
  for (std::size_t j = 0; j < ways.size(); ++j) ways[j] = pipeline.route_of(j);
  out += fmt::format(",\n  \"microbatch_direction\": [{}]", fmt::join(ways, ","));
  std::vector<std::string> rows;
  for (std::size_t r = 0; r < pipeline.routes(); ++r) {
    const auto seats = std::span(pipeline.seats).subspan(r * pipeline.stages(), pipeline.stages());
    rows.push_back(joined(seats | std::views::transform(&Seat::device), ","));
  }
  append_rows(out, "stage_device", rows);
  rows.clear();
  for (const std::vector<MemoryChange>& curve : s.memory) {
    rows.push_back(joined(curve | std::views::transform([&](const MemoryChange& c) {
                            return fmt::format("[{},{}]", number_text(s.unit.of(c.at)),
                                               number_text(c.held));
                          }),
                          ","));
  }
  append_rows(out, "memory", rows);
  rows.assign(static_cast<std::size_t>(shape.devices), "");
  const PipelineExecution& run = s.execution;
  for (std::size_t i = 0; i < run.graph.operations.size(); ++i) {
    const std::size_t d = run.graph.operations[i].device;
    const PipelineOperation& op = run.graph.operations[i].operation;
    std::string& row = rows[d];
    const auto vocabulary = op.action >= PipelineAction::output_layer;
    fmt::format_to(std::back_inserter(row), "{}[\"{}\",{},{},", row.empty() ? "" : ",",
                   letters(op.action), op.microbatch,
                   vocabulary
                       ? (op.action >= PipelineAction::input_layer ? 0 : pipeline.stages() - 1)
                       : pipeline.stage_of(d, op.chunk));
    if (op.action == PipelineAction::forward_and_backward) {
      fmt::format_to(std::back_inserter(row), "{},{},", op.backward_microbatch,
                     pipeline.stage_of(d, op.backward_chunk));
    }
    fmt::format_to(std::back_inserter(row), "{},{}]",
                   number_text(s.unit.of(run.timeline.start(run.graph.graph, run.graph.nodes[i]))),
                   number_text(s.unit.of(run.timeline.end(run.graph.nodes[i]))));
  }
  append_rows(out, "device_ops", rows);
  return out + "\n}\n";
}

namespace {

using Kind = PipelineSpan::Kind;

// "F3", "F3 BW1".
std::string operation_text(const PipelineOperation& op) {
  if (op.action == PipelineAction::forward_and_backward) {
    return fmt::format("F{} BW{}", op.microbatch, op.backward_microbatch);
  }
  return fmt::format("{}{}", letters(op.action), op.microbatch);
}

}  // namespace

std::vector<PipelineSpan> pipeline_spans(const MeasuredSchedule& schedule) {
  const Pipeline& pipeline = schedule.pipeline;
  const Graph& graph = schedule.execution.graph.graph;
  const int chunks = pipeline.shape.chunks;
  const auto way = [&](std::uint32_t microbatch) {
    return pipeline.routes() == 2 ? static_cast<int>(pipeline.route_of(microbatch)) : 0;
  };
  std::vector<PipelineSpan> out;
  out.reserve(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    if (graph.duration(n) <= Picoseconds(0)) continue;
    const DeviceOperation& of = schedule.execution.graph.operations[graph.instance(n)];
    const PipelineOperation& op = of.operation;
    const bool transfer = graph.kind(n) == NodeKind::point_to_point;
    PipelineSpan span;
    span.stage = static_cast<int>(of.device);
    // Blocked receivers wait themselves.
    if (transfer && graph.stream_of(n).role == StreamRole::compute) {
      span.stage = static_cast<int>(graph.stream_of(n).rank_class);
    }
    span.chunk = op.chunk % chunks;
    span.microbatch = static_cast<int>(op.microbatch);
    span.kind = transfer ? Kind::transfer : span_kind(op.action);
    span.route = way(op.microbatch);
    if (op.action == PipelineAction::forward_and_backward && !transfer) {
      span.backward_chunk = op.backward_chunk % chunks;
      span.backward_microbatch = static_cast<int>(op.backward_microbatch);
      span.backward_route = way(op.backward_microbatch);
    }
    span.start = schedule.execution.timeline.start(graph, n).seconds();
    span.end = schedule.execution.timeline.end(n).seconds();
    out.push_back(span);
  }
  std::ranges::stable_sort(out, [](const PipelineSpan& a, const PipelineSpan& b) {
    return std::tuple(a.stage, a.start) < std::tuple(b.stage, b.start);
  });
  return out;
}

std::vector<TimelineSpan> timeline_spans(const MeasuredSchedule& schedule) {
  const Graph& graph = schedule.execution.graph.graph;
  const Timeline& timeline = schedule.execution.timeline;
  std::vector<TimelineSpan> out;
  std::vector<std::int64_t> span_of(graph.size(), -1);
  std::int64_t flows = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    if (graph.duration(n) <= Picoseconds(0)) continue;
    const DeviceOperation& of = schedule.execution.graph.operations[graph.instance(n)];
    const Stream& stream = graph.stream_of(n);
    const bool transfer = graph.kind(n) == NodeKind::point_to_point;
    TimelineSpan span;
    span.stage = static_cast<int>(of.device);
    span.stream = std::string(graph.text(stream.label));
    if (stream.role == StreamRole::wire) {
      // Nodes on a wire overlap, those of one kind and device do not.
      span.stream += of.operation.action == PipelineAction::forward ? " forward" : " backward";
    } else if (transfer) {
      span.stage = static_cast<int>(stream.rank_class);
    }
    span.name = transfer ? fmt::format("{} {}", graph.name(n), operation_text(of.operation))
                         : operation_text(of.operation);
    span.category = transfer ? std::string(graph.name(n))
                             : std::string(style(span_kind(of.operation.action)).name);
    span.start = timeline.start(graph, n);
    span.end = timeline.end(n);
    span.microbatch = static_cast<int>(of.operation.microbatch);
    span.chunk = of.operation.chunk;
    for (const std::uint32_t p : graph.predecessors(n)) {
      const std::int64_t from = span_of[p];
      if (transfer || from < 0 || graph.kind(NodeIndex(p)) != NodeKind::point_to_point) continue;
      TimelineSpan& sender = out[static_cast<std::size_t>(from)];
      if (sender.flow_out >= 0) continue;
      sender.flow_out = flows;
      span.flow_in = flows++;
      break;
    }
    span_of[i] = static_cast<std::int64_t>(out.size());
    out.push_back(std::move(span));
  }
  std::ranges::stable_sort(out, [](const TimelineSpan& a, const TimelineSpan& b) {
    return std::tuple(a.stage, a.stream, a.start) < std::tuple(b.stage, b.stream, b.start);
  });
  return out;
}

}  // namespace orrery
