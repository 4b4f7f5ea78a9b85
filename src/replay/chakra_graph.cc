#include "replay/chakra_graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "parallel/parallel_for.h"
#include "replay/chakra_prices.h"
#include "replay/run_category.h"
#include "simulate/simulate.h"
#include "trace/chakra/chakra_conversion.h"
#include "trace/chakra/dependency_order.h"

namespace orrery {
namespace {

constexpr double kPsPerMicrosecond = 1e6;

struct ChakraKinds {
  NodeKind node = NodeKind::kernel;
  RunCategory category = RunCategory::computing;
  auto operator<=>(const ChakraKinds&) const = default;
};

ChakraKinds kinds_of(const ChakraNode& node) {
  if (communicates(node)) {
    return node.type == ChakraNodeType::collective
               ? ChakraKinds{NodeKind::collective, RunCategory::communication}
               : ChakraKinds{NodeKind::point_to_point, RunCategory::transfer};
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
  return copies ? ChakraKinds{NodeKind::copy, RunCategory::copying} : ChakraKinds{};
}

// A stream of the graph, as its rank knows it.
struct ChakraLane {
  enum class Row : std::uint8_t { none, host, compute, network, stream };
  Row row = Row::none;
  std::int64_t number = 0;
  StreamRole role = StreamRole::wire;
  std::string name = {};  // empty: nobody waits there
};

ChakraLane lane_of(const ChakraNode& node, NodeKind kind) {
  using enum ChakraLane::Row;
  ChakraLane out;
  const auto recorded = node.integer("stream");
  switch (kind) {
    case NodeKind::host: {
      const std::int64_t thread = node.integer("tid").value_or(0);
      return {host, thread, StreamRole::host,
              thread == 0 ? "host" : "host thread " + std::to_string(thread)};
    }
    case NodeKind::collective:
    case NodeKind::point_to_point:
      if (!recorded && node.type == ChakraNodeType::receive) return {};
      out = {network, 0, StreamRole::communication, "communication"};
      break;
    case NodeKind::kernel:
      out = {compute, 0, StreamRole::compute, "compute"};
      break;
    default:
      if (recorded) out.role = StreamRole::copy;
      break;
  }
  if (!recorded) return out;
  // A negative number is no stream: as many at once as there are.
  if (*recorded < 0) return {none, *recorded};
  return {stream, *recorded, out.role, "stream " + std::to_string(*recorded)};
}

// What the graph needs to know of a rank's nodes, which are looked at one rank at a time.
struct RankNodes {
  struct Label {
    std::string_view name;
    ChakraKinds kinds;
    std::optional<OperationIndex> operation = {};
  };
  struct OwnLane {
    ChakraLane lane;
    std::optional<StreamIndex> stream = {};
  };

  // Of each node.
  std::vector<std::uint64_t> start_micros;
  std::vector<std::uint64_t> duration_micros;
  std::vector<std::uint32_t> label;
  std::vector<std::uint32_t> lane;

  std::vector<Label> labels;
  std::vector<OwnLane> lanes = {{}};  // the first is for what waits for nothing
  bool timed = false;                 // it has start times
  std::uint64_t first_micros = std::numeric_limits<std::uint64_t>::max();

  explicit RankNodes(const ChakraTrace& trace) {
    const std::size_t size = trace.nodes.size();
    for (auto* column : {&start_micros, &duration_micros}) column->reserve(size);
    for (auto* column : {&label, &lane}) column->reserve(size);
    std::map<ChakraKinds, std::unordered_map<std::string_view, std::uint32_t>> known_labels;
    std::map<std::pair<ChakraLane::Row, std::int64_t>, std::uint32_t> known_lanes = {{{}, 0}};
    for (const ChakraNode& node : trace.nodes) {
      const ChakraKinds kinds = kinds_of(node);
      start_micros.push_back(node.start_micros);
      duration_micros.push_back(node.duration_micros);
      const auto [of_name, new_label] =
          known_labels[kinds].try_emplace(node.name, static_cast<std::uint32_t>(labels.size()));
      if (new_label) labels.push_back({node.name, kinds});
      label.push_back(of_name->second);
      ChakraLane own = lane_of(node, kinds.node);
      const auto [of_row, new_lane] = known_lanes.try_emplace(
          std::pair(own.row, own.number), static_cast<std::uint32_t>(lanes.size()));
      if (new_lane) lanes.push_back({std::move(own)});
      lane.push_back(of_row->second);
      timed = timed || node.start_micros > 0;
      const bool ran = kinds.node != NodeKind::barrier && !never_ran(label.size() - 1);
      if (ran) first_micros = std::min(first_micros, node.start_micros);
    }
  }

  // Of a trace with start times: threads, and operators that a profiler did not see.
  [[nodiscard]] bool never_ran(std::size_t n) const {
    return start_micros[n] == 0 && duration_micros[n] == 0;
  }
};

// `order` sorted by the numbers of what it names, equal ones as they stand. By digits: the bits of
// doubles that are not negative ascend as they do.
std::vector<std::uint32_t> sorted_by(std::span<const double> numbers,
                                     std::span<const std::uint32_t> order) {
  constexpr unsigned kDigit = 11;
  struct Entry {
    std::uint64_t bits = 0;
    std::uint32_t of = 0;
  };
  std::vector<Entry> entries;
  entries.reserve(order.size());
  for (const std::uint32_t i : order) {
    entries.push_back({std::bit_cast<std::uint64_t>(numbers[i]), i});
  }
  std::vector<Entry> sorted(order.size());
  for (unsigned shift = 0; shift < 64; shift += kDigit) {
    const auto digit = [&](const Entry& e) { return e.bits >> shift & ((1U << kDigit) - 1); };
    std::array<std::uint32_t, (1U << kDigit) + 1> next{};
    for (const Entry& e : entries) ++next[digit(e) + 1];
    if (std::ranges::find(next, order.size()) != next.end()) continue;  // one digit
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const Entry& e : entries) sorted[next[digit(e)]++] = e;
    std::swap(entries, sorted);
  }
  std::vector<std::uint32_t> out;
  out.reserve(order.size());
  for (const Entry& e : entries) out.push_back(e.of);
  return out;
}

// A node of the graph before it has a place there.
struct ChakraOperation {
  ChakraMember first;
  std::uint32_t meeting = kNoMembers;
  std::uint32_t label = 0;  // of RankNodes, as is the lane
  std::uint32_t lane = 0;
  bool receives = false;  // what a node of the graph sends
  ChakraKinds kinds;
  double duration_ps = 0;
  double not_before_ps = 0;
};

class Builder {
 public:
  Builder(const ChakraRun& run, const ChakraGraphOptions& options) : run_(run), options_(options) {}

