#include "network/program_run.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "network/max_min.h"

namespace orrery {
namespace {

// A mix of bits (splitmix64, Steele, Lea and Flood, OOPSLA 2014): the hash of a switch.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Paths of a planned flow that are compared.
constexpr std::uint64_t kMostPlanned = 256;

struct Flow {
  std::vector<ResourceUse> uses;
  double latency = 0;
  double bytes = 0;
  double sends = 1;  // that are this one flow
};

class Runner {
 public:
  Runner(const Program& program, Bytes payload, const Network& network,
         std::span<const std::vector<std::uint32_t>> placements, Routing routing,
         std::uint32_t streams)
      : program_(program),
        part_(payload.value() * program.part_share),
        network_(network),
        placements_(placements),
        routing_(routing),
        streams_(routing == Routing::ecmp ? std::max(1U, streams) : 1) {
    out_.on_links.resize(network.links().size());
    for (const DirectedLink& link : network.links()) capacities_.push_back(link.capacity.value());
    if (routing == Routing::planned) loads_.resize(capacities_.size());
  }

  Result<ProgramRun> run() {
    const auto lacks_switch = [&](const std::vector<std::uint32_t>& placement) {
      return std::ranges::any_of(placement,
                                 [&](std::uint32_t a) { return !network_.has_scale_up_switch(a); });
    };
    if (program_.switches > 0 && std::ranges::any_of(placements_, lacks_switch)) {
      return bad_input("the accelerators of a node are joined by no switch", "",
                       "take an algorithm without reduction in the switch");
    }
    for (const Round& round : program_.rounds) {
      if (flows_at_most(round) > kMostFlows) return too_many(flows_at_most(round));
    }
    const bool in_sequence =
        std::ranges::all_of(program_.rounds, [](const Round& r) { return r.after.empty(); });
    if (in_sequence) {
      out_.time = Seconds(one_after_another());
    } else {
      ORRERY_TRY(const double time, side_by_side());
      out_.time = Seconds(time);
    }
    if (routing_ == Routing::spray) {
      for (std::uint32_t l = 0; l < out_.on_links.size(); ++l) {
        out_.on_links[l] = out_.on_links[network_.bundle(l).first];
      }
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::size_t flows_at_most(const Round& round) const {
    return round.sends.size() * placements_.size() * streams_;
  }
  static Failure too_many(std::size_t flows) {
    return bad_input(
        std::to_string(flows) + " flows at the same time are too many", "",
        "at most " + std::to_string(kMostFlows) + "; take fewer ranks or fewer streams");
  }

  [[nodiscard]] std::uint32_t vertex(const std::vector<std::uint32_t>& placement,
                                     std::uint32_t rank) const {
    if (rank < program_.ranks) return placement[rank];
    return network_.scale_up_switch(
        placement[std::size_t{rank - program_.ranks} * program_.node_ranks]);
  }

  // Sends of a group between the same two ranks with as many parts are one flow.
  std::vector<Flow> flows_of(const Round& round) {
    using Ends = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    std::vector<Ends> ends;
    ends.reserve(round.sends.size());
    for (const Send& send : round.sends) ends.emplace_back(send.from, send.to, send.count);
    std::ranges::sort(ends);
    std::vector<Flow> out;
    for (std::size_t i = 0; i < ends.size();) {
      std::size_t end = i;
      while (end < ends.size() && ends[end] == ends[i]) ++end;
      const auto [from, to, count] = ends[i];
      for (std::size_t k = 0; k < placements_.size() * streams_; ++k) {
        const std::vector<std::uint32_t>& placement = placements_[k / streams_];
        Flow flow;
        flow.bytes = part_ * count / streams_;
        Seconds latency;
        route(network_, vertex(placement, from), vertex(placement, to), routing_, k % streams_,
              loads_, flow.uses, latency);
        flow.latency = latency.value();
        flow.sends = static_cast<double>(end - i);
        for (ResourceUse& use : flow.uses) {
          use.weight *= flow.sends;
          out_.on_links[use.resource] += Bytes(use.weight * flow.bytes * round.repeats);
        }
        out.push_back(std::move(flow));
      }
      i = end;
    }
    // Where a round is repeated, a part passes all of its sends in turn.
    if (round.repeats > 1) {
      double sum = 0;
      double sends = 0;
      for (const Flow& f : out) {
        sum += f.latency * f.sends;
        sends += f.sends;
      }
      for (Flow& f : out) f.latency = sum / sends;
    }
    return out;
  }

  // Each round by itself.
  double one_after_another() {
    double time = 0;
    for (const Round& round : program_.rounds) time += alone(round) * round.repeats;
    return time;
  }

  // Of one repetition with nothing beside it.
  double alone(const Round& round) {
    std::ranges::fill(loads_, 0);
    const std::vector<Flow> flows = flows_of(round);
    FlowSimulation simulation(capacities_);
    std::multimap<double, const Flow*> waiting;
    for (const Flow& f : flows) waiting.emplace(f.latency, &f);
    out_.flows += flows.size();
    double now = 0;
    while (!waiting.empty() || simulation.under_way() > 0) {
      const double starts = waiting.empty() ? kUnlimitedRate : waiting.begin()->first;
      const double ends = simulation.under_way() > 0 ? simulation.next_end() : kUnlimitedRate;
      now = std::min(starts, ends);
      if (starts <= ends) {
        for (; !waiting.empty() && waiting.begin()->first == now; waiting.erase(waiting.begin())) {
          simulation.start(now, waiting.begin()->second->uses, waiting.begin()->second->bytes);
        }
      } else {
        simulation.end_next();
      }
    }
    return now;
  }

  struct Progress {
    std::vector<Flow> flows;
    std::vector<std::uint32_t> successors;
    std::uint32_t waits = 0;  // rounds that have not ended
    std::size_t under_way = 0;
  };

  // All rounds whose predecessors have ended at the same time. The repetitions of a round are one
  // flow for each send, with the bytes and the latencies of all.
  Result<double> side_by_side() {
    std::vector<Progress> rounds(program_.rounds.size());
    using Start = std::pair<double, std::pair<std::uint32_t, std::uint32_t>>;  // round, flow
    std::priority_queue<Start, std::vector<Start>, std::greater<>> waiting;
    std::size_t begun = 0;  // flows of rounds that have not ended
    // A round without sends ends as it begins. False: too many flows.
    const auto begin = [&](auto&& self, std::uint32_t i, double now) -> bool {
      Progress& p = rounds[i];
      if (begun + flows_at_most(program_.rounds[i]) > kMostFlows) {
        begun += flows_at_most(program_.rounds[i]);
        return false;
      }
      p.flows = flows_of(program_.rounds[i]);
      p.under_way = p.flows.size();
      begun += p.flows.size();
      out_.flows += p.flows.size();
      for (std::uint32_t f = 0; f < p.flows.size(); ++f) {
        waiting.push({now + p.flows[f].latency * program_.rounds[i].repeats, {i, f}});
      }
      if (!p.flows.empty()) return true;
      return std::ranges::all_of(p.successors, [&](std::uint32_t s) {
        return --rounds[s].waits > 0 || self(self, s, now);
      });
    };
    for (std::uint32_t i = 0; i < rounds.size(); ++i) {
      const Round& round = program_.rounds[i];
      std::vector<std::uint32_t> after = round.after;
      if (after.empty() && i > 0) after = {i - 1};
      for (const std::uint32_t a : after) rounds[a].successors.push_back(i);
      rounds[i].waits = static_cast<std::uint32_t>(after.size());
    }
    // Every other stands behind the first.
    if (!rounds.empty() && !begin(begin, 0, 0)) return too_many(begun);
    FlowSimulation simulation(capacities_);
    std::vector<std::uint32_t> round_of;  // of a flow under way
    double now = 0;
    while (!waiting.empty() || simulation.under_way() > 0) {
      const double starts = waiting.empty() ? kUnlimitedRate : waiting.top().first;
      const double ends = simulation.under_way() > 0 ? simulation.next_end() : kUnlimitedRate;
      now = std::min(starts, ends);
      if (starts <= ends) {
        for (; !waiting.empty() && waiting.top().first == now; waiting.pop()) {
          const auto [i, f] = waiting.top().second;
          const Flow& flow = rounds[i].flows[f];
          const FlowSimulation::Flow id =
              simulation.start(now, flow.uses, flow.bytes * program_.rounds[i].repeats);
          if (round_of.size() <= id) round_of.resize(id + 1);
          round_of[id] = i;
        }
        continue;
      }
      for (const FlowSimulation::Flow id : simulation.end_next()) {
        const std::uint32_t i = round_of[id];
        Progress& p = rounds[i];
        if (--p.under_way > 0) continue;
        begun -= p.flows.size();
        p.flows = {};
        for (const std::uint32_t s : p.successors) {
          if (--rounds[s].waits == 0 && !begin(begin, s, now)) return too_many(begun);
        }
      }
    }
    return now;
  }

  const Program& program_;
  double part_;  // bytes
  const Network& network_;
  std::span<const std::vector<std::uint32_t>> placements_;
  Routing routing_;
  std::uint32_t streams_;
  std::vector<double> capacities_;
  std::vector<double> loads_;
  ProgramRun out_;
};

}  // namespace

void route(const Network& network, std::uint32_t from, std::uint32_t to, Routing routing,
           std::uint64_t number, std::vector<double>& loads, std::vector<ResourceUse>& uses,
           Seconds& latency) {
  uses.clear();
  latency = Seconds(0);
  const auto add_link = [&](std::uint32_t link, double weight) {
    uses.push_back({link, weight});
    latency += network.links()[link].latency * weight;
  };
  if (from >= network.accelerators() || to >= network.accelerators()) {
    // Between an accelerator and the switches of its scale-up domain, evenly.
    const std::uint32_t accelerator = std::min(from, to);
    std::uint32_t links = 0;
    for (const DirectedLink& l : network.links_from(accelerator)) {
      if (network.scales_up(l)) ++links;
    }
    for (const DirectedLink& l : network.links_from(accelerator)) {
      if (!network.scales_up(l)) continue;
      const auto up = static_cast<std::uint32_t>(&l - network.links().data());
      const std::uint32_t link = from == accelerator ? up : network.reverse(up);
      add_link(link, 1.0 / links);
    }
    return;
  }
  LinkPath path;
  const std::uint64_t shortest = network.shortest_paths(from, to);
  if (routing == Routing::spray) {
    const std::uint64_t ways = network.paths(from, to) / shortest;
    for (std::uint64_t k = 0; k < ways; ++k) network.append_path(from, to, k * shortest, path);
    for (std::uint32_t& link : path) link = network.bundle(link).first;
    std::ranges::sort(path);
    for (std::size_t i = 0; i < path.size();) {
      std::size_t end = i;
      while (end < path.size() && path[end] == path[i]) ++end;
      const double share = static_cast<double>(end - i) / static_cast<double>(ways);
      uses.push_back({path[i], share / network.bundle(path[i]).links});
      latency += network.links()[path[i]].latency * share;
      i = end;
    }
    return;
  }
  std::uint64_t chosen = 0;
  if (routing == Routing::ecmp) {
    chosen = mixed(mixed((std::uint64_t{from} << 32) | to) + number) % shortest;
  } else {
    double least = kUnlimitedRate;
    // Where there are more, a sample that is even in every choice on the way, from another start for
    // each pair: steps near the golden section that share no divisor with the number of paths.
    std::uint64_t step = 1;
    if (shortest > kMostPlanned) {
      step = static_cast<std::uint64_t>(0.6180339887498949 * static_cast<double>(shortest)) | 1U;
      while (std::gcd(step, shortest) > 1) step += 2;
    }
    const std::uint64_t start =
        shortest > kMostPlanned ? mixed((std::uint64_t{from} << 32) | to) % shortest : 0;
    for (std::uint64_t i = 0; i < std::min(shortest, kMostPlanned); ++i) {
      const std::uint64_t k = (start + i * step) % shortest;
      path.clear();
      network.append_path(from, to, k, path);
      double most = 0;
      for (const std::uint32_t link : path) most = std::max(most, loads[link]);
      if (most < least) {
        least = most;
        chosen = k;
      }
    }
  }
  path.clear();
  network.append_path(from, to, chosen, path);
  for (const std::uint32_t link : path) {
    add_link(link, 1);
    if (routing == Routing::planned) loads[link] += 1 / network.links()[link].capacity.value();
  }
}

Result<ProgramRun> run(const Program& program, Bytes payload, const Network& network,
                       std::span<const std::vector<std::uint32_t>> placements, Routing routing,
                       std::uint32_t streams) {
  return Runner(program, payload, network, placements, routing, streams).run();
}

}  // namespace orrery
