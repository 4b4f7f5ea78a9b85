#include "estimate/step_chakra.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cost/collective/token_exchange.h"
#include "lower/price.h"
#include "outcome/enum_names.h"
#include "trace/chakra/process_groups.h"

namespace orrery {
namespace {

constexpr double kPsPerMicrosecond = 1e6;

ChakraCollective chakra_collective(CollectiveKind kind) {
  static constexpr std::array kKinds = {ChakraCollective::all_reduce, ChakraCollective::all_gather,
                                        ChakraCollective::reduce_scatter,
                                        ChakraCollective::all_to_all, ChakraCollective::broadcast};
  static_assert(kKinds.size() == enumerators<CollectiveKind>());
  return kKinds[static_cast<std::size_t>(kind)];
}

std::uint64_t microseconds(Picoseconds time) {
  return static_cast<std::uint64_t>(std::llround(time.count() / kPsPerMicrosecond));
}

}  // namespace

struct StepChakra::State {
  const StepCosts& costs;
  const Plan& plan = costs.plan;
  const RankLayout& layout = *costs.layout;
  const StepGraph& step;
  const Timeline& timeline;
  // By node: other devices that wait for it.
  std::vector<std::vector<std::uint32_t>> receivers;
  // By StepGroup and rank: the number of the rank's group; 0 if it is in none, or nothing
  // communicates there.
  std::vector<std::vector<std::int32_t>> numbers{layout.groups.size()};
  Communicators communicators;

  State(const PredictedStep& predicted, const SimulatedStep& expanded)
      : costs(predicted.costs), step(expanded.step), timeline(expanded.timeline) {}

  [[nodiscard]] std::uint32_t device(std::size_t node) const {
    return step.graph.stream_of(NodeIndex(node)).rank_class;
  }
  // Between devices, on no stream of either.
  [[nodiscard]] bool on_wire(NodeIndex n) const {
    return step.graph.stream_of(n).role == StreamRole::wire;
  }
  // Whether a stream of pipeline device `own` takes part.
  [[nodiscard]] bool takes_part(NodeIndex n, std::uint32_t own) const {
    if (on_wire(n) || device(n.value()) == own) return true;
    const std::span<const StreamIndex> others = step.graph.rendezvous_streams(n);
    return std::ranges::any_of(
        others, [&](StreamIndex s) { return step.graph.streams()[s.value()].rank_class == own; });
  }
  // Of the pipeline's axis.
  [[nodiscard]] RankSpan stages() const {
    return layout.spans[static_cast<std::size_t>(StepGroup::stages)].front();
  }
  [[nodiscard]] bool communicates(const Communication& c) const {
    return layout.groups[c.group.value()].shape.size > 1 && c.payload > Bytes(0);
  }