  Result<ChakraGraph> build() {
    std::vector<Result<ChakraOrder>> orders(run_.size());
    std::vector<std::optional<RankNodes>> ranks(run_.size());
    parallel_for(run_.size(), threads_to_use(0), [&](std::size_t r) {
      orders[r] = chakra_order(run_[r].trace, run_[r].file, options_.absent, options_.control);
      ranks[r].emplace(run_[r].trace);
    });
    for (std::size_t r = 0; r < run_.size(); ++r) {
      ORRERY_TRY(ChakraOrder order, std::move(orders[r]));
      orders_.push_back(std::move(order));
      ranks_.push_back(*std::move(ranks[r]));
      if (ranks_[r].timed) first_micros_ = std::min(first_micros_, ranks_[r].first_micros);
    }
    ORRERY_TRY(meetings_, chakra_meetings(run_, orders_));
    collect();
    ORRERY_RETURN_IF_ERROR(find_dependencies());
    ORRERY_RETURN_IF_ERROR(find_durations());
    ORRERY_TRY(const std::vector<std::uint32_t> order, joint_order());
    // As if no lane were ever busy: who comes first where one is.
    const std::vector<double> starts = free_starts(order);
    ChakraGraph out = emit(sorted_by(starts, order));
    out.undefined = std::move(meetings_.undefined);
    out.priced = priced_;
    out.without_duration = without_duration_;
    for (const ChakraMeeting& meeting : meetings_.meetings) {
      ++(meeting.members.size() > 1 ? out.rendezvous : out.alone);
    }
    return out;
  }

