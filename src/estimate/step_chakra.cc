#include "estimate/step_chakra.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace orrery {
namespace {

constexpr double kPsPerMicrosecond = 1e6;

// Groups of a rank; the numbers are the names of process groups.
enum class Group : std::uint8_t { world, tensor, context, expert, replicas, end_stages, stages };

struct Communication {
  ChakraCollective collective = ChakraCollective::all_reduce;
  CollectiveKind kind = CollectiveKind::all_reduce;
  Group group = Group::world;
};

Communication of_kind(CollectiveKind kind, Group group) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return {ChakraCollective::all_reduce, kind, group};
    case CollectiveKind::all_gather:
      return {ChakraCollective::all_gather, kind, group};
    case CollectiveKind::reduce_scatter:
      return {ChakraCollective::reduce_scatter, kind, group};
    case CollectiveKind::all_to_all:
      return {ChakraCollective::all_to_all, kind, group};
    case CollectiveKind::broadcast:
      return {ChakraCollective::broadcast, kind, group};
  }
  return {};
}

bool says(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

std::uint64_t microseconds(Picoseconds time) {
  return static_cast<std::uint64_t>(std::llround(time.count() / kPsPerMicrosecond));
}

}  // namespace

struct StepChakra::State {
  const StepCosts& costs;
  const Plan& plan = costs.plan;
  const CostContext& context = costs.cache->context();
  const StepGraph& step;
  const Timeline& timeline;
  // By node: other devices that wait for it.
  std::vector<std::vector<std::uint32_t>> receivers;
  std::map<std::tuple<CollectiveKind, Group, double>, std::int64_t> payloads;

  State(const PredictedStep& predicted, const SimulatedStep& expanded)
      : costs(predicted.costs), step(expanded.step), timeline(expanded.timeline) {}

  [[nodiscard]] std::uint32_t device(std::size_t node) const {
    return step.graph.streams()[step.graph.stream(NodeIndex(node)).value()].rank_class;
  }
  // Between devices, on no stream of either.
  [[nodiscard]] bool on_wire(NodeIndex n) const {
    return step.graph.streams()[step.graph.stream(n).value()].kind == StreamKind::wire;
  }
  // Whether a stream of pipeline device `own` takes part.
  [[nodiscard]] bool takes_part(NodeIndex n, std::uint32_t own) const {
    if (on_wire(n) || device(n.value()) == own) return true;
    const std::span<const StreamIndex> others = step.graph.rendezvous_streams(n);
    return std::any_of(others.begin(), others.end(), [&](StreamIndex s) {
      return step.graph.streams()[s.value()].rank_class == own;
    });
  }
  [[nodiscard]] const GroupShape& shape(Group group) const {
    const RankLayout& layout = *costs.layout;
    switch (group) {
      case Group::tensor:
        return layout.tp;
      case Group::context:
        return layout.cp;
      case Group::expert:
        return layout.ep;
      case Group::replicas:
        return layout.dense_shard;
      case Group::end_stages:
        return layout.end_stages;
      case Group::stages:
        return layout.pp;
      case Group::world:
        return layout.world;
    }
    return layout.world;
  }

  void find_receivers();
  [[nodiscard]] Communication communication(NodeIndex n) const;
  std::int64_t bytes(const Communication& c, Picoseconds time);
  [[nodiscard]] std::int64_t transferred_bytes() const;
  [[nodiscard]] std::int64_t stride(MeshAxis axis) const;
  [[nodiscard]] std::int64_t degree(MeshAxis axis) const;
  [[nodiscard]] std::vector<std::int64_t> members(Group group, std::int64_t rank) const;
  [[nodiscard]] ChakraNode groups(std::int64_t rank) const;
};

void StepChakra::State::find_receivers() {
  const Graph& graph = step.graph;
  receivers.resize(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (on_wire(NodeIndex(i))) continue;  // all devices meet there
    for (const std::uint32_t p : graph.predecessors(NodeIndex(i))) {
      if (takes_part(NodeIndex(p), device(i)) || takes_part(NodeIndex(i), device(p))) continue;
      auto& list = receivers[p];
      if (std::find(list.begin(), list.end(), device(i)) == list.end()) list.push_back(device(i));
    }
  }
}

