#include "replay/chakra_graph.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "replay/chakra_prices.h"
#include "replay/run_category.h"
#include "simulate/simulate.h"
#include "trace/chakra/chakra_conversion.h"

namespace orrery {
namespace {

constexpr double kPsPerMicrosecond = 1e6;

struct Kinds {
  NodeKind node = NodeKind::kernel;
  RunCategory category = RunCategory::computing;
  auto operator<=>(const Kinds&) const = default;
};

Kinds kinds_of(const ChakraNode& node) {
  if (communicates(node)) {
    return node.type == ChakraNodeType::collective
               ? Kinds{NodeKind::collective, RunCategory::communication}
               : Kinds{NodeKind::point_to_point, RunCategory::transfer};
  }
  switch (node.type) {
    case ChakraNodeType::metadata:
    case ChakraNodeType::invalid:
      return {NodeKind::barrier, RunCategory::host};
    case ChakraNodeType::memory_load:
    case ChakraNodeType::memory_store:
      return {NodeKind::copy, RunCategory::copying};
    default:
      break;
  }
  if (node.is_host()) return {NodeKind::host, RunCategory::host};
  // A pause holds its stream as a copy does: nothing is computed.
  if (node.name == kChakraPause) return {NodeKind::copy, RunCategory::host};
  const bool copies = node.name.starts_with("Memcpy") || node.name.starts_with("Memset");
  return copies ? Kinds{NodeKind::copy, RunCategory::copying} : Kinds{};
}

// Of a trace with start times: threads, and operators that a profiler did not see.
bool never_ran(const ChakraNode& node) {
  return node.start_micros == 0 && node.duration_micros == 0;
}

// A node of the graph before it has a place there.
struct Operation {
  std::vector<ChakraMember> members;
  std::optional<std::uint32_t> meeting;
  bool receives = false;  // what a node of the graph sends
  Kinds kinds;
  double duration_ps = 0;
  double not_before_ps = 0;
};

class Builder {
 public:
  Builder(const ChakraRun& run, const ChakraGraphOptions& options) : run_(run), options_(options) {}

  Result<ChakraGraph> build() {
    std::vector<std::vector<std::uint32_t>> orders;
    for (const ChakraRank& rank : run_) {
      ORRERY_TRY(std::vector<std::uint32_t> order,
                 chakra_order(rank.trace, rank.file, options_.absent, options_.control));
      orders.push_back(std::move(order));
    }
    ORRERY_TRY(meetings_, chakra_meetings(run_, orders));
    look_at_times();
    collect(orders);
    find_dependencies();
    ORRERY_RETURN_IF_ERROR(find_durations());
    ORRERY_TRY(std::vector<std::uint32_t> order, joint_order());
    // As if no lane were ever busy: who comes first where one is.
    const ChakraGraph free = emit(order, Lanes::none);
    const Timeline timeline = simulate(free.graph);
    std::vector<double> start(operations_.size());
    for (std::size_t i = 0, at = 0; i < order.size(); ++i, ++at) {
      if (operations_[order[i]].not_before_ps > 0) ++at;
      start[order[i]] = timeline.start(free.graph, NodeIndex(at)).count();
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return start[a] < start[b]; });
    ChakraGraph out = emit(order, Lanes::of_traces);
    out.undefined = std::move(meetings_.undefined);
    out.priced = priced_;
    out.without_duration = without_duration_;
    for (const ChakraMeeting& meeting : meetings_.meetings) {
      ++(meeting.members.size() > 1 ? out.rendezvous : out.alone);
    }
    return out;
  }

 private:
  enum class Lanes { none, of_traces };

  const ChakraNode& node_of(ChakraMember m) const { return run_[m.rank].trace.nodes[m.node]; }
  std::string place(ChakraMember m) const {
    return run_[m.rank].file + ": node " + std::to_string(node_of(m).id);
  }

  // Which ranks have start times, and the earliest of all.
  void look_at_times() {
    timed_.resize(run_.size(), 0);
    first_micros_ = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t r = 0; r < run_.size(); ++r) {
      for (const ChakraNode& node : run_[r].trace.nodes) {
        if (node.start_micros > 0) timed_[r] = 1;
      }
      if (timed_[r] == 0) continue;
      for (const ChakraNode& node : run_[r].trace.nodes) {
        if (kinds_of(node).node == NodeKind::barrier || never_ran(node)) continue;
        first_micros_ = std::min(first_micros_, node.start_micros);
      }
    }
  }