  void find_receivers();
  [[nodiscard]] std::vector<Communication> communications(NodeIndex n) const;
  [[nodiscard]] std::int64_t bytes(const Communication& c) const;
  [[nodiscard]] Picoseconds price_of(const Communication& c) const {
    const CostContext& context = costs.cache->context();
    return context.rounded(price(c, layout.groups[c.group.value()].shape, context));
  }
  [[nodiscard]] std::int64_t transferred_bytes() const;
  [[nodiscard]] std::int64_t ranks() const { return plan.tp * plan.cp * plan.dp * plan.pp; }
  void number_groups();
  [[nodiscard]] std::vector<NamedGroup> groups_of(std::int64_t rank) const;
};

void StepChakra::State::find_receivers() {
  const Graph& graph = step.graph;
  receivers.resize(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (on_wire(NodeIndex(i))) continue;  // all devices meet there
    for (const std::uint32_t p : graph.predecessors(NodeIndex(i))) {
      if (takes_part(NodeIndex(p), device(i)) || takes_part(NodeIndex(i), device(p))) continue;
      auto& list = receivers[p];
      if (std::ranges::find(list, device(i)) == list.end()) list.push_back(device(i));
    }
  }
}

// What a node moves inside groups of more than one rank.
std::vector<Communication> StepChakra::State::communications(NodeIndex n) const {
  std::vector<Communication> out;
  if (step.graph.kind(n) != NodeKind::collective && !on_wire(n)) return out;
  for (const OperationPart& part : step.graph.operation(n).parts) {
    const auto* c = std::get_if<Communication>(&part.what);
    if (c != nullptr && communicates(*c)) out.push_back(*c);
  }
  return out;
}

// What a rank puts in: of an all-gather its shard.
std::int64_t StepChakra::State::bytes(const Communication& c) const {
  const GroupShape& group = layout.groups[c.group.value()].shape;
  double payload = c.payload.value();
  if (const auto* tokens = std::get_if<TokenExchange>(&c.tokens)) {
    payload = tokens->tokens * tokens->token.value() *
              distinct_units(group.size, tokens->experts, tokens->top_k, tokens->limit);
  }
  if (c.collective == CollectiveKind::all_gather) payload /= group.size;
  return std::max<std::int64_t>(1, std::llround(payload * c.times / c.pieces));
}

// Of one microbatch's activations between stages.
std::int64_t StepChakra::State::transferred_bytes() const {
  return std::llround(std::get<Message>(costs.transfer_parts(0).front().what).bytes.value());
}

void StepChakra::State::number_groups() {
  for (const Operation& operation : step.graph.operations()) {
    for (const OperationPart& part : operation.parts) {
      const auto* c = std::get_if<Communication>(&part.what);
      if (c != nullptr && communicates(*c)) {
        numbers[c->group.value()].resize(static_cast<std::size_t>(ranks()));
      }
    }
  }
  for (std::size_t g = 0; g < numbers.size(); ++g) {
    for (std::size_t rank = 0; rank < numbers[g].size(); ++rank) {
      if (numbers[g][rank] != 0) continue;
      std::vector<std::int64_t> ranks =
          members(layout, static_cast<StepGroup>(g), static_cast<std::int64_t>(rank));
      // The group of the end stages has only those of a pipeline.
      const bool inside = std::ranges::find(ranks, static_cast<std::int64_t>(rank)) != ranks.end();
      if (ranks.size() < 2 || !inside) continue;
      const auto next = static_cast<std::int32_t>(communicators.size()) + 1;
      for (const std::int64_t r : ranks) numbers[g][static_cast<std::size_t>(r)] = next;
      // All ranks need no list, which would stand in the file of each.
      if (static_cast<std::int64_t>(ranks.size()) == this->ranks()) ranks.clear();
      std::ranges::sort(ranks);
      communicators.emplace(next, std::move(ranks));
    }
  }
}

std::vector<NamedGroup> StepChakra::State::groups_of(std::int64_t rank) const {
  std::vector<NamedGroup> out;
  for (const std::vector<std::int32_t>& of_ranks : numbers) {
    const std::int32_t number = of_ranks.empty() ? 0 : of_ranks[static_cast<std::size_t>(rank)];
    if (number != 0) out.push_back({std::to_string(number), communicators.at(number)});
  }
  return out;
}

namespace {

void add_dependency(ChakraNode& node, std::uint64_t id) {
  auto& list = node.data_dependencies;
  if (id != 0 && std::ranges::find(list, id) == list.end()) list.push_back(id);
}

}  // namespace

StepChakra::StepChakra(const PredictedStep& step, const SimulatedStep& expanded)
    : state_(std::make_unique<State>(step, expanded)) {
  state_->find_receivers();
  state_->number_groups();
}

StepChakra::StepChakra(StepChakra&&) noexcept = default;
StepChakra& StepChakra::operator=(StepChakra&&) noexcept = default;
StepChakra::~StepChakra() = default;

std::int64_t StepChakra::ranks() const { return state_->ranks(); }

const Communicators& StepChakra::communicators() const { return state_->communicators; }

std::size_t StepChakra::nodes_of_a_rank() const {
  return state_->step.graph.size() / static_cast<std::size_t>(state_->plan.pp);
}

ChakraTrace StepChakra::trace(std::int64_t rank) {
  State& s = *state_;
  const Graph& graph = s.step.graph;
  const std::int64_t stride = s.stages().stride;
  const auto own = static_cast<std::uint32_t>(rank / stride % s.stages().size);
  const auto peer = [&](std::uint32_t device) {
    return static_cast<std::int32_t>(
        rank + (static_cast<std::int64_t>(device) - static_cast<std::int64_t>(own)) * stride);
  };

  ChakraTrace out;
  out.version = "0.0.4";
  out.mark_times_simulated();
  define_groups(out, s.groups_of(rank));
  set_world_size(out, ranks());
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
    const std::int64_t number = stream ? std::int64_t{graph.streams()[stream->value()].number} : -1;
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
    const std::vector<Communication> moved = s.communications(n);
    const std::size_t parts = std::max<std::size_t>(1, moved.size());
    Picoseconds from = s.timeline.start(graph, n);
    for (std::size_t part = 0; part < parts; ++part) {
      Picoseconds until = s.timeline.end(n);
      if (part + 1 < parts) until = std::min(until, from + s.price_of(moved[part]));
      ChakraNode& node = add(graph.name(n), ChakraNodeType::compute);
      timed(node, from, until);
      wire_up(node);
      after.assign(1, node.id);  // what else it moves follows
      from = until;
      if (graph.kind(n) == NodeKind::host) {
        node.attributes = {chakra_boolean("is_cpu_op", true),
                           chakra_int64("tid", std::int64_t{graph.stream_of(n).number})};
      } else {
        on_stream(node, stream);
      }
      if (moved.empty()) break;
      const Communication& c = moved[part];
      node.type = ChakraNodeType::collective;
      node.attributes.push_back(
          chakra_int64("comm_type", static_cast<std::int64_t>(chakra_collective(c.collective))));
      node.attributes.push_back(chakra_int64("comm_size", s.bytes(c)));
      const std::int32_t number = s.numbers[c.group.value()][static_cast<std::size_t>(rank)];
      node.attributes.push_back(chakra_text("pg_name", std::to_string(number)));
    }
    if (!sends) continue;
    // Another device waits for this end.
    const std::uint64_t ended = id_of[i];
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