// What a collective node stands for: its stream tells the axis, its name what happens there.
Communication StepChakra::State::communication(NodeIndex n) const {
  const Graph& graph = step.graph;
  const std::string_view what = graph.name(n);
  const bool sharded = plan.sequence_parallel;
  const auto reduction = sharded ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const auto named = [&](CollectiveKind otherwise) {
    if (says(what, "all-gather") || says(what, "gather parameters")) {
      return CollectiveKind::all_gather;
    }
    if (says(what, "reduce-scatter")) return CollectiveKind::reduce_scatter;
    if (says(what, "all-reduce")) return CollectiveKind::all_reduce;
    if (says(what, "all-to-all")) return CollectiveKind::all_to_all;
    return otherwise;
  };
  switch (graph.streams()[graph.stream(n).value()].kind) {
    case StreamKind::tp:
      return of_kind(named(says(what, "loss") ? CollectiveKind::all_reduce : reduction),
                     Group::tensor);
    case StreamKind::cp:
      return of_kind(named(CollectiveKind::all_gather), Group::context);
    case StreamKind::ep:
      return of_kind(named(CollectiveKind::all_to_all), Group::expert);
    case StreamKind::dp:
      return of_kind(
          named(plan.zero == 0 ? CollectiveKind::all_reduce : CollectiveKind::reduce_scatter),
          Group::replicas);
    case StreamKind::wire:  // of vocabulary parallelism; one pass is sent to all
      return of_kind(
          graph.predecessors(n).size() > 1 ? CollectiveKind::all_reduce : CollectiveKind::broadcast,
          Group::stages);
    case StreamKind::compute:  // of all ranks: the gradient norm
      return of_kind(CollectiveKind::all_reduce, Group::world);
    default:
      return of_kind(CollectiveKind::all_reduce, Group::end_stages);
  }
}

// The least payload that takes as long, as the rank puts it in; 0 if the group is one rank.
std::int64_t StepChakra::State::bytes(const Communication& c, Picoseconds time) {
  const GroupShape& group = shape(c.group);
  if (group.size <= 1 || time <= Picoseconds(0)) return 0;
  const auto [it, fresh] = payloads.try_emplace(std::tuple(c.kind, c.group, time.count()), 0);
  if (!fresh) return it->second;
  const auto takes = [&](double payload) {
    return round_to_picoseconds(context.communicate(c.kind, Bytes(payload), group));
  };
  constexpr double kMost = 1e15;
  double high = 1;
  while (high < kMost && takes(high) < time) high *= 2;
  double low = high / 2;
  // To a byte, or as far as a double tells bytes apart.
  while (high - low > 0.5 && high - low > high * 1e-14) {
    const double middle = low + (high - low) / 2;
    (takes(middle) < time ? low : high) = middle;
  }
  const double own = c.kind == CollectiveKind::all_gather ? high / group.size : high;
  it->second = std::max<std::int64_t>(1, std::llround(own));
  return it->second;
}

// Of one microbatch's activations between stages; where tensor-parallel ranks hold the same, each
// sends a piece (lower/step_costs.cc).
std::int64_t StepChakra::State::transferred_bytes() const {
  const bool pieces = context.software.splits_transfers && plan.tp > 1 && !plan.sequence_parallel;
  return std::llround(costs.boundary.value() / (pieces ? static_cast<double>(plan.tp) : 1));
}

std::int64_t StepChakra::State::degree(MeshAxis axis) const {
  switch (axis) {
    case MeshAxis::tp:
      return plan.tp;
    case MeshAxis::cp:
      return plan.cp;
    case MeshAxis::dp:
      return plan.dp;
    case MeshAxis::pp:
      return plan.pp;
    case MeshAxis::ep:
      return 1;  // taken from tp, cp and dp
  }
  return 1;
}

std::int64_t StepChakra::State::stride(MeshAxis axis) const {
  std::int64_t out = 1;
  for (const MeshAxis a : plan.placement) {
    if (a == axis) return out;
    out *= degree(a);
  }
  return out;
}