  // Operations in the order of ranks, and of each rank's dependencies.
  void collect(const std::vector<std::vector<std::uint32_t>>& orders) {
    std::vector<std::vector<std::uint32_t>> meeting_of(run_.size());
    operation_of_.resize(run_.size());
    for (std::size_t r = 0; r < run_.size(); ++r) {
      meeting_of[r].assign(run_[r].trace.nodes.size(), kNoMembers);
      operation_of_[r].assign(run_[r].trace.nodes.size(), kNoMembers);
    }
    for (std::uint32_t m = 0; m < meetings_.meetings.size(); ++m) {
      for (const ChakraMember& at : meetings_.meetings[m].members) {
        meeting_of[at.rank][at.node] = m;
      }
    }
    for (std::uint32_t r = 0; r < run_.size(); ++r) {
      for (const std::uint32_t n : orders[r]) {
        if (operation_of_[r][n] != kNoMembers) continue;
        Operation operation;
        operation.kinds = kinds_of(run_[r].trace.nodes[n]);
        operation.members = {{r, n}};
        if (const std::uint32_t m = meeting_of[r][n]; m != kNoMembers) {
          operation.meeting = m;
          const ChakraMeeting& meeting = meetings_.meetings[m];
          if (!meeting.transfer) operation.members = meeting.members;
          operation.receives = meeting.transfer && meeting.members.size() > 1 &&
                               operation.members.front() == meeting.members.back();
        }
        for (const ChakraMember& at : operation.members) {
          operation_of_[at.rank][at.node] = static_cast<std::uint32_t>(operations_.size());
        }
        operations_.push_back(std::move(operation));
      }
    }
  }

  Result<void> find_durations() {
    for (Operation& operation : operations_) {
      for (const ChakraMember& m : operation.members) {
        const std::uint64_t micros = node_of(m).duration_micros;
        if (micros > kLongestNodeMicros) {
          return fail(ErrorCode::bad_input, "takes " + node_time_text(micros), place(m),
                      "at most 9e9, two and a half hours");
        }
      }
      if (operation.kinds.node == NodeKind::barrier) continue;
      ORRERY_RETURN_IF_ERROR(operation.meeting ? communication(operation) : computing(operation));
    }
    return {};
  }

  Result<void> communication(Operation& operation) {
    if (operation.receives) return {};
    const ChakraMeeting& meeting = meetings_.meetings[*operation.meeting];
    std::optional<std::uint64_t> shortest;
    for (const ChakraMember& m : meeting.members) {
      const std::uint64_t micros = node_of(m).duration_micros;
      if (micros == 0 && timed_[m.rank] == 0) continue;
      shortest = std::min(shortest.value_or(micros), micros);
    }
    const ChakraMember first = operation.members.front();
    if (options_.prices != nullptr) {
      auto price = options_.prices->communication(meeting, meetings_.groups);
      if (price) {
        operation.duration_ps = price->count();
        ++priced_;
      } else if (price.error().code != ErrorCode::unsupported || !shortest) {
        return fail(at(place(first), price.error()));
      }
    }
    if (options_.prices == nullptr && !shortest) {
      return fail(ErrorCode::bad_input, "this communication has no recorded duration", place(first),
                  "orrery trace replay prices it on a cluster: --on h100-sxm:8");
    }
    if (operation.duration_ps <= 0 && shortest) {
      operation.duration_ps = static_cast<double>(*shortest) * kPsPerMicrosecond;
    }
    // A receive whose sender is not there.
    if (meeting.transfer && meeting.members.size() == 1 && timed_[first.rank] != 0 &&
        node_of(first).type == ChakraNodeType::receive) {
      return recorded_start(operation);
    }
    return {};
  }

