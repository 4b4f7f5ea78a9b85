#include "report/schedules/schedule_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "document/value.h"

namespace orrery {
namespace {

// Whole numbers without a point, others with the digits that read back to the same.
std::string number_text(double x) {
  if (x == std::floor(x) && std::abs(x) < 1e15) {
    return fmt::format("{}", static_cast<std::int64_t>(x));
  }
  return fmt::format("{}", x);
}

Value number(double x) { return Value::scalar(Value::Kind::number, number_text(x), 0); }
Value integer(std::int64_t i) { return Value::number(i); }

template <class Range, class Make>
Value list(const Range& range, Make make) {
  Value out = Value::list();
  for (const auto& item : range) out.append(make(item));
  return out;
}

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
            equal ? number(s.unit.of(first)) : list(s.times.stage, [&](const StageTimes& t) {
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
  if (times.empty()) return integer(0);
  const bool equal = std::ranges::all_of(times, [&](Picoseconds t) { return t == times.front(); });
  return equal ? number(s.unit.of(times.front()))
               : list(times, [&](Picoseconds t) { return number(s.unit.of(t)); });
}

Value expected(const MeasuredSchedule& s) {
  const PipelineMeasures& m = s.execution.measures;
  const auto time = [&](Picoseconds t) { return number(s.unit.of(t)); };
  Value out = Value::map();
  out.set("makespan", time(m.makespan));
  out.set("busy", list(m.busy, time));
  out.set("longest_device_span", time(m.longest_device_span));
  out.set("bubble_ratio", number(m.bubble_ratio));
  out.set("bubble_ratio_span", number(m.bubble_ratio_span));
  out.set("peak_units", list(m.peak_memory, number));
  out.set("peak_microbatches",
          list(m.peak_memory, [&](double p) { return number(p / s.pipeline.shape.chunks); }));
  return out;
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
  Value out = Value::map();
  out.set("by_device", list(s.idle, one));
  out.set("sum", one(s.idle_sum()));
  return out;
}

Value lifetimes(const MeasuredSchedule& s) {
  return list(s.lifetimes, [&](const ActivationLifetimes& life) {
    Value out = Value::map();
    out.set("count", integer(life.count));
    out.set("mean",
            number(life.count > 0 ? s.unit.of(life.sum) / static_cast<double>(life.count) : 0));
    out.set("longest", number(s.unit.of(life.longest)));
    return out;
  });
}

// Members whose lists of short lists would fill pages if each number had its line.
class CompactMember {
 public:
  CompactMember(std::string& out, std::string_view key) : out_(out) {
    fmt::format_to(std::back_inserter(out_), ",\n  \"{}\": [", key);
  }
  void row(const std::function<void(std::string&)>& fill) {
    out_ += first_ ? "\n    [" : ",\n    [";
    first_ = false;
    fill(out_);
    out_ += "]";
  }
  void close() { out_ += "\n  ]"; }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace

std::string schedule_json(const MeasuredSchedule& s, const ScheduleJsonRemarks& remarks) {
  const Pipeline& pipeline = s.pipeline;
  const PipelineShape& shape = pipeline.shape;
  Value document = Value::map();
  document.set("schema_version", integer(kScheduleSchemaVersion));
  document.set("schedule", Value::text(s.name));
  document.set("arxiv", arxiv(remarks.schedule));
  document.set("p", integer(shape.devices));
  document.set("m", integer(shape.microbatches));
  document.set("v", integer(shape.chunks));
  document.set("num_stages", integer(static_cast<std::int64_t>(pipeline.stages())));
  document.set("placement", Value::text(placement(pipeline)));
  const bool fixed = remarks.schedule != nullptr && !remarks.schedule->made_for_times;
  document.set("mode", Value::text(fixed ? "exact_order" : "reference_solution"));
  Value params = Value::map();
  if (remarks.group > 0) params.set("group", integer(remarks.group));
  if (remarks.memory_limit > 0) params.set("mem_cap_units", number(remarks.memory_limit));
  document.set("params", std::move(params));
  document.set("time_unit", Value::text(s.unit.seconds ? "s" : "unit"));
  document.set("op_time", op_time(s));
  document.set("comm_latency", by_boundary(s, s.times.latency));
  document.set("comm_transfer", by_boundary(s, s.times.transfer));
  document.set("sends", Value::text(s.sends == Sends::blocking ? "blocking" : "asynchronous"));
  document.set("expected", expected(s));
  document.set("weights_held", number(s.weights_held()));
  document.set("sends_per_microbatch", number(s.sends_per_microbatch()));
  document.set("idle", idle(s));
  document.set("lifetimes", lifetimes(s));

  if (remarks.synthesis.kind() != Value::Kind::null) document.set("synthesis", remarks.synthesis);

  std::string out = to_json(document);
  out.resize(out.rfind("\n}"));
  out += ",\n  \"microbatch_direction\": [";
  for (std::size_t j = 0; j < static_cast<std::size_t>(shape.microbatches); ++j) {
    fmt::format_to(std::back_inserter(out), "{}{}", j > 0 ? "," : "", pipeline.route_of(j));
  }
  out += "]";
  CompactMember devices(out, "stage_device");
  for (std::size_t r = 0; r < pipeline.routes(); ++r) {
    devices.row([&](std::string& row) {
      for (std::size_t i = 0; i < pipeline.stages(); ++i) {
        fmt::format_to(std::back_inserter(row), "{}{}", i > 0 ? "," : "",
                       pipeline.seats[r * pipeline.stages() + i].device);
      }
    });
  }
  devices.close();
  CompactMember memory(out, "memory");
  for (const std::vector<MemoryChange>& curve : s.memory) {
    memory.row([&](std::string& row) {
      for (std::size_t i = 0; i < curve.size(); ++i) {
        fmt::format_to(std::back_inserter(row), "{}[{},{}]", i > 0 ? "," : "",
                       number_text(s.unit.of(curve[i].at)), number_text(curve[i].held));
      }
    });
  }
  memory.close();
  std::vector<std::string> operations(static_cast<std::size_t>(shape.devices));
  const PipelineExecution& run = s.execution;
  for (std::size_t i = 0; i < run.graph.operations.size(); ++i) {
    const std::size_t d = run.graph.operations[i].device;
    const PipelineOperation& op = run.graph.operations[i].operation;
    std::string& row = operations[d];
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
  CompactMember order(out, "device_ops");
  for (const std::string& device : operations) {
    order.row([&](std::string& row) { row += device; });
  }
  order.close();
  return out + "\n}\n";
}

}  // namespace orrery
