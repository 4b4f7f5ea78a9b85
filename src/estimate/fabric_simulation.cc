#include "estimate/fabric_simulation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <variant>

#include "estimate/communication_patterns.h"
#include "graph/edge_lists.h"
#include "network/collective_comparison.h"
#include "network/max_min.h"

namespace orrery {
namespace {

constexpr int kMostDirectRanks = 256;  // of an all-to-all whose every pair is a flow
constexpr std::uint32_t kPieces = 512;

// How a communication of the graph runs on the network: all parts of one node's operation.
struct NodeFlows {
  double closed_ps = 0;
  double alone_ps = 0;
  std::vector<ResourceUse> uses;  // the patterns and their shares; then resources
  std::size_t axis = 0;           // of the table of AxisFlows
};

// One job: the graph of its step and what its nodes do to the network.
class Job {
 public:
  Job(std::size_t number, const StepOnFabric& on, const Cluster& fabric,
      CommunicationPatterns& patterns)
      : number_(number), on_(on), fabric_(fabric), patterns_(patterns) {
    for (const std::uint32_t a : on.accelerators) {
      if (sites_.empty() || sites_.back() != site_of(a)) sites_.push_back(site_of(a));
    }
  }

  Result<void> prepare() {
    ORRERY_TRY(simulated_, simulated(on_.step->costs, Folding::expanded));
    const Graph& graph = this->graph();
    flows_of_node_.resize(graph.size());
    for (std::size_t n = 0; n < graph.size(); ++n) {
      const std::uint32_t device = graph.stream_of(NodeIndex(n)).rank_class;
      const std::uint32_t operation = graph.operation_index(NodeIndex(n)).value();
      const auto key = std::pair(operation, device);
      auto known = known_.find(key);
      if (known == known_.end()) {
        ORRERY_TRY(const std::uint32_t flows,
                   at(std::string(graph.name(NodeIndex(n))), node_flows(NodeIndex(n), device)));
        known = known_.emplace(key, flows).first;
      }
      flows_of_node_[n] = known->second;
    }
    std::vector<std::optional<std::uint32_t>> last(graph.streams().size());
    const auto each_edge = [&](auto add) {
      std::ranges::fill(last, std::nullopt);
      for (std::uint32_t n = 0; n < graph.size(); ++n) {
        const NodeIndex node(n);
        for (const std::uint32_t p : graph.predecessors(node)) add(p, n);
        const auto follow = [&](StreamIndex s) {
          if (graph.streams()[s.value()].role == StreamRole::wire) return;
          if (last[s.value()]) add(*last[s.value()], n);
          last[s.value()] = n;
        };
        follow(graph.stream(node));
        for (const StreamIndex s : graph.rendezvous_streams(node)) follow(s);
      }
    };
    successors_.emplace(graph.size(), each_edge);
    waits_at_first_.resize(graph.size());
    each_edge([&](std::uint32_t, std::uint32_t n) { ++waits_at_first_[n]; });
    return {};
  }

  // Patterns have become resources.
  void resolve() {
    for (NodeFlows& f : flows_) {
      std::map<std::uint32_t, double> uses;
      for (const ResourceUse& pattern : f.uses) {
        for (const ResourceUse& use : patterns_[pattern.resource].links) {
          uses[use.resource] += use.weight * pattern.weight;
        }
      }
      f.uses.clear();
      for (const auto& [resource, weight] : uses) f.uses.push_back({resource, weight});
    }
  }

  [[nodiscard]] const Graph& graph() const { return simulated_.step.graph; }
  // None: the node keeps its duration.
  [[nodiscard]] const NodeFlows* flows(std::uint32_t node) const {
    return flows_of_node_[node] == kNone ? nullptr : &flows_[flows_of_node_[node]];
  }