 private:
  const ChakraNode& node_of(ChakraMember m) const { return run_[m.rank].trace.nodes[m.node]; }
  std::string place(ChakraMember m) const {
    return run_[m.rank].file + ": node " + std::to_string(node_of(m).id);
  }
  std::uint64_t duration_micros(ChakraMember m) const {
    return ranks_[m.rank].duration_micros[m.node];
  }
  std::span<const ChakraMember> members(const ChakraOperation& operation) const {
    if (operation.meeting == kNoMembers) return {&operation.first, 1};
    const ChakraMeeting& meeting = meetings_.meetings[operation.meeting];
    return meeting.transfer ? std::span(&operation.first, 1) : std::span(meeting.members);
  }

  // Operations in the order of ranks, and of each rank's dependencies.
  void collect() {
    std::vector<std::vector<std::uint32_t>> meeting_of(run_.size());
    operation_of_.resize(run_.size());
    std::size_t nodes = 0;
    for (const ChakraRank& rank : run_) nodes += rank.trace.nodes.size();
    operations_.reserve(nodes);
    for (std::size_t r = 0; r < run_.size(); ++r) {
      meeting_of[r].assign(run_[r].trace.nodes.size(), kNoMembers);
      operation_of_[r].assign(run_[r].trace.nodes.size(), kNoMembers);
    }
    for (std::uint32_t m = 0; m < meetings_.meetings.size(); ++m) {
      for (const ChakraMember& at : meetings_.meetings[m].members) meeting_of[at.rank][at.node] = m;
    }
    for (std::uint32_t r = 0; r < run_.size(); ++r) {
      for (const std::uint32_t n : orders_[r].nodes) {
        if (operation_of_[r][n] != kNoMembers) continue;
        ChakraOperation operation;
        operation.first = {r, n};
        operation.kinds = ranks_[r].labels[ranks_[r].label[n]].kinds;
        operation.meeting = meeting_of[r][n];
        if (operation.meeting != kNoMembers) {
          const ChakraMeeting& meeting = meetings_.meetings[operation.meeting];
          if (!meeting.transfer) operation.first = meeting.members.front();
          operation.receives = meeting.transfer && meeting.members.size() > 1 &&
                               operation.first == meeting.members.back();
        }
        const RankNodes& rank = ranks_[operation.first.rank];
        operation.label = rank.label[operation.first.node];
        operation.lane = rank.lane[operation.first.node];
        for (const ChakraMember& at : members(operation)) {
          operation_of_[at.rank][at.node] = static_cast<std::uint32_t>(operations_.size());
        }
        operations_.push_back(operation);
      }
    }
  }

  Result<void> find_durations() {
    for (ChakraOperation& operation : operations_) {
      for (const ChakraMember& m : members(operation)) {
        const std::uint64_t micros = duration_micros(m);
        if (micros > kLongestNodeMicros) {
          return bad_input("takes " + node_time_text(micros), place(m),
                           "at most 9e9, two and a half hours");
        }
      }
      if (operation.kinds.node == NodeKind::barrier) continue;
      ORRERY_RETURN_IF_ERROR(operation.meeting != kNoMembers ? communication(operation)
                                                             : computing(operation));
    }
    return {};
  }

