#include "trace/trace_contents.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "trace/chakra/chakra_check.h"
#include "trace/chakra/chakra_file.h"

namespace orrery {
namespace {

constexpr std::size_t kMostOperators = 12;  // of a host trace, by how often they ran

// Sums by kind and group. Sums that pass 64 bits stay at the largest number.
class WorkTable {
 public:
  TraceWork& at(std::string_view kind, std::string_view group = "") {
    TraceWork& work = rows_[{std::string(kind), std::string(group)}];
    work.kind = kind;
    work.group = group;
    ++work.count;
    return work;
  }

  static void add_bytes(TraceWork& work, std::int64_t bytes) {
    std::int64_t sum = 0;
    const bool over = __builtin_add_overflow(work.bytes.value_or(0), bytes, &sum);
    work.bytes = over ? std::numeric_limits<std::int64_t>::max() : sum;
  }
  static void add_time(TraceWork& work, Seconds time) {
    work.time = work.time.value_or(Seconds(0)) + time;
  }

  [[nodiscard]] std::vector<TraceWork> rows() const {
    std::vector<TraceWork> out;
    for (const auto& [key, work] : rows_) out.push_back(work);
    // Kind and group are unique, so the order is total.
    const auto size = [](const TraceWork& w) {
      return std::tuple(-w.time.value_or(Seconds(0)).value(), -w.bytes.value_or(0), -w.count,
                        std::string_view(w.kind), std::string_view(w.group));
    };
    std::sort(out.begin(), out.end(),
              [&](const TraceWork& a, const TraceWork& b) { return size(a) < size(b); });
    return out;
  }

 private:
  std::map<std::pair<std::string, std::string>, TraceWork> rows_;
};

class Facts {
 public:
  void number(std::string key, std::size_t n) {
    facts_.push_back({std::move(key), static_cast<std::int64_t>(n)});
  }
  void number(std::string key, std::int64_t n) { facts_.push_back({std::move(key), n}); }
  void text(std::string key, std::string text) {
    facts_.push_back({std::move(key), std::move(text)});
  }
  void time(std::string key, Seconds time) { facts_.push_back({std::move(key), time}); }
  std::vector<TraceFact> take() { return std::move(facts_); }