  // Begins a step: gives the nodes that wait for none.
  std::vector<std::uint32_t> begin(double now) {
    waits_ = waits_at_first_;
    left_ = graph().size();
    began_ = now;
    ends_.assign(graph().size(), 0);
    std::vector<std::uint32_t> out;
    for (std::uint32_t n = 0; n < waits_.size(); ++n) {
      if (waits_[n] == 0) out.push_back(n);
    }
    return out;
  }
  // Calls `start(n)` for each node that can begin now; true where the step is over.
  template <class Start>
  bool end(std::uint32_t node, double began, double now, const Start& start) {
    ends_[node] = now - began_;
    if (const NodeFlows* f = flows(node); f != nullptr && steps_ == 0) {
      AxisFlows& axis = axes_[f->axis];
      ++axis.times;
      axis.closed += Seconds(f->closed_ps * 1e-12);
      axis.alone += Seconds(f->alone_ps * 1e-12);
      axis.shared += Seconds((now - began) * 1e-12);
    }
    for (const std::uint32_t s : (*successors_)[node]) {
      if (--waits_[s] == 0) start(s);
    }
    if (--left_ > 0) return false;
    Timeline timeline{.end_ps = ends_, .makespan = Picoseconds(now - began_)};
    for (double& e : timeline.end_ps) e = std::round(e);
    // Between two repetitions the step is as long as what follows waits for it.
    window_ = step_time(windows(on_.step->costs, simulated_.step, timeline)).seconds();
    total_ += Seconds((now - began_) * 1e-12);
    ++steps_;
    return true;
  }
  [[nodiscard]] int steps() const { return steps_; }

  [[nodiscard]] StepFlows answer(std::size_t resources) && {
    StepFlows out;
    out.closed = on_.step->folded.time.seconds();
    out.time = steps_ == 1 ? window_ : total_ / static_cast<double>(steps_);
    out.steps = steps_;
    out.resources = static_cast<std::int64_t>(resources);
    for (std::size_t r = 0; r < resources; ++r) out.used.push_back({patterns_.level_of(r), 0});
    for (std::uint32_t n = 0; n < graph().size(); ++n) {
      const NodeFlows* f = flows(n);
      if (f == nullptr) continue;
      for (const ResourceUse& use : f->uses) {
        out.used[use.resource].busy += use.weight * f->alone_ps * 1e-12 / out.time.value();
      }
    }
    out.axes = std::move(axes_);
    std::erase_if(out.axes, [](const AxisFlows& a) { return a.times == 0; });
    return out;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  using Groups = std::vector<std::vector<std::uint32_t>>;  // accelerators, by rank of the group

  [[nodiscard]] const StepCosts& costs() const { return on_.step->costs; }
  // Those of the ranks in a site of the fabric; none where the job has no rank there.
  [[nodiscard]] const StepCosts* costs_in(std::size_t site) const {
    const auto at = static_cast<std::size_t>(std::ranges::find(sites_, site) - sites_.begin());
    if (at == sites_.size()) return nullptr;
    return costs().sites.empty() ? &costs() : &costs().sites[at];
  }
  // Where ranks lie among each other, which is the same in every site.
  [[nodiscard]] const RankLayout& layout() const { return *costs().layout; }
  [[nodiscard]] std::size_t site_of(std::uint32_t accelerator) const {
    std::size_t site = 0;
    std::int64_t end = accelerators_of(fabric_, 0);
    while (accelerator >= end) end += accelerators_of(fabric_, ++site);
    return site;
  }
  // Of the fabric: that of the ranks whose prices these are.
  [[nodiscard]] std::size_t site_of(const StepCosts& priced) const {
    return *std::ranges::find_if(
        sites_, [&](std::size_t site) { return costs_in(site)->cache == priced.cache; });
  }
  [[nodiscard]] RankSpan stages() const {
    const auto& spans = layout().spans[static_cast<std::size_t>(StepGroup::stages)];
    return spans.empty() ? RankSpan{} : spans.front();
  }
  [[nodiscard]] std::int64_t stage_of(std::int64_t rank) const {
    return rank / stages().stride % stages().size;
  }

  std::size_t axis(std::string_view label, std::string_view collective) {
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      if (axes_[a].axis == label && axes_[a].collective == collective) return a;
    }
    AxisFlows& added = axes_.emplace_back();
    added.axis = label;
    added.collective = collective;
    return axes_.size() - 1;
  }