  Result<void> computing(Operation& operation) {
    const ChakraMember m = operation.members.front();
    const ChakraNode& node = node_of(m);
    operation.duration_ps = static_cast<double>(node.duration_micros) * kPsPerMicrosecond;
    if (operation.kinds.node == NodeKind::host && timed_[m.rank] != 0 && !never_ran(node) &&
        begins(m)) {
      return recorded_start(operation);
    }
    if (node.duration_micros > 0 || timed_[m.rank] != 0) return {};
    const auto amount = [&](std::string_view attribute) {
      return static_cast<double>(std::max<std::int64_t>(0, node.integer(attribute).value_or(0)));
    };
    const Bytes moved(amount("tensor_size"));
    const Flops work(amount("num_ops"));
    const bool device = operation.kinds.node != NodeKind::host;
    if (options_.prices != nullptr && device && (moved.value() > 0 || work.value() > 0)) {
      const bool remote = node.type != ChakraNodeType::compute;
      operation.duration_ps =
          (remote ? options_.prices->host_copy(moved) : options_.prices->computing(work, moved))
              .count();
      ++priced_;
    } else if (device) {
      ++without_duration_;
    }
    return {};
  }

  // Whether all that it waits for is nodes that never ran.
  bool begins(ChakraMember m) const {
    const std::span<const std::uint32_t> list = before(operation_of_[m.rank][m.node]);
    return std::all_of(list.begin(), list.end(), [&](std::uint32_t p) {
      return never_ran(node_of(operations_[p].members.front()));
    });
  }

  Result<void> recorded_start(Operation& operation) {
    const ChakraMember m = operation.members.front();
    const std::uint64_t start = node_of(m).start_micros;
    const std::uint64_t since = start > first_micros_ ? start - first_micros_ : 0;
    if (since > kLongestNodeMicros) {
      return fail(ErrorCode::bad_input,
                  "starts " + std::to_string(since / 1'000'000) + " seconds after the first node",
                  place(m), "at most 9000 s: are these files of one run?");
    }
    operation.not_before_ps = static_cast<double>(since) * kPsPerMicrosecond;
    return {};
  }

  // Of every operation those it waits for, in one list.
  void find_dependencies() {
    std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> by_id(run_.size());
    for (std::size_t r = 0; r < run_.size(); ++r) {
      const std::vector<ChakraNode>& nodes = run_[r].trace.nodes;
      by_id[r].reserve(nodes.size());
      for (std::uint32_t n = 0; n < nodes.size(); ++n) by_id[r].emplace(nodes[n].id, n);
    }
    for (std::uint32_t o = 0; o < operations_.size(); ++o) {
      const std::size_t begin = before_.size();
      for (const ChakraMember& m : operations_[o].members) {
        const ChakraNode& node = node_of(m);
        for (const auto* list : {&node.data_dependencies, &node.control_dependencies}) {
          if (list == &node.control_dependencies &&
              options_.control == ControlDependencies::ignore) {
            continue;
          }
          for (const std::uint64_t id : *list) {
            const auto it = by_id[m.rank].find(id);
            if (it != by_id[m.rank].end()) before_.push_back(operation_of_[m.rank][it->second]);
          }
        }
      }
      if (operations_[o].receives) {
        const ChakraMember sender = meetings_.meetings[*operations_[o].meeting].members.front();
        before_.push_back(operation_of_[sender.rank][sender.node]);
      }
      const auto first = before_.begin() + static_cast<std::ptrdiff_t>(begin);
      std::sort(first, before_.end());
      before_.erase(std::unique(first, before_.end()), before_.end());
      before_offsets_.push_back(before_.size());
    }
  }

  std::span<const std::uint32_t> before(std::uint32_t operation) const {
    return std::span(before_).subspan(before_offsets_[operation],
                                      before_offsets_[operation + 1] - before_offsets_[operation]);
  }

