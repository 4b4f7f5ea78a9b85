#include "replay/simulated_recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/chakra/process_groups.h"
#include "trace/possible_times.h"
#include "trace/sorted_events.h"

namespace orrery {
namespace {

constexpr std::string_view kStepMark = "ProfilerStep#";
constexpr std::uint64_t kLongestMicroseconds = 86'400'000'000;  // a day

// The columns of one rank, filled event by event.
class Recording {
 public:
  Recording(std::int64_t rank, std::string file) {
    trace_.rank = rank;
    trace_.file = std::move(file);
  }

  RecordedTrace& trace() { return trace_; }

  std::uint32_t host(std::int64_t thread, const std::string& name = "") {
    return lane({false, thread}, Lane{.device = false,
                                      .process = 0,
                                      .thread = thread,
                                      .process_name = "",
                                      .thread_name = name});
  }
  std::uint32_t device(std::int64_t stream, const std::string& name = "") {
    return lane({true, stream}, Lane{.device = true,
                                     .process = 0,
                                     .thread = stream,
                                     .process_name = "",
                                     .thread_name = name});
  }

  void add(EventKind kind, std::string_view name, std::uint32_t lane, std::int64_t start_ns,
           std::int64_t end_ns, std::int64_t external_id = kNotRecorded,
           std::optional<CommunicationDetails> communication = std::nullopt) {
    trace_.external_id[trace_.append(kind, name, lane, start_ns, end_ns - start_ns)] = external_id;
    ++trace_.entries;
    if (communication) {
      trace_.communication.back() = static_cast<std::uint32_t>(trace_.communications.size());
      trace_.communications.push_back(*communication);
    }
  }

  // Analyses know communication by its name.
  void add_communication(const std::string& name, std::uint32_t lane, std::int64_t start_ns,
                         std::int64_t end_ns, std::int64_t external_id = kNotRecorded,
                         std::optional<CommunicationDetails> details = std::nullopt) {
    add(EventKind::kernel, is_communication_kernel(name) ? name : "nccl:" + name, lane, start_ns,
        end_ns, external_id, details);
  }

  Result<RecordedTrace> take() {
    sort_events(trace_);
    ORRERY_RETURN_IF_ERROR(at(trace_.file, check_times(trace_)));
    return std::move(trace_);
  }

 private:
  std::uint32_t lane(std::pair<bool, std::int64_t> key, Lane lane) {
    const auto [it, is_new] =
        lanes_.try_emplace(key, static_cast<std::uint32_t>(trace_.lanes.size()));
    if (is_new) trace_.lanes.push_back(std::move(lane));
    return it->second;
  }