  // Of a node's operation on a device.
  Result<std::uint32_t> node_flows(NodeIndex node, std::uint32_t device) {
    const Operation& operation = graph().operation(node);
    NodeFlows out;
    double more = 0;  // than by the closed form
    for (const OperationPart& part : operation.parts) {
      ORRERY_TRY(const std::optional<Flowing> flowing, flowing_of(part, device));
      if (!flowing) continue;
      out.axis = flowing->axis;
      const CommunicationPattern& pattern = patterns_[flowing->pattern];
      if (axes_[out.axis].busiest.empty()) axes_[out.axis].busiest = pattern.busiest;
      const double seconds = flowing->share * flowing->transfer.value();
      more += flowing->share * (flowing->alone - flowing->closed).value();
      out.uses.push_back({flowing->pattern, seconds});
    }
    if (out.uses.empty()) return kNone;
    out.closed_ps = graph().duration(node).count();
    out.alone_ps = std::max(0.0, out.closed_ps + more * 1e12);
    if (!(out.alone_ps > 0)) return kNone;
    for (ResourceUse& use : out.uses)
      use.weight = std::min(1.0, use.weight / (out.alone_ps * 1e-12));
    flows_.push_back(std::move(out));
    return static_cast<std::uint32_t>(flows_.size() - 1);
  }

  struct Flowing {
    std::uint32_t pattern = 0;
    double share = 1;  // of the whole that the node takes
    Seconds closed, alone;
    Seconds transfer;  // of `alone`
    std::size_t axis = 0;
  };

  Result<std::optional<Flowing>> flowing_of(const OperationPart& part, std::uint32_t device) {
    if (const auto* c = std::get_if<Communication>(&part.what)) return collective_flow(*c, device);
    if (const auto* m = std::get_if<Message>(&part.what)) return message_flow(*m, device);
    return std::optional<Flowing>();
  }