  Result<void> communication(ChakraOperation& operation) {
    if (operation.receives) return {};
    const ChakraMeeting& meeting = meetings_.meetings[operation.meeting];
    std::optional<std::uint64_t> shortest;
    for (const ChakraMember& m : meeting.members) {
      const std::uint64_t micros = duration_micros(m);
      if (micros == 0 && !ranks_[m.rank].timed) continue;
      shortest = std::min(shortest.value_or(micros), micros);
    }
    const ChakraMember first = operation.first;
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
      return bad_input("this communication has no recorded duration", place(first),
                       "orrery trace replay prices it on a cluster: --on h100-sxm:8");
    }
    if (operation.duration_ps <= 0 && shortest) {
      operation.duration_ps = static_cast<double>(*shortest) * kPsPerMicrosecond;
    }
    // A receive whose sender is not there.
    if (meeting.transfer && meeting.members.size() == 1 && ranks_[first.rank].timed &&
        node_of(first).type == ChakraNodeType::receive) {
      return recorded_start(operation);
    }
    return {};
  }

  Result<void> computing(ChakraOperation& operation) {
    const ChakraMember m = operation.first;
    const RankNodes& rank = ranks_[m.rank];
    operation.duration_ps = static_cast<double>(duration_micros(m)) * kPsPerMicrosecond;
    if (operation.kinds.node == NodeKind::host && rank.timed && !rank.never_ran(m.node) &&
        begins(m)) {
      return recorded_start(operation);
    }
    if (duration_micros(m) > 0 || rank.timed) return {};
    const ChakraNode& node = node_of(m);
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
    return std::ranges::all_of(list, [&](std::uint32_t p) {
      const ChakraMember first = operations_[p].first;
      return ranks_[first.rank].never_ran(first.node);
    });
  }

  Result<void> recorded_start(ChakraOperation& operation) {
    const ChakraMember m = operation.first;
    const std::uint64_t start = node_of(m).start_micros;
    const std::uint64_t since = start > first_micros_ ? start - first_micros_ : 0;
    if (since > kLongestNodeMicros) {
      return bad_input(
          "starts " + std::to_string(since / 1'000'000) + " seconds after the first node", place(m),
          "at most 9000 s: are these files of one run?");
    }
    operation.not_before_ps = static_cast<double>(since) * kPsPerMicrosecond;
    return {};
  }

  // Of every operation those it waits for, in one list.
  Result<void> find_dependencies() {
    constexpr std::size_t kMost = 4'000'000'000;  // places are 32 bits
    before_offsets_.reserve(operations_.size() + 1);
    for (const ChakraOperation& operation : operations_) {
      const std::size_t begin = before_.size();
      for (const ChakraMember& m : members(operation)) {
        const ChakraOrder& order = orders_[m.rank];
        for (std::uint32_t e = order.offsets[m.node]; e < order.offsets[m.node + 1]; ++e) {
          before_.push_back(operation_of_[m.rank][order.before[e]]);
        }
      }
      if (operation.receives) {
        const ChakraMember sender = meetings_.meetings[operation.meeting].members.front();
        before_.push_back(operation_of_[sender.rank][sender.node]);
      }
      const auto first = before_.begin() + static_cast<std::ptrdiff_t>(begin);
      std::sort(first, before_.end());
      before_.erase(std::unique(first, before_.end()), before_.end());
      if (before_.size() > kMost) {
        return bad_input("the ranks have more than 4,000,000,000 dependencies");
      }
      before_offsets_.push_back(static_cast<std::uint32_t>(before_.size()));
    }
    return {};
  }

  std::span<const std::uint32_t> before(std::uint32_t operation) const {
    return std::span(before_).subspan(before_offsets_[operation],
                                      before_offsets_[operation + 1] - before_offsets_[operation]);
  }