  // All operations, each behind what it waits for; lower ones first among those that could be next.
  Result<std::vector<std::uint32_t>> joint_order() const {
    std::vector<std::uint32_t> missing(operations_.size());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    edges.reserve(before_.size());
    for (std::uint32_t o = 0; o < operations_.size(); ++o) {
      for (const std::uint32_t p : before(o)) edges.emplace_back(p, o);
      missing[o] = static_cast<std::uint32_t>(before(o).size());
    }
    std::sort(edges.begin(), edges.end());
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t o = 0; o < operations_.size(); ++o) {
      if (missing[o] == 0) ready.push(o);
    }
    std::vector<std::uint32_t> out;
    out.reserve(operations_.size());
    while (!ready.empty()) {
      const std::uint32_t o = ready.top();
      ready.pop();
      out.push_back(o);
      auto edge = std::lower_bound(edges.begin(), edges.end(), std::pair(o, 0U));
      for (; edge != edges.end() && edge->first == o; ++edge) {
        if (--missing[edge->second] == 0) ready.push(edge->second);
      }
    }
    if (out.size() == operations_.size()) return out;
    const auto stuck =
        std::find_if(missing.begin(), missing.end(), [](std::uint32_t count) { return count > 0; });
    const Operation& o = operations_[static_cast<std::size_t>(stuck - missing.begin())];
    return fail(ErrorCode::bad_input,
                "ranks wait for each other in a circle through, or before, this node",
                place(o.members.front()),
                "communications of a group must come in one order on all its ranks");
  }

  // The lane of a node: a stream of the graph, made when it is first needed.
  StreamIndex lane(GraphBuilder& builder, ChakraGraph& out, const Operation& operation,
                   ChakraMember m, Lanes lanes) {
    const ChakraNode& node = node_of(m);
    enum Row : std::uint8_t { none, host, compute, network, stream };
    Row row = none;
    std::int64_t number = 0;
    StreamRole role = StreamRole::wire;
    std::string name;
    const auto recorded = node.integer("stream");
    if (lanes == Lanes::of_traces) {
      switch (operation.kinds.node) {
        case NodeKind::host:
          row = host;
          role = StreamRole::host;
          number = node.integer("tid").value_or(0);
          name = number == 0 ? "host" : "host thread " + std::to_string(number);
          break;
        case NodeKind::collective:
        case NodeKind::point_to_point:
          if (!recorded && node.type == ChakraNodeType::receive) break;
          row = network;
          role = StreamRole::communication;
          name = "communication";
          break;
        case NodeKind::kernel:
          row = compute;
          role = StreamRole::compute;
          name = "compute";
          break;
        default:
          if (recorded) role = StreamRole::copy;
          break;
      }
      if (recorded && role != StreamRole::wire && row != host) {
        row = stream;
        number = *recorded;
        name = "stream " + std::to_string(number);
        if (number < 0) {  // of no stream: as many at once as there are
          row = none;
          role = StreamRole::wire;
          name.clear();
        }
      }
    }
    const auto [it, fresh] = lanes_.try_emplace(std::tuple(m.rank, row, number));
    if (fresh) {
      const NameIndex label = name.empty() ? NameIndex() : builder.add_name(name);
      it->second = builder.add_stream({static_cast<std::uint32_t>(run_[m.rank].rank), role, label});
      out.streams.push_back(std::move(name));
    }
    return it->second;
  }

  ChakraGraph emit(std::span<const std::uint32_t> order, Lanes lanes) {
    ChakraGraph out;
    GraphBuilder builder(run_categories());
    builder.reserve(order.size(), before_.size());
    lanes_.clear();
    std::unordered_map<std::string_view, std::map<Kinds, OperationIndex>> known;  // by name
    const auto operation_of = [&](std::string_view text, Kinds kinds) {
      const auto [it, fresh] = known[text].try_emplace(kinds);
      if (fresh) {
        it->second = builder.add_operation({.kind = kinds.node,
                                            .category = index(kinds.category),
                                            .name = builder.add_name(std::string(text))});
      }
      return it->second;
    };
    std::vector<NodeIndex> at(operations_.size());
    std::vector<NodeIndex> after;
    for (const std::uint32_t o : order) {
      const Operation& operation = operations_[o];
      after.clear();
      for (const std::uint32_t p : before(o)) after.push_back(at[p]);
      if (operation.not_before_ps > 0) {
        Operation nothing;
        nothing.kinds.node = NodeKind::barrier;
        const StreamIndex wire =
            lane(builder, out, nothing, operation.members.front(), Lanes::none);
        after.push_back(
            builder.add({operation_of("recorded start", {NodeKind::barrier, RunCategory::host}),
                         wire, Picoseconds(operation.not_before_ps), kNoMembers}));
      }
      std::optional<StreamIndex> own;
      std::vector<StreamIndex> others;
      for (const ChakraMember& m : operation.members) {
        const StreamIndex s = lane(builder, out, operation, m, lanes);
        const bool waits = !out.streams[s.value()].empty();
        out.members.push_back({m, waits ? s.value() : kNoStream});
        if (!own) {
          own = s;
        } else {
          others.push_back(s);
        }
      }
      const ChakraNode& node = node_of(operation.members.front());
      const NodeSpec spec{operation_of(node.name, operation.kinds), *own,
                          Picoseconds(operation.duration_ps),
                          static_cast<std::uint32_t>(out.offsets.size() - 1)};
      out.offsets.push_back(static_cast<std::uint32_t>(out.members.size()));
      at[o] = others.empty() ? builder.add(spec, after)
                             : builder.add_rendezvous(spec, std::move(others), after);
    }
    out.graph = builder.build();
    return out;
  }

  const ChakraRun& run_;
  const ChakraGraphOptions& options_;
  ChakraMeetings meetings_;
  std::vector<char> timed_;  // by rank: the trace holds start times
  std::uint64_t first_micros_ = 0;
  std::vector<Operation> operations_;
  std::vector<std::vector<std::uint32_t>> operation_of_;  // by rank and node
  std::vector<std::uint32_t> before_;
  std::vector<std::size_t> before_offsets_ = {0};
  std::map<std::tuple<std::uint32_t, std::uint8_t, std::int64_t>, StreamIndex> lanes_;
  std::size_t priced_ = 0;
  std::size_t without_duration_ = 0;
};

}  // namespace