  Result<std::optional<Flowing>> collective_flow(const Communication& c, std::uint32_t device) {
    if (costs().averages_by_bandwidth(c)) {
      return unsupported("averaging=by-bandwidth is not simulated as flows", "plan",
                         "write averaging=all");
    }
    const auto of = static_cast<StepGroup>(c.group.value());
    const bool crosses = crosses_sites(of, device);
    // Across sites, those where it takes longest; inside of one, those of the device's.
    const StepCosts& priced =
        crosses ? costs().slowest_at(c) : costs().at(static_cast<int>(device));
    const CostContext& context = priced.cache->context();
    const Group& group = priced.layout->groups[c.group.value()];
    if (group.shape.size <= 1 ||
        c.payload < kLatencyBound * static_cast<double>(group.shape.size)) {
      return std::optional<Flowing>();
    }
    const bool tokens = std::holds_alternative<TokenExchange>(c.tokens);
    const CollectiveParameters& parameters = context.collectives;
    const std::vector<FabricLevel>& own = context.cluster.levels;
    const CollectiveChoice choice =
        collective(c.collective, c.payload, group.shape, own, parameters);
    const CommunicationPath path = communication_path(group.shape, own, parameters);
    ProgramAlgorithm algorithm = program_algorithm(choice.algorithm);
    if (algorithm == ProgramAlgorithm::direct && group.shape.size > kMostDirectRanks) {
      algorithm = ProgramAlgorithm::hierarchical;
    }
    if (algorithm == ProgramAlgorithm::in_switch && crosses && !has_alike_nodes(of)) {
      algorithm = ProgramAlgorithm::ring;
    }
    const std::size_t site = site_of(priced);
    const PatternKey key = {.job = number_,
                            .device = device,
                            .site = site,
                            .group = static_cast<std::size_t>(of),
                            .collective = static_cast<int>(c.collective),
                            .algorithm = static_cast<int>(algorithm),
                            .protocol = static_cast<int>(choice.protocol)};
    // Of groups that lie at `where`, in the program of their shape there.
    const auto pattern_at = [&](std::size_t where, const Groups& groups) {
      const StepCosts& there = *costs_in(where);
      const CommunicationPath taken = communication_path(
          shape_at(there, of), there.cache->context().cluster.levels, parameters_of(there));
      const ProgramAlgorithm runs = algorithm == ProgramAlgorithm::in_switch && !has_switches(there)
                                        ? ProgramAlgorithm::ring
                                        : algorithm;
      const ProgramShape shape = crosses ? shape_across(of) : shape_of(shape_at(there, of));
      auto program = program_of(runs, c.collective, shape);
      if (!program) {
        program = program_of(c.collective == CollectiveKind::all_to_all  ? ProgramAlgorithm::direct
                             : c.collective == CollectiveKind::broadcast ? ProgramAlgorithm::chain
                                                                         : ProgramAlgorithm::ring,
                             c.collective, shape);
      }
      return patterns_.of_program(
          *program,
          [&](std::size_t s, const std::vector<FabricLevel>& levels) {
            const StepCosts* here = costs_in(s);
            if (here == nullptr) return levels;  // which nothing of this job takes
            return library_levels(levels, parameters_of(*here), c.collective, runs, choice.protocol,
                                  StepLatency::none, taken);
          },
          groups);
    };
    ORRERY_TRY(const std::uint32_t pattern, patterns_.find(key, [&] {
      const Groups groups = placements(of, device);
      return crosses ? pattern_at(site, groups) : in_each_site(site, groups, pattern_at);
    }));
    Flowing out;
    out.pattern = pattern;
    out.share = c.times / c.pieces * c.exposed;
    out.axis = axis(group.label, to_text(c.collective));
    out.transfer = Seconds(patterns_[pattern].seconds_per_byte * c.payload.value());
    if (tokens) {
      // Tokens go by kernels of their own, whose rate is measured; flows tell what shares the links.
      out.closed = context.exchange(std::get<TokenExchange>(c.tokens), group.shape);
      out.alone = out.closed;
      out.transfer = std::min(out.transfer, out.closed);
      return std::optional(out);
    }
    out.closed = choice.time;
    out.alone = out.transfer +
                off_links(algorithm, c.collective, c.payload, path, choice.protocol, parameters)
                    .value_or(std::max(Seconds(0), choice.time - out.transfer));
    return std::optional(out);
  }