std::vector<std::int64_t> StepChakra::State::members(Group group, std::int64_t rank) const {
  std::vector<std::int64_t> out;
  const auto coordinate = [&](MeshAxis axis) { return rank / stride(axis) % degree(axis); };
  // Ranks that differ from this one only along these axes, in the order of the placement.
  const auto along = [&](std::initializer_list<MeshAxis> axes) {
    out = {rank};
    for (const MeshAxis axis : axes) out[0] -= coordinate(axis) * stride(axis);
    for (const MeshAxis axis : plan.placement) {
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) continue;
      std::vector<std::int64_t> wider;
      for (std::int64_t i = 0; i < degree(axis); ++i) {
        for (const std::int64_t r : out) wider.push_back(r + i * stride(axis));
      }
      out = std::move(wider);
    }
  };
  switch (group) {
    case Group::tensor:
      along({MeshAxis::tp});
      break;
    case Group::context:
      along({MeshAxis::cp});
      break;
    case Group::stages:
      along({MeshAxis::pp});
      break;
    case Group::replicas:
      along({MeshAxis::cp, MeshAxis::dp});
      break;
    case Group::expert: {
      // Of the ranks of a stage: etp neighbours, then the experts, then their replicas.
      along({MeshAxis::tp, MeshAxis::cp, MeshAxis::dp});
      const std::vector<std::int64_t> pool = std::move(out);
      out.clear();
      const auto at =
          static_cast<std::int64_t>(std::find(pool.begin(), pool.end(), rank) - pool.begin());
      const std::int64_t etp = std::max<std::int64_t>(1, plan.etp);
      const std::int64_t first = at / (etp * plan.ep) * etp * plan.ep + at % etp;
      for (std::int64_t i = 0; i < plan.ep; ++i) {
        out.push_back(pool[static_cast<std::size_t>(first + i * etp)]);
      }
      break;
    }
    case Group::end_stages: {
      const std::int64_t base = rank - coordinate(MeshAxis::pp) * stride(MeshAxis::pp);
      out = {base, base + (plan.pp - 1) * stride(MeshAxis::pp)};
      break;
    }
    case Group::world:
      break;  // an empty list: all
  }
  return out;
}

ChakraNode StepChakra::State::groups(std::int64_t rank) const {
  std::string text = "['[";
  for (const Group group : {Group::world, Group::tensor, Group::context, Group::expert,
                            Group::replicas, Group::end_stages, Group::stages}) {
    // The first and the last stage are in it; no group has one rank.
    const std::vector<std::int64_t> ranks = members(group, rank);
    const bool inside = std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    if (group != Group::world && (!inside || ranks.size() < 2)) continue;
    if (text.size() > 3) text += ", ";
    text += R"({"pg_name": ")" + std::to_string(static_cast<int>(group)) + R"(", "ranks": [)";
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    }
    text += "]}";
  }
  ChakraNode node;
  node.id = 1;
  node.name = "## process_group:init ##";
  node.type = ChakraNodeType::metadata;
  node.inputs = ChakraValues{text + "]']", "[[]]", "['String']"};
  node.outputs = ChakraValues{"[]", "[]", "[]"};
  node.attributes = {chakra_boolean("is_cpu_op", true)};
  return node;
}