  // All operations, each behind what it waits for; lower ones first among those that could be next.
  Result<std::vector<std::uint32_t>> joint_order() const {
    DependencyOrder out = dependency_order(before_, before_offsets_);
    if (out.order.size() == operations_.size()) return std::move(out.order);
    return bad_input("ranks wait for each other in a circle through, or before, this node",
                     place(operations_[out.stuck].first),
                     "communications of a group must come in one order on all its ranks");
  }

  // When each operation could start if no lane were ever busy.
  std::vector<double> free_starts(std::span<const std::uint32_t> order) const {
    std::vector<double> start(operations_.size());
    for (const std::uint32_t o : order) {
      start[o] = operations_[o].not_before_ps;
      for (const std::uint32_t p : before(o)) {
        start[o] = std::max(start[o], start[p] + operations_[p].duration_ps);
      }
    }
    return start;
  }

  // Streams and operations of the graph are made when they are first needed.
  StreamIndex stream(GraphBuilder& builder, ChakraGraph& out, std::uint32_t rank,
                     std::uint32_t lane) {
    RankNodes::OwnLane& own = ranks_[rank].lanes[lane];
    if (!own.stream) {
      const NameIndex label = own.lane.name.empty() ? NameIndex() : builder.add_name(own.lane.name);
      own.stream =
          builder.add_stream({static_cast<std::uint32_t>(run_[rank].rank), own.lane.role, label});
      out.streams.push_back(std::move(own.lane.name));
    }
    return *own.stream;
  }

  ChakraGraph emit(std::span<const std::uint32_t> order) {
    ChakraGraph out;
    GraphBuilder builder(run_categories());
    builder.reserve(order.size(), before_.size());
    out.members.reserve(order.size());
    out.offsets.reserve(order.size() + 1);
    std::map<std::pair<std::string_view, ChakraKinds>, OperationIndex> known;
    const auto operation_of = [&](std::string_view text, ChakraKinds kinds) {
      const auto [it, fresh] = known.try_emplace({text, kinds});
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
      const ChakraOperation& operation = operations_[o];
      after.clear();
      for (const std::uint32_t p : before(o)) after.push_back(at[p]);
      if (operation.not_before_ps > 0) {
        const StreamIndex wire = stream(builder, out, operation.first.rank, 0);
        after.push_back(
            builder.add({operation_of("recorded start", {NodeKind::barrier, RunCategory::host}),
                         wire, Picoseconds(operation.not_before_ps), kNoMembers}));
      }
      const std::uint32_t rank = operation.first.rank;
      std::vector<StreamIndex> others;
      const auto occupy = [&](ChakraMember m, std::uint32_t lane) {
        const StreamIndex s = stream(builder, out, m.rank, lane);
        const bool waits = !out.streams[s.value()].empty();
        out.members.push_back({m, waits ? s.value() : kNoStream});
        return s;
      };
      const StreamIndex own = occupy(operation.first, operation.lane);
      for (const ChakraMember& m : members(operation).subspan(1)) {
        others.push_back(occupy(m, ranks_[m.rank].lane[m.node]));
      }
      RankNodes::Label& label = ranks_[rank].labels[operation.label];
      if (!label.operation) label.operation = operation_of(label.name, label.kinds);
      const NodeSpec spec{*label.operation, own, Picoseconds(operation.duration_ps),
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
  std::vector<ChakraOrder> orders_;  // by rank
  std::vector<RankNodes> ranks_;
  ChakraMeetings meetings_;
  std::uint64_t first_micros_ = std::numeric_limits<std::uint64_t>::max();
  std::vector<ChakraOperation> operations_;
  std::vector<std::vector<std::uint32_t>> operation_of_;  // by rank and node
  std::vector<std::uint32_t> before_;
  std::vector<std::uint32_t> before_offsets_ = {0};
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
  std::ranges::stable_sort(out, [](const TimelineSpan& a, const TimelineSpan& b) {
    return std::tuple(a.stage, a.stream, a.start) < std::tuple(b.stage, b.stream, b.start);
  });
  return out;
}

}  // namespace orrery