  RecordedTrace trace_;
  std::map<std::pair<bool, std::int64_t>, std::uint32_t> lanes_;
};

bool is_timed(const ChakraTrace& trace) {
  return std::ranges::any_of(trace.nodes, [](const ChakraNode& node) {
    return node.start_micros > 0 && node.type != ChakraNodeType::metadata;
  });
}

// A process group that the nodes of a rank define. Groups of other ranks may have the same name.
struct DefinedGroup {
  std::int64_t size = 0;
  std::string ranks;  // "[0, 1, 2]", ascending; empty: all of the job
};
using GroupsByName = std::unordered_map<std::string, DefinedGroup>;

// As NCCL's arguments say it, in bytes.
CommunicationDetails details_of(const ChakraNode& node, std::int64_t ranks_of_job,
                                const GroupsByName& groups, TextTable& texts) {
  static constexpr std::array<std::string_view, kChakraCollectives> kNames = {
      "allreduce",
      "reduce",
      "_allgather_base",
      "gather",
      "scatter",
      "broadcast",
      "all_to_all",
      "_reduce_scatter_base",
      "_reduce_scatter_base",
      "barrier"};
  CommunicationDetails out;
  const std::int64_t bytes = std::max<std::int64_t>(0, node.integer("comm_size").value_or(0));
  if (bytes > 0) {  // else the size was not recorded
    out.data_type = texts.intern("Byte");
    out.input_elements = bytes;
    out.output_elements = bytes;
  }
  const std::string group(node.text("pg_name"));
  out.group = texts.intern(group);
  const auto known = groups.find(group);
  out.group_size = known != groups.end() ? known->second.size : ranks_of_job;
  if (known != groups.end()) out.group_ranks = texts.intern(known->second.ranks);
  if (node.type != ChakraNodeType::collective) {
    out.collective = texts.intern(node.type == ChakraNodeType::send ? "send" : "recv");
    out.group_size = 2;
    out.source = node.integer("comm_src").value_or(kNotRecorded);
    out.destination = node.integer("comm_dst").value_or(kNotRecorded);
    return out;
  }
  const std::int64_t type = node.integer("comm_type").value_or(0);
  if (type < 0 || type >= kChakraCollectives) return out;
  out.collective = texts.intern(kNames[static_cast<std::size_t>(type)]);
  const auto kind = static_cast<ChakraCollective>(type);
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
  constexpr std::int64_t kMostRanks = 1 << 12;
  const std::int64_t size = std::clamp<std::int64_t>(out.group_size, 1, kMostRanks);
  if (bytes == 0) return out;
  if (kind == ChakraCollective::all_gather && bytes < kMostBytes)
    out.output_elements = bytes * size;
  if (kind == ChakraCollective::reduce_scatter) out.output_elements = bytes / size;
  return out;
}

GroupsByName defined_by(const ChakraTrace& trace, std::int64_t ranks_of_job) {
  GroupsByName out;
  for (NamedGroup& group : defined_groups(trace).groups) {
    DefinedGroup& defined = out[group.name];
    defined = {ranks_of_job, ""};
    if (group.ranks.empty()) continue;
    defined.size = static_cast<std::int64_t>(group.ranks.size());
    std::ranges::sort(group.ranks);
    defined.ranks = fmt::format("[{}]", fmt::join(group.ranks, ", "));
  }
  return out;
}

// What is known of every rank of the run.
std::int64_t ranks_of(const ChakraRun& run) { return run.empty() ? 1 : run.back().rank + 1; }

// One rank whose nodes say when they ran.
class TimedRank {
 public:
  TimedRank(const ChakraRank& rank, std::int64_t ranks_of_job)
      : rank_(rank), nodes_(rank.trace.nodes), ranks_of_job_(ranks_of_job) {}