  Result<std::optional<Flowing>> message_flow(const Message& m, std::uint32_t device) {
    const RankSpan span = stages();
    if (span.size < 2 || !(m.bytes >= kLatencyBound)) return std::optional<Flowing>();
    // To the next device or from it back to this one; the level tells which pair it is.
    const auto next = static_cast<std::size_t>(device);
    const std::size_t before =
        (next + static_cast<std::size_t>(span.size) - 1) % static_cast<std::size_t>(span.size);
    const auto crosses_as_stated = [&](std::size_t boundary) {
      const RankLayout& seen = *costs().slower_end(boundary).layout;
      return seen.boundary_level[boundary] == m.level &&
             seen.boundary_crossing[boundary] == m.crossing;
    };
    const bool forwards = crosses_as_stated(next) && next + 1 < static_cast<std::size_t>(span.size);
    const std::int64_t step = forwards || !crosses_as_stated(before) ? 1 : span.size - 1;
    const StepCosts& priced = costs().slower_end(step == 1 ? next : before);
    const CostContext& context = priced.cache->context();
    const std::size_t site = site_of(priced);
    const PatternKey key = {.job = number_,
                            .device = device,
                            .site = site,
                            .group = layout().groups.size() + m.level,
                            .collective = static_cast<int>(step)};
    const FabricLevel& level = context.pairwise[m.level];
    Program program{.kind = CollectiveKind::broadcast, .ranks = 2};
    program.rounds.push_back({.sends = {{.from = 0, .to = 1}}});
    // Of pairs that meet at a level of `where`.
    const auto pattern_at = [&](std::size_t where, const Groups& pairs) {
      const StepCosts& there = *costs_in(where);
      const std::string& met =
          where == site ? level.name
                        : there.cache->context()
                              .pairwise[there.layout->boundary_level[step == 1 ? next : before]]
                              .name;
      return patterns_.of_program(
          program,
          [&](std::size_t s, std::vector<FabricLevel> silent) {
            const StepCosts* here = costs_in(s);
            for (FabricLevel& l : silent) {
              l.latency = Seconds(0);
              if (l.name != met || here == nullptr) continue;
              const auto& seen = here->cache->context().pairwise;
              const auto own = std::ranges::find(seen, l.name, &FabricLevel::name);
              if (own != seen.end()) l.efficiency = own->efficiency;
            }
            return silent;
          },
          pairs);
    };
    ORRERY_TRY(const std::uint32_t pattern, patterns_.find(key, [&] {
      Groups pairs;
      for (std::int64_t r = 0; r < std::ssize(on_.accelerators); ++r) {
        if (stage_of(r) != static_cast<std::int64_t>(device)) continue;
        const std::int64_t to = (stage_of(r) + step) % span.size;
        const std::int64_t peer = r + (to - stage_of(r)) * span.stride;
        pairs.push_back({on_.accelerators[static_cast<std::size_t>(r)],
                         on_.accelerators[static_cast<std::size_t>(peer)]});
      }
      return lie_in_sites(pairs) ? in_each_site(site, pairs, pattern_at) : pattern_at(site, pairs);
    }));
    Flowing out;
    out.pattern = pattern;
    out.axis = axis("pipeline", "message");
    const CollectiveParameters& parameters = context.collectives;
    out.closed = point_to_point(m.bytes, level, parameters, m.crossing);
    const Seconds latency =
        out.closed * 2.0 - point_to_point(m.bytes * 2, level, parameters, m.crossing);
    out.transfer = Seconds(patterns_[pattern].seconds_per_byte * m.bytes.value());
    out.alone = std::max(Seconds(0), latency) + out.transfer;
    return std::optional(out);
  }