Result<ChakraGraph> chakra_graph(const ChakraRun& run, const ChakraGraphOptions& options) {
  return Builder(run, options).build();
}

NodeIndex transfer_of(const Graph& graph, NodeIndex n) {
  if (graph.kind(n) != NodeKind::point_to_point) return n;
  const std::uint32_t own = graph.stream_of(n).rank_class;
  for (const std::uint32_t p : graph.predecessors(n)) {
    const NodeIndex before(p);
    if (graph.kind(before) == NodeKind::point_to_point &&
        graph.stream_of(before).rank_class != own) {
      return before;
    }
  }
  return n;
}

std::vector<TimelineSpan> chakra_spans(const ChakraRun& run, const ChakraGraph& graph) {
  const Timeline timeline = simulate(graph.graph);
  std::vector<TimelineSpan> out;
  for (std::size_t i = 0; i < graph.graph.size(); ++i) {
    const NodeIndex n(i);
    const NodeIndex seen = transfer_of(graph.graph, n);
    if (graph.graph.duration(seen) <= Picoseconds(0)) continue;
    for (const ChakraGraph::Member& member : graph.members_of(n)) {
      TimelineSpan span;
      const ChakraRank& rank = run[member.node.rank];
      span.stage = static_cast<int>(rank.rank);
      span.stream = member.stream == kNoStream ? "receive" : graph.streams[member.stream];
      span.name = rank.trace.nodes[member.node.node].name;
      switch (graph.graph.kind(n)) {
        case NodeKind::host:
          span.category = "host";
          break;
        case NodeKind::kernel:
          span.category = "kernel";
          break;
        case NodeKind::collective:
          span.category = "collective";
          break;
        case NodeKind::copy:
          span.category = "copy";
          break;
        default:
          span.category = "transfer";
          break;
      }
      if (member.stream == kNoStream && span.category == "copy") span.stream = "copies";
      if (member.stream == kNoStream && seen != n) {
        // A row for each stream of each sender, on which nothing overlaps.
        const ChakraGraph::Member& sender = graph.members_of(seen).front();
        span.stream = "from rank " + std::to_string(run[sender.node.rank].rank);
        if (sender.stream != kNoStream) span.stream += ", " + graph.streams[sender.stream];
      }
      span.start = timeline.start(graph.graph, seen);
      span.end = timeline.end(seen);
      out.push_back(std::move(span));
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
    return std::tuple(a.stage, a.stream, a.start) < std::tuple(b.stage, b.stream, b.start);
  });
  return out;
}

}  // namespace orrery