  Result<RecordedTrace> read() {
    for (const ChakraNode& node : nodes_) {
      if (node.start_micros > kLatestNodeMicros || node.duration_micros > kLongestMicroseconds) {
        return bad_input("starts at " + node_time_text(node.start_micros) + " and takes " +
                             node_time_text(node.duration_micros),
                         rank_.file + ": node " + std::to_string(node.id),
                         "microseconds since 1970, and no more than a day");
      }
    }
    find_callers();
    find_ends();
    return record();
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  [[nodiscard]] bool ran(std::uint32_t n) const {
    return nodes_[n].start_micros > 0 || nodes_[n].duration_micros > 0;
  }
  [[nodiscard]] bool is_host(std::uint32_t n) const {
    return nodes_[n].is_host() && nodes_[n].type != ChakraNodeType::metadata;
  }
  [[nodiscard]] bool is_mark(std::uint32_t n) const {
    return is_host(n) && nodes_[n].name.starts_with(kStepMark);
  }

  void find_callers() {
    std::unordered_map<std::uint64_t, std::uint32_t> by_id;
    by_id.reserve(nodes_.size());
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) by_id.emplace(nodes_[n].id, n);
    caller_.assign(nodes_.size(), kNone);
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].control_dependencies.empty()) continue;
      const auto it = by_id.find(nodes_[n].control_dependencies.front());
      if (it != by_id.end() && it->second != n) caller_[n] = it->second;
    }
  }

  // From those that call nothing up to the threads. Callers in a circle keep their own times.
  void find_ends() {
    std::vector<std::uint32_t> missing(nodes_.size(), 0);  // called, and not done yet
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (is_host(n) && caller_[n] != kNone) ++missing[caller_[n]];
    }
    begin_.resize(nodes_.size());
    own_end_.resize(nodes_.size());
    whole_.resize(nodes_.size());
    last_.assign(nodes_.size(), 0);
    std::vector<std::uint32_t> ready;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      begin_[n] = ran(n) ? nodes_[n].start_micros : kLatestNodeMicros;
      own_end_[n] = ran(n) ? nodes_[n].start_micros + nodes_[n].duration_micros : 0;
      whole_[n] = nodes_[n].duration_micros;
      if (is_host(n) && missing[n] == 0) ready.push_back(n);
    }
    bool shorter = false;
    while (!ready.empty()) {
      const std::uint32_t n = ready.back();
      ready.pop_back();
      if (ran(n) && last_[n] > own_end_[n] + kSlackMicroseconds) shorter = true;
      const std::uint32_t caller = caller_[n];
      if (caller == kNone || !is_host(caller)) continue;
      // What did not run itself lasts as long as what it called.
      if (!ran(caller)) begin_[caller] = std::min(begin_[caller], begin_[n]);
      whole_[caller] = std::min(whole_[caller] + whole_[n], kLongestMicroseconds);
      const std::uint64_t end = std::max(own_end_[n], begin_[n] + whole_[n]);
      if (begin_[n] < kLatestNodeMicros) last_[caller] = std::max({last_[caller], end, last_[n]});
      if (--missing[caller] == 0) ready.push_back(caller);
    }
    durations_are_own_ = shorter;
  }

  [[nodiscard]] std::uint64_t end_of(std::uint32_t n) const {
    if (!ran(n)) return last_[n];
    const std::uint64_t whole = durations_are_own_ ? begin_[n] + whole_[n] : own_end_[n];
    return std::max({whole, own_end_[n], last_[n]});
  }

  Result<RecordedTrace> record() {
    Recording out(rank_.rank, rank_.file);
    const GroupsByName groups = defined_by(rank_.trace, ranks_of_job_);
    std::uint64_t first = kLatestNodeMicros;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (ran(n)) first = std::min(first, nodes_[n].start_micros);
    }
    out.trace().base_ns = static_cast<std::int64_t>(first) * 1000;
    const auto since = [&](std::uint64_t micros) {
      return (static_cast<std::int64_t>(micros) - static_cast<std::int64_t>(first)) * 1000;
    };
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      const ChakraNode& node = nodes_[n];
      const auto id = static_cast<std::int64_t>(n);
      if (is_mark(n)) {
        if (begin_[n] < kLatestNodeMicros && end_of(n) > begin_[n]) {
          out.add(EventKind::annotation, node.name, out.host(thread_of(n)), since(begin_[n]),
                  since(end_of(n)));
        }
        continue;
      }
      if (!ran(n) || node.type == ChakraNodeType::metadata ||
          node.type == ChakraNodeType::invalid) {
        continue;
      }
      if (is_host(n)) {
        out.add(EventKind::cpu_operator, node.name, out.host(thread_of(n)), since(begin_[n]),
                since(end_of(n)), id);
        continue;
      }
      const std::uint32_t caller = caller_[n];
      const std::int64_t by = caller == kNone ? kNotRecorded : static_cast<std::int64_t>(caller);
      const bool speaks = communicates(node);
      const std::int64_t stream = node.integer("stream").value_or(speaks ? -2 : -1);
      const std::uint32_t lane = out.device(stream);
      if (speaks) {
        out.add_communication(node.name, lane, since(begin_[n]), since(own_end_[n]), by,
                              details_of(node, ranks_of_job_, groups, out.trace().texts));
      } else {
        out.add(device_kind(node), node.name, lane, since(begin_[n]), since(own_end_[n]), by);
      }
    }
    return out.take();
  }

  [[nodiscard]] std::int64_t thread_of(std::uint32_t n) const {
    return nodes_[n].integer("tid").value_or(0);
  }

  static EventKind device_kind(const ChakraNode& node) {
    if (node.name.starts_with("Memset")) return EventKind::fill;
    const bool moves = node.type == ChakraNodeType::memory_load ||
                       node.type == ChakraNodeType::memory_store || node.name.starts_with("Memcpy");
    return moves ? EventKind::copy : EventKind::kernel;
  }

  // Each time was cut to a whole microsecond.
  static constexpr std::uint64_t kSlackMicroseconds = 2;

  const ChakraRank& rank_;
  const std::vector<ChakraNode>& nodes_;
  std::int64_t ranks_of_job_;
  std::vector<std::uint32_t> caller_;
  std::vector<std::uint64_t> begin_;    // of what did not run, of the first it called
  std::vector<std::uint64_t> own_end_;  // by its own duration
  std::vector<std::uint64_t> whole_;    // duration with those of what it called
  std::vector<std::uint64_t> last_;     // end of the last it called
  bool durations_are_own_ = false;
};