  // As programs see a group, without levels whose units differ.
  static ProgramShape shape_of(const GroupShape& group) {
    ProgramShape out{.members = {}, .pieces = kPieces};
    for (const int m : group.members) {
      const auto here = static_cast<std::uint32_t>(m);
      while (!out.members.empty() && here % out.members.back() != 0) out.members.pop_back();
      if (here > (out.members.empty() ? 0 : out.members.back())) out.members.push_back(here);
    }
    return out;
  }
  [[nodiscard]] ProgramShape shape_across(StepGroup group) const {
    std::vector<GroupShape> seen;
    std::vector<std::int64_t> of_sites;
    for (const StepCosts& site : costs().sites) {
      seen.push_back(shape_at(site, group));
      of_sites.push_back(seen.back().members.rbegin()[1]);  // below the link
    }
    return shape_of(across_sites(seen, of_sites));
  }
  [[nodiscard]] static const GroupShape& shape_at(const StepCosts& site, StepGroup group) {
    return site.layout->groups[static_cast<std::size_t>(group)].shape;
  }
  // Whether nodes of all sites hold as many of a group, and join them by a switch.
  [[nodiscard]] bool has_alike_nodes(StepGroup group) const {
    const int of_first = shape_at(costs().sites.front(), group).members.front();
    return std::ranges::all_of(costs().sites, [&](const StepCosts& site) {
      return has_switches(site) && shape_at(site, group).members.front() == of_first;
    });
  }
  [[nodiscard]] static const CollectiveParameters& parameters_of(const StepCosts& priced) {
    return priced.cache->context().collectives;
  }
  [[nodiscard]] static bool has_switches(const StepCosts& site) {
    const auto& topology = site.cache->context().cluster.levels.front().topology;
    return !topology || topology->wiring == LevelWiring::switched;
  }
  // Whether no group has members in several sites.
  [[nodiscard]] bool lie_in_sites(const Groups& groups) const {
    return std::ranges::all_of(groups, [&](const auto& ranks) {
      const auto [least, greatest] = std::ranges::minmax(ranks);
      return site_of(least) == site_of(greatest);
    });
  }
  // Groups inside sites take as long as those of `site`, for which the others wait; meanwhile
  // those of every other site send as many bytes over their own links.
  template <class PatternAt>
  Result<CommunicationPattern> in_each_site(std::size_t site, const Groups& groups,
                                            const PatternAt& pattern_at) const {
    std::map<std::size_t, Groups> of_site;
    for (const auto& ranks : groups) of_site[site_of(ranks.front())].push_back(ranks);
    ORRERY_TRY(CommunicationPattern out, pattern_at(site, of_site[site]));
    for (const auto& [other, inside] : of_site) {
      if (other == site) continue;
      ORRERY_TRY(const CommunicationPattern beside, pattern_at(other, inside));
      add_beside(out, beside);
    }
    return out;
  }
  // Whether a group of the device's ranks has members in several sites.
  bool crosses_sites(StepGroup group, std::uint32_t device) {
    if (sites_.size() == 1) return false;
    const auto [known, unknown] = crosses_.try_emplace({group, device}, false);
    if (unknown) known->second = !lie_in_sites(placements(group, device));
    return known->second;
  }

  // The groups that ranks of the device are in, each once.
  Groups placements(StepGroup group, std::uint32_t device) const {
    Groups out;
    std::vector<std::uint8_t> seen(on_.accelerators.size());
    for (std::int64_t r = 0; r < std::ssize(on_.accelerators); ++r) {
      if (seen[static_cast<std::size_t>(r)] != 0) continue;
      if (stage_of(r) != static_cast<std::int64_t>(device)) continue;
      std::vector<std::uint32_t> placed;
      for (const std::int64_t m : members(layout(), group, r)) {
        seen[static_cast<std::size_t>(m)] = 1;
        placed.push_back(on_.accelerators[static_cast<std::size_t>(m)]);
      }
      out.push_back(std::move(placed));
    }
    return out;
  }

  std::size_t number_;
  const StepOnFabric& on_;
  const Cluster& fabric_;
  std::vector<std::size_t> sites_;  // of the fabric: those that it has ranks in, in ascending order
  CommunicationPatterns& patterns_;
  SimulatedStep simulated_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known_;
  std::map<std::pair<StepGroup, std::uint32_t>, bool> crosses_;
  std::vector<NodeFlows> flows_;
  std::vector<std::uint32_t> flows_of_node_;
  std::vector<AxisFlows> axes_;
  std::optional<EdgeLists> successors_;
  std::vector<std::uint32_t> waits_at_first_, waits_;
  std::vector<double> ends_;
  std::size_t left_ = 0;
  double began_ = 0;
  int steps_ = 0;
  Seconds window_, total_;
};

// Events of all jobs in the order of time, in picoseconds.
class Simulation {
 public:
  Simulation(std::vector<Job>& jobs, std::size_t resources, int steps)
      : jobs_(jobs), steps_(steps), network_(std::vector<double>(resources, 1.0)) {}