namespace {

void add_dependency(ChakraNode& node, std::uint64_t id) {
  auto& list = node.data_dependencies;
  if (id != 0 && std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

}  // namespace

StepChakra::StepChakra(const PredictedStep& step, const SimulatedStep& expanded)
    : state_(std::make_unique<State>(step, expanded)) {
  state_->find_receivers();
}

StepChakra::StepChakra(StepChakra&&) noexcept = default;
StepChakra& StepChakra::operator=(StepChakra&&) noexcept = default;
StepChakra::~StepChakra() = default;

std::int64_t StepChakra::ranks() const {
  const Plan& plan = state_->plan;
  return plan.tp * plan.cp * plan.dp * plan.pp;
}

std::size_t StepChakra::nodes_of_a_rank() const {
  return state_->step.graph.size() / static_cast<std::size_t>(state_->plan.pp);
}

ChakraTrace StepChakra::trace(std::int64_t rank) {
  State& s = *state_;
  const Graph& graph = s.step.graph;
  const std::int64_t pp_stride = s.stride(MeshAxis::pp);
  const auto own = static_cast<std::uint32_t>(rank / pp_stride % s.degree(MeshAxis::pp));
  const auto peer = [&](std::uint32_t device) {
    return static_cast<std::int32_t>(
        rank + (static_cast<std::int64_t>(device) - static_cast<std::int64_t>(own)) * pp_stride);
  };

  ChakraTrace out;
  out.version = "0.0.4";
  out.mark_times_simulated();
  out.nodes.push_back(s.groups(rank));
  std::vector<std::uint64_t> id_of(graph.size(), 0);           // of what has been written
  std::vector<std::uint64_t> last(graph.streams().size(), 0);  // of each stream
  std::map<std::uint32_t, std::uint64_t> received;             // by what another device ended
  const auto add = [&](std::string_view name, ChakraNodeType type) -> ChakraNode& {
    ChakraNode& node = out.nodes.emplace_back();
    node.id = out.nodes.size();
    node.name = name;
    node.type = type;
    node.attributes = {chakra_boolean("is_cpu_op", false)};
    return node;
  };
  const auto timed = [&](ChakraNode& node, Picoseconds from, Picoseconds until) {
    node.start_micros = microseconds(from);
    node.duration_micros = microseconds(until) - node.start_micros;
  };
  // What travels: a transfer, or that a node has ended.
  const auto transfer = [&](ChakraNode& node, NodeIndex n, std::int32_t from, std::int32_t to) {
    const bool carries = graph.kind(n) == NodeKind::point_to_point;
    node.attributes.push_back(chakra_int64("comm_size", s.transferred_bytes()));
    node.attributes.push_back(chakra_int32("comm_src", from));
    node.attributes.push_back(chakra_int32("comm_dst", to));
    node.attributes.push_back(
        chakra_int32("comm_tag", static_cast<std::int32_t>(n.value() & 0x7FFFFFFFU)));
    timed(node, carries ? s.timeline.start(graph, n) : s.timeline.end(n), s.timeline.end(n));
  };
  const auto received_from = [&](std::uint32_t p) {
    std::uint64_t& id = received[p];
    if (id != 0) return id;
    ChakraNode& node = add(graph.name(NodeIndex(p)), ChakraNodeType::receive);
    transfer(node, NodeIndex(p), peer(s.device(p)), static_cast<std::int32_t>(rank));
    return id = node.id;
  };
  const auto on_stream = [&](ChakraNode& node, std::optional<StreamIndex> stream) {
    const std::int64_t number =
        stream ? static_cast<std::int64_t>(graph.streams()[stream->value()].kind) : -1;
    node.attributes.push_back(chakra_int64("stream", number));
  };

  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    if (!s.takes_part(n, own)) continue;
    std::optional<StreamIndex> stream;  // none on a wire
    if (!s.on_wire(n) && s.device(i) == own) stream = graph.stream(n);
    for (const StreamIndex other : graph.rendezvous_streams(n)) {
      if (graph.streams()[other.value()].rank_class == own) stream = other;
    }
    // Receives come before what waits for them.
    std::vector<std::uint64_t> after;
    for (const std::uint32_t p : graph.predecessors(n)) {
      if (s.takes_part(NodeIndex(p), own)) {
        after.push_back(id_of[p]);
      } else if (!s.takes_part(n, s.device(p))) {
        after.push_back(received_from(p));
      }
    }
    if (stream) after.push_back(last[stream->value()]);
    const auto wire_up = [&](ChakraNode& node) {
      for (const std::uint64_t id : after) add_dependency(node, id);
      id_of[i] = node.id;
      if (stream) last[stream->value()] = node.id;
    };

    const bool sends = s.device(i) == own && !s.receivers[i].empty();
    if (sends && graph.kind(n) == NodeKind::point_to_point) {
      for (const std::uint32_t to : s.receivers[i]) {
        ChakraNode& node = add(graph.name(n), ChakraNodeType::send);
        transfer(node, n, static_cast<std::int32_t>(rank), peer(to));
        on_stream(node, stream);
        wire_up(node);
      }
      continue;
    }
    ChakraNode& node = add(graph.name(n), ChakraNodeType::compute);
    timed(node, s.timeline.start(graph, n), s.timeline.end(n));
    wire_up(node);
    if (graph.kind(n) == NodeKind::host) {
      node.attributes = {chakra_boolean("is_cpu_op", true),
                         chakra_int64("tid", static_cast<std::int64_t>(
                                                 graph.streams()[graph.stream(n).value()].kind))};
    } else {
      on_stream(node, stream);
    }
    if (graph.kind(n) == NodeKind::collective || s.on_wire(n)) {
      const Communication c = s.communication(n);
      std::int64_t bytes = s.bytes(c, graph.duration(n));
      if (s.on_wire(n)) bytes = std::max<std::int64_t>(1, bytes);
      if (bytes > 0) {
        node.type = ChakraNodeType::collective;
        node.attributes.push_back(
            chakra_int64("comm_type", static_cast<std::int64_t>(c.collective)));
        node.attributes.push_back(chakra_int64("comm_size", bytes));
        node.attributes.push_back(
            chakra_text("pg_name", std::to_string(static_cast<int>(c.group))));
      }
    }
    if (!sends) continue;
    // Another device waits for this end.
    const std::uint64_t ended = node.id;
    for (const std::uint32_t to : s.receivers[i]) {
      ChakraNode& sent = add(graph.name(n), ChakraNodeType::send);
      transfer(sent, n, static_cast<std::int32_t>(rank), peer(to));
      on_stream(sent, std::nullopt);
      add_dependency(sent, ended);
    }
  }
  return out;
}

}  // namespace orrery