RunOptions without_clocks() {
  RunOptions options;
  options.clocks = Clocks::as_recorded;
  return options;
}

Result<RecordedRun> of_source(Result<RecordedRun> run, RunSource source) {
  if (run) run->source = source;
  return run;
}

Result<RecordedRun> run_of(std::map<std::int64_t, Recording> ranks, RunSource source) {
  std::vector<RecordedTrace> traces;
  for (auto& [rank, recording] : ranks) {
    ORRERY_TRY(RecordedTrace trace, recording.take());
    traces.push_back(std::move(trace));
  }
  return of_source(make_run(std::move(traces), without_clocks()), source);
}

Result<RecordedRun> simulated(const ChakraRun& run, const ChakraGraphOptions& options) {
  ORRERY_TRY(const ChakraGraph built, chakra_graph(run, options));
  const Graph& graph = built.graph;
  const Timeline timeline = simulate(graph);
  std::map<std::int64_t, Recording> ranks;
  std::map<std::int64_t, GroupsByName> groups;
  for (const ChakraRank& rank : run) {
    ranks.try_emplace(rank.rank, rank.rank, rank.file);
    groups[rank.rank] = defined_by(rank.trace, ranks_of(run));
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    const NodeIndex seen = transfer_of(graph, n);
    const std::int64_t start = nanoseconds(timeline.start(graph, seen));
    const std::int64_t end = nanoseconds(timeline.end(seen));
    const NodeKind kind = graph.kind(n);
    if (kind == NodeKind::barrier || end == start) continue;
    for (const ChakraGraph::Member& member : built.members_of(n)) {
      const ChakraRank& rank = run[member.node.rank];
      const ChakraNode& node = rank.trace.nodes[member.node.node];
      Recording& out = ranks.at(rank.rank);
      if (kind == NodeKind::host) {
        out.add(EventKind::cpu_operator, node.name, out.host(node.integer("tid").value_or(0)),
                start, end);
        continue;
      }
      // What waits for no stream may overlap: a row for each sender.
      const bool waits = member.stream != kNoStream;
      const std::int64_t row = waits       ? std::int64_t{member.stream}
                               : seen != n ? -2 - std::int64_t{graph.stream(seen).value()}
                                           : -1;
      const std::uint32_t lane =
          out.device(row, waits ? built.streams[member.stream] : std::string("receive"));
      if (kind == NodeKind::copy) {
        out.add(EventKind::copy, node.name, lane, start, end);
      } else if (kind == NodeKind::kernel) {
        out.add(EventKind::kernel, node.name, lane, start, end);
      } else {
        out.add_communication(
            node.name, lane, start, end, kNotRecorded,
            details_of(node, ranks_of(run), groups.at(rank.rank), out.trace().texts));
      }
    }
  }
  return run_of(std::move(ranks), RunSource::simulated_trace);
}

}  // namespace

std::int64_t nanoseconds(Picoseconds time) { return std::llround(time.count() / 1000.0); }

Result<RecordedRun> simulated_recording(const ChakraRun& run, const ChakraGraphOptions& options,
                                        Clocks clocks) {
  const bool timed =
      std::ranges::all_of(run, [](const ChakraRank& rank) { return is_timed(rank.trace); });
  if (!timed) return simulated(run, options);
  std::vector<RecordedTrace> traces;
  for (const ChakraRank& rank : run) {
    ORRERY_TRY(RecordedTrace trace, TimedRank(rank, ranks_of(run)).read());
    traces.push_back(std::move(trace));
  }
  const bool predicted = std::ranges::any_of(
      run, [](const ChakraRank& rank) { return rank.trace.has_simulated_times(); });
  if (predicted) {  // on one clock
    return of_source(make_run(std::move(traces), without_clocks()), RunSource::predicted_trace);
  }
  RunOptions of_clocks;
  of_clocks.clocks = clocks;
  return of_source(make_run(std::move(traces), of_clocks), RunSource::execution_trace);
}

