// Flows that share links by our own engine and by SimGrid's (CM02, factors 1, no TCP window), on
// random networks: the same times. Compiled where SimGrid is installed (packages.txt, [oracle]).
#ifdef ORRERY_HAS_SIMGRID

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "network/max_min.h"

namespace orrery {
namespace {

namespace sg = simgrid::s4u;

constexpr int kCases = 1000;

struct Sent {
  std::vector<std::uint32_t> links;
  std::uint64_t bytes = 0;
  double ours = 0;
  double simgrid = 0;
};

struct Net {
  std::vector<double> capacities;
  std::vector<Sent> flows;
};

Net random_net(std::mt19937_64& engine) {
  Net out;
  const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(engine() % n); };
  const std::uint32_t links = 1 + below(10);
  for (std::uint32_t l = 0; l < links; ++l) out.capacities.push_back(1e6 * (1 + below(50)));
  const std::uint32_t flows = 1 + below(15);
  for (std::uint32_t f = 0; f < flows; ++f) {
    std::set<std::uint32_t> path;
    const std::uint32_t hops = 1 + below(4);
    for (std::uint32_t h = 0; h < hops; ++h) path.insert(below(links));
    out.flows.push_back({{path.begin(), path.end()}, std::uint64_t{1'000'000} * (1 + below(40))});
  }
  return out;
}

void simulate_by_us(Net& net) {
  FlowSimulation simulation(net.capacities);
  std::vector<std::size_t> flow_of;
  for (std::size_t f = 0; f < net.flows.size(); ++f) {
    std::vector<ResourceUse> uses;
    for (const std::uint32_t l : net.flows[f].links) uses.push_back({l, 1});
    const auto id = simulation.start(0, uses, static_cast<double>(net.flows[f].bytes));
    if (flow_of.size() <= id) flow_of.resize(id + 1);
    flow_of[id] = f;
  }
  while (simulation.under_way() > 0) {
    const double time = simulation.next_end();
    for (const auto id : simulation.end_next()) net.flows[flow_of[id]].ours = time;
  }
}

// All cases at once in one engine, since a process may have no other; they have no link in common.
void simulate_by_simgrid(std::vector<Net>& nets) {
  int argc = 1;
  std::string name = "oracle";
  std::vector<char*> argv = {name.data(), nullptr};
  sg::Engine engine(&argc, argv.data());
  for (const char* setting :
       {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
        "network/latency-factor:1", "network/bandwidth-factor:1", "network/weight-S:0",
        "maxmin/precision:1e-9", "contexts/stack-size:64"}) {
    sg::Engine::set_config(setting);
  }
  sg::NetZone* root = sg::create_full_zone("all");
  for (std::size_t n = 0; n < nets.size(); ++n) {
    Net& net = nets[n];
    const std::string prefix = std::to_string(n) + "-";
    sg::NetZone* zone = sg::create_full_zone(prefix + "zone")->set_parent(root);
    std::vector<sg::Link*> links;
    for (std::size_t l = 0; l < net.capacities.size(); ++l) {
      links.push_back(zone->create_link(prefix + "link" + std::to_string(l), net.capacities[l])
                          ->set_latency(0)
                          ->seal());
    }
    for (std::size_t f = 0; f < net.flows.size(); ++f) {
      const std::string flow = prefix + std::to_string(f);
      sg::Host* from = zone->create_host(flow + "from", 1e9)->seal();
      sg::Host* to = zone->create_host(flow + "to", 1e9)->seal();
      std::vector<sg::LinkInRoute> path;
      for (const std::uint32_t l : net.flows[f].links) path.emplace_back(links[l]);
      zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, path, false);
      Sent* sent = &net.flows[f];
      sg::Actor::create(flow, from, [from, to, sent] {
        sg::Comm::sendto(from, to, sent->bytes);
        sent->simgrid = sg::Engine::get_clock();
      });
    }
    zone->seal();
  }
  root->seal();
  engine.run();
}

TEST(SimGridOracle, ThousandRandomNetworks) {
  std::mt19937_64 random(14);
  std::vector<Net> nets;
  for (int i = 0; i < kCases; ++i) nets.push_back(random_net(random));
  for (Net& net : nets) simulate_by_us(net);
  simulate_by_simgrid(nets);
  for (std::size_t n = 0; n < nets.size(); ++n) {
    for (std::size_t f = 0; f < nets[n].flows.size(); ++f) {
      const Sent& sent = nets[n].flows[f];
      EXPECT_NEAR(sent.ours / sent.simgrid, 1, 1e-5) << "network " << n << ", flow " << f;
    }
  }
}

}  // namespace
}  // namespace orrery

#endif