  void run() {
    for (std::uint32_t j = 0; j < jobs_.size(); ++j) begin(j, 0);
    while (!done_ && (!fixed_.empty() || network_.under_way() > 0)) {
      const double fixed = fixed_.empty() ? kUnlimitedRate : fixed_.top().time;
      const double flow = network_.under_way() > 0 ? network_.next_end() : kUnlimitedRate;
      if (fixed <= flow) {
        const Event event = fixed_.top();
        fixed_.pop();
        end(event.job, event.node, event.began, event.time);
        continue;
      }
      for (const FlowSimulation::Flow f : network_.end_next()) {
        const Event event = of_flow_[f];
        end(event.job, event.node, event.began, flow);
      }
    }
  }

 private:
  struct Event {
    double time = 0;
    std::uint32_t job = 0, node = 0;
    double began = 0;
    bool operator>(const Event& o) const {
      return std::tie(time, job, node) > std::tie(o.time, o.job, o.node);
    }
  };

  void begin(std::uint32_t job, double now) {
    for (const std::uint32_t node : jobs_[job].begin(now)) start(job, node, now);
  }
  void start(std::uint32_t job, std::uint32_t node, double now) {
    const NodeFlows* flows = jobs_[job].flows(node);
    if (flows == nullptr) {
      const double time = jobs_[job].graph().duration(NodeIndex(node)).count();
      fixed_.push({now + time, job, node, now});
      return;
    }
    const FlowSimulation::Flow f = network_.start(now, flows->uses, flows->alone_ps, 1);
    if (of_flow_.size() <= f) of_flow_.resize(f + 1);
    of_flow_[f] = {0, job, node, now};
  }
  void end(std::uint32_t job, std::uint32_t node, double began, double now) {
    const bool over =
        jobs_[job].end(node, began, now, [&](std::uint32_t next) { start(job, next, now); });
    if (!over) return;
    // Steps that are under way when all have done theirs are not counted.
    done_ = std::ranges::all_of(jobs_, [&](const Job& j) { return j.steps() >= steps_; });
    if (!done_) begin(job, now);
  }

  std::vector<Job>& jobs_;
  int steps_;
  bool done_ = false;
  FlowSimulation network_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> fixed_;
  std::vector<Event> of_flow_;
};

}  // namespace

Result<std::vector<StepFlows>> simulate_on_fabric(const Cluster& fabric,
                                                  std::span<const StepOnFabric> steps_of_jobs,
                                                  int steps) {
  CommunicationPatterns patterns(fabric);
  std::vector<Job> jobs;
  jobs.reserve(steps_of_jobs.size());
  for (std::size_t j = 0; j < steps_of_jobs.size(); ++j) {
    jobs.emplace_back(j, steps_of_jobs[j], fabric, patterns);
    ORRERY_RETURN_IF_ERROR(jobs.back().prepare());
  }
  const std::size_t resources = patterns.fold();
  for (Job& job : jobs) job.resolve();
  Simulation(jobs, resources, steps).run();
  std::vector<StepFlows> out;
  for (Job& job : jobs) out.push_back(std::move(job).answer(resources));
  return out;
}

Result<StepFlows> step_flows(const PredictedStep& step) {
  const Cluster cluster = with_levels(step.cluster(), [&](std::size_t s, const auto&) {
    const StepCosts& seen = step.costs.sites.empty() ? step.costs : step.costs.sites[s];
    return seen.cache->context().cluster.levels;
  });
  StepOnFabric on{&step,
                  std::vector<std::uint32_t>(static_cast<std::size_t>(cluster.accelerators))};
  std::iota(on.accelerators.begin(), on.accelerators.end(), 0U);
  auto out = simulate_on_fabric(cluster, std::span(&on, 1), 1);
  if (out) return std::move(out->front());
  Error error = std::move(out).error();
  if (error.code == ErrorCode::unsupported) error.hint += ", or leave out --network flows";
  return fail(std::move(error));
}

}  // namespace orrery