 private:
  std::vector<TraceFact> facts_;
};

Seconds of_nanoseconds(std::int64_t ns) { return Seconds(static_cast<double>(ns) * 1e-9); }

}  // namespace

TraceContents contents(const HostTrace& trace) {
  WorkTable operators;
  WorkTable communications;
  std::int64_t threads = 0;
  std::int64_t with_schema = 0;
  std::int64_t backward = 0;
  std::int64_t user = 0;
  constexpr std::int64_t kBackwardScope = 1;
  constexpr std::int64_t kUserScope = 7;
  for (const HostNode& node : trace.nodes) {
    threads += node.is_thread() ? 1 : 0;
    if (node.is_thread() || node.is_process()) continue;
    backward += node.scope == kBackwardScope ? 1 : 0;
    user += node.scope == kUserScope ? 1 : 0;
    if (!node.schema.empty()) {
      ++with_schema;
      WorkTable::add_bytes(operators.at(node.name), tensor_bytes(node.inputs));
    }
    if (node.communication == kNoCommunication) continue;
    const HostCommunication& c = trace.communications[node.communication];
    if (c.collective == "wait" || c.collective == "init") continue;
    WorkTable::add_bytes(communications.at(c.collective, c.group), tensor_bytes(node.inputs));
  }
  Facts facts;
  facts.text("schema", trace.schema);
  facts.text("process", std::to_string(trace.process));
  if (trace.finish_ms > trace.start_ms && trace.start_ms >= 0) {
    facts.time("recorded", Seconds(static_cast<double>(trace.finish_ms - trace.start_ms) * 1e-3));
  }
  facts.number("nodes", trace.nodes.size());
  facts.number("threads", threads);
  facts.number("operators", with_schema);
  facts.number("backward_operators", backward);
  facts.number("annotations", user);
  TraceContents out{trace.file, TraceFormat::host_execution, facts.take(), communications.rows()};
  std::vector<TraceWork> rows = operators.rows();
  std::sort(rows.begin(), rows.end(), [](const TraceWork& a, const TraceWork& b) {
    return std::tuple(-a.count, std::string_view(a.kind)) <
           std::tuple(-b.count, std::string_view(b.kind));
  });
  rows.resize(std::min(rows.size(), kMostOperators));
  std::move(rows.begin(), rows.end(), std::back_inserter(out.work));
  return out;
}

TraceContents contents(const ChakraTrace& trace, const std::string& file) {
  WorkTable work;
  std::array<std::int64_t, kChakraNodeTypes> types{};
  std::int64_t data = 0;
  std::int64_t control = 0;
  std::int64_t absent = 0;
  std::int64_t starts = 0;
  std::unordered_set<std::uint64_t> ids;
  for (const ChakraNode& node : trace.nodes) ids.insert(node.id);
  for (const ChakraNode& node : trace.nodes) {
    ++types[static_cast<std::size_t>(node.type)];
    data += static_cast<std::int64_t>(node.data_dependencies.size());
    control += static_cast<std::int64_t>(node.control_dependencies.size());
    for (const auto* list : {&node.data_dependencies, &node.control_dependencies}) {
      absent += std::count_if(list->begin(), list->end(),
                              [&](std::uint64_t id) { return !ids.contains(id); });
    }
    starts += node.start_micros > 0 ? 1 : 0;
    const Seconds time(static_cast<double>(node.duration_micros) * 1e-6);
    const auto bytes = node.integer("comm_size");
    switch (node.type) {
      case ChakraNodeType::compute:
        WorkTable::add_time(work.at(node.is_host() ? "host" : "compute"), time);
        break;
      case ChakraNodeType::collective: {
        const auto kind = node.integer("comm_type");
        if (node.is_host() || !kind || *kind < 0 || *kind >= kChakraCollectives) {
          WorkTable::add_time(work.at("host"), time);
          break;
        }
        TraceWork& row = work.at(name(static_cast<ChakraCollective>(*kind)), node.text("pg_name"));
        WorkTable::add_time(row, time);
        WorkTable::add_bytes(row, std::max<std::int64_t>(0, bytes.value_or(0)));
        break;
      }
      case ChakraNodeType::send:
      case ChakraNodeType::receive: {
        TraceWork& row = work.at(name(node.type), node.text("pg_name"));
        WorkTable::add_time(row, time);
        WorkTable::add_bytes(row, std::max<std::int64_t>(0, bytes.value_or(0)));
        break;
      }
      case ChakraNodeType::memory_load:
      case ChakraNodeType::memory_store:
        WorkTable::add_time(work.at(name(node.type)), time);
        break;
      case ChakraNodeType::invalid:
      case ChakraNodeType::metadata:
        break;
    }
  }
  Facts facts;
  if (!trace.version.empty()) facts.text("version", trace.version);
  for (const ChakraAttribute& attribute : trace.attributes) {
    if (attribute.name == "schema" && std::holds_alternative<std::string>(attribute.value)) {
      facts.text("schema", std::get<std::string>(attribute.value));
    }
  }
  facts.number("nodes", trace.nodes.size());
  for (int type = 0; type < kChakraNodeTypes; ++type) {
    const std::int64_t n = types[static_cast<std::size_t>(type)];
    if (n > 0) facts.number(std::string(name(static_cast<ChakraNodeType>(type))), n);
  }
  facts.number("data_dependencies", data);
  facts.number("control_dependencies", control);
  facts.number("absent_dependencies", absent);
  facts.number("start_times", starts);
  if (starts > 0) facts.text("times", trace.has_simulated_times() ? "simulated" : "recorded");
  const ChakraReport report = check_chakra(trace);
  facts.number("findings", report.total);
  if (!report.findings.empty()) {
    facts.text("first_finding", "node " + std::to_string(report.findings[0].node) + ": " +
                                    report.findings[0].message);
  }
  return {file, TraceFormat::chakra, facts.take(), work.rows()};
}

TraceContents contents(const OperationTimeline& timeline, const std::string& file) {
  WorkTable work;
  std::map<std::int32_t, std::pair<Seconds, Seconds>> steps;
  for (const TimedOperation& operation : timeline.operations) {
    WorkTable::add_time(work.at(name(operation.type)), operation.end - operation.start);
    const auto [it, is_new] =
        steps.try_emplace(operation.step, std::pair(operation.start, operation.end));
    if (is_new) continue;
    it->second.first = std::min(it->second.first, operation.start);
    it->second.second = std::max(it->second.second, operation.end);
  }
  std::vector<Seconds> times;
  for (const auto& [step, span] : steps) times.push_back(span.second - span.first);
  std::sort(times.begin(), times.end());
  Facts facts;
  facts.number("data_parallel_ranks", std::int64_t{timeline.data_parallel_ranks});
  facts.number("stages", std::int64_t{timeline.stages});
  facts.number("steps", steps.size());
  facts.number("operations", timeline.operations.size());
  if (!times.empty()) {
    facts.time("fastest_step", times.front());
    facts.time("median_step", times[times.size() / 2]);
    facts.time("slowest_step", times.back());
  }
  return {file, TraceFormat::operation_timeline, facts.take(), work.rows()};
}

TraceContents contents(const Workload& workload, const std::string& file) {
  static constexpr std::array<std::string_view, 5> kGroups = {"", "tensor", "data", "expert",
                                                              "expert-data"};
  WorkTable work;
  const auto add = [&](std::string_view pass, const WorkloadPart& part) {
    WorkTable::add_time(work.at(pass), of_nanoseconds(part.time_ns));
    if (!part.collective) return;
    const std::string kind = std::string(pass) + " " + std::string(name(*part.collective));
    WorkTable::add_bytes(work.at(kind, kGroups[static_cast<std::size_t>(part.group)]), part.bytes);
  };
  for (const WorkloadLayer& layer : workload.layers) {
    add("forward", layer.forward);
    add("input gradient", layer.input_gradient);
    add("weight gradient", layer.weight_gradient);
    WorkTable::add_time(work.at("update"), of_nanoseconds(layer.update_ns));
  }
  Facts facts;
  facts.text("policy", workload.policy);
  facts.number("layers", workload.layers.size());
  const auto degree = [&](std::string key, std::int64_t n) {
    if (n > 0) facts.number(std::move(key), n);
  };
  degree("accelerators", workload.accelerators);
  degree("tensor_parallel", workload.tensor);
  degree("expert_parallel", workload.expert);
  degree("pipeline_stages", workload.pipeline);
  return {file, TraceFormat::workload_text, facts.take(), work.rows()};
}

TraceContents contents(const GraphFile& graph, const std::string& file) {
  WorkTable work;
  for (std::size_t n = 0; n < graph.graph.size(); ++n) {
    const NodeIndex node(n);
    WorkTable::add_time(work.at(name(graph.graph.category(node))),
                        graph.graph.duration(node).seconds());
  }
  std::set<std::uint32_t> ranks;
  for (const Stream& stream : graph.graph.streams()) ranks.insert(stream.rank_class);
  Facts facts;
  facts.number("ranks", ranks.size());
  facts.number("streams", graph.graph.streams().size());
  facts.number("nodes", graph.graph.size());
  facts.number("data_dependencies", graph.graph.edges());
  facts.number("steps", graph.steps.size());
  return {file, TraceFormat::graph, facts.take(), work.rows()};
}

Result<TraceContents> read_contents(const std::string& file, TraceFormat format,
                                    Incomplete incomplete) {
  const std::string shown = file == "-" ? "standard input" : file;
  switch (format) {
    case TraceFormat::host_execution: {
      ORRERY_TRY(const HostTrace trace, read_host_trace(file));
      return contents(trace);
    }
    case TraceFormat::chakra: {
      ORRERY_TRY(const ChakraTrace trace, read_chakra(file, incomplete));
      return contents(trace, shown);
    }
    case TraceFormat::operation_timeline: {
      ORRERY_TRY(const OperationTimeline timeline, read_operation_timeline(file, incomplete));
      return contents(timeline, shown);
    }
    case TraceFormat::workload_text: {
      ORRERY_TRY(const Workload workload, read_workload(file));
      return contents(workload, shown);
    }
    case TraceFormat::graph: {
      ORRERY_TRY(const GraphFile graph, read_graph_file(file));
      return contents(graph, shown);
    }
    case TraceFormat::kineto:
    case TraceFormat::chakra_json:
    case TraceFormat::unknown:
      break;
  }
  return fail(ErrorCode::unsupported, "is " + std::string(name(format)), shown,
              "traces of the PyTorch profiler, execution traces, .et files, operation timelines, "
              "text workloads and graphs are read");
}

}  // namespace orrery