namespace {

// What a communication of a graph's operation moves, as a recording says it, in bytes.
std::optional<CommunicationDetails> details_of(const Graph& graph, const Operation& operation,
                                               TextTable& texts) {
  static constexpr std::array<std::string_view, 5> kNames = {
      "allreduce", "_allgather_base", "_reduce_scatter_base", "all_to_all", "broadcast"};
  CommunicationDetails out;
  double bytes = 0;
  for (const OperationPart& part : operation.parts) {
    if (const auto* message = std::get_if<Message>(&part.what)) {
      out.collective = texts.intern("send");
      bytes += message->bytes.value();
    }
    const auto* c = std::get_if<Communication>(&part.what);
    if (c == nullptr) continue;
    // Of several, the first gives its name to all.
    const Group& group = graph.groups()[c->group.value()];
    if (bytes == 0) {
      out.collective = texts.intern(kNames[static_cast<std::size_t>(c->collective)]);
      out.group = texts.intern(group.label);
      out.group_description = out.group;
      out.group_size = group.shape.size;
    }
    bytes += c->payload.value() * c->times / c->pieces;
  }
  if (bytes == 0) return std::nullopt;
  out.data_type = texts.intern("Byte");
  out.input_elements = std::llround(bytes);
  out.output_elements = out.input_elements;
  return out;
}

}  // namespace

Result<RecordedRun> marked_recording(const GraphFile& file, const Timeline& timeline,
                                     const std::string& name) {
  const Graph& graph = file.graph;
  std::map<std::int64_t, Recording> ranks;
  for (const Stream& stream : graph.streams()) {
    ranks.try_emplace(stream.rank_class, stream.rank_class, name);
  }
  std::vector<StreamIndex> occupied;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    const std::int64_t start = nanoseconds(timeline.start(graph, n));
    const std::int64_t end = nanoseconds(timeline.end(n));
    const NodeKind kind = graph.kind(n);
    if (kind == NodeKind::barrier || end == start) continue;
    occupied.assign(1, graph.stream(n));
    const std::span<const StreamIndex> others = graph.rendezvous_streams(n);
    occupied.insert(occupied.end(), others.begin(), others.end());
    for (const StreamIndex s : occupied) {
      const Stream& stream = graph.streams()[s.value()];
      // Latencies are no operations; what takes a link without a stream of its own is.
      if (stream.role == StreamRole::wire && graph.operation(n).parts.empty()) continue;
      Recording& out = ranks.at(stream.rank_class);
      const auto row = static_cast<std::int64_t>(s.value());
      const auto id = static_cast<std::int64_t>(i);
      const std::string row_name(graph.label(s));
      const std::string text(graph.name(n));
      if (text.starts_with(kStepMark)) continue;  // pieces of the host's time, and no marks
      if (kind == NodeKind::host || stream.role == StreamRole::host) {
        out.add(EventKind::cpu_operator, text, out.host(row, row_name), start, end, id);
      } else if (kind == NodeKind::collective || kind == NodeKind::point_to_point) {
        out.add_communication(text, out.device(row, row_name), start, end, id,
                              details_of(graph, graph.operation(n), out.trace().texts));
      } else {
        out.add(kind == NodeKind::copy ? EventKind::copy : EventKind::kernel, text,
                out.device(row, row_name), start, end, id);
      }
    }
  }
  for (const GraphFileStep& step : file.steps) {
    const auto of_rank = ranks.find(step.rank);
    const std::int64_t start = step.after ? nanoseconds(timeline.end(NodeIndex(*step.after))) : 0;
    const std::int64_t end = nanoseconds(timeline.end(NodeIndex(step.until)));
    if (of_rank == ranks.end() || end <= start) continue;
    of_rank->second.add(EventKind::annotation, step.name, of_rank->second.host(-1, "steps"), start,
                        end);
  }
  return run_of(std::move(ranks), RunSource::simulated_graph);
}

void forget_marks(RecordedRun& run) {
  for (RecordedTrace& trace : run.ranks) std::ranges::fill(trace.external_id, kNotRecorded);
}

Result<RecordedRun> simulated_recording(const GraphFile& file, const std::string& name) {
  ORRERY_TRY(RecordedRun run, marked_recording(file, simulate(file.graph), name));
  forget_marks(run);
  return run;
}

}  // namespace orrery
