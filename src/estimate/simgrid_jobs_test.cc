// Three jobs on one spine, by our simulation of whole communications that share links and by
// SimGrid's (CM02, factors 1, no TCP window) of every message of every round of their rings: the
// same slow-downs to 5 %. Compiled where SimGrid is installed (packages.txt, [oracle]).
#ifdef ORRERY_HAS_SIMGRID

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "estimate/shared_fabric.h"
#include "network/collective_comparison.h"
#include "network/max_min.h"
#include "network/program_run.h"

namespace orrery {
namespace {

namespace sg = simgrid::s4u;

constexpr int kSteps = 3;

// What SimGrid sees of one communication: the messages of one round that one card of every node sends.
// The other cards of a node have links of their own and do the same.
struct Ring {
  std::vector<std::vector<ResourceUse>> paths;
  std::uint32_t rounds = 0;
  std::uint64_t bytes = 0;  // of one message
  double latency = 0;       // s before the first round
};

struct Replayed {
  Graph graph;
  std::vector<double> durations;                         // s, by node
  std::map<std::uint32_t, std::optional<Ring>> ring_of;  // by operation
};

class RingReader {
 public:
  RingReader(const Cluster& fabric, const CostContext& context, const StepOnFabric& on)
      : context_(context), on_(on), levels_(fabric.levels) {
    Cluster at_large = fabric;
    at_large.levels =
        library_levels(fabric.levels, context.collectives, CollectiveKind::all_gather,
                       ProgramAlgorithm::ring, Protocol::simple, StepLatency::none, {});
    network_.emplace(*network_of(at_large));
  }
  [[nodiscard]] const Network& network() const { return *network_; }

  std::optional<Ring> operator()(const Operation& operation) const {
    if (operation.parts.size() != 1) return std::nullopt;
    const auto* c = std::get_if<Communication>(&operation.parts.front().what);
    if (c == nullptr) return std::nullopt;
    const CostContext& own = on_.step->costs.cache->context();
    const GroupShape& shape = on_.step->costs.layout->groups[c->group.value()].shape;
    if (shape.size <= 1 || c->payload < kLatencyBound * static_cast<double>(shape.size)) {
      return std::nullopt;
    }
    const CollectiveChoice choice =
        collective(c->collective, c->payload, shape, own.cluster.levels, own.collectives);
    EXPECT_EQ(choice.algorithm, CollectiveAlgorithm::ring);
    EXPECT_EQ(choice.protocol, Protocol::simple);
    EXPECT_EQ(c->times / c->pieces * c->exposed, 1);
    const auto ranks = static_cast<std::uint32_t>(shape.size);
    const auto program =
        program_of(ProgramAlgorithm::ring, c->collective, {.members = {kNode, ranks}, .pieces = 1});
    Ring out;
    out.latency = off_links(ProgramAlgorithm::ring, c->collective, c->payload,
                            communication_path(shape, own.cluster.levels, own.collectives),
                            choice.protocol, own.collectives)
                      ->value();
    EXPECT_EQ(program->rounds.size(), 1U);
    const Round& round = program->rounds.front();
    out.rounds = round.repeats;
    std::vector<double> loads;
    for (const Send& send : round.sends) {
      if (send.from % kNode != 0 || send.from / kNode == send.to / kNode) continue;
      out.bytes = static_cast<std::uint64_t>(
          std::llround(c->payload.value() * program->part_share * send.count));
      Seconds latency;
      route(*network_, on_.accelerators[send.from], on_.accelerators[send.to], Routing::spray, 0,
            loads, out.paths.emplace_back(), latency);
    }
    EXPECT_EQ(out.paths.size(), ranks / kNode);
    return out;
  }

 private:
  static constexpr std::uint32_t kNode = 8;
  const CostContext& context_;
  const StepOnFabric& on_;
  std::vector<FabricLevel> levels_;
  std::optional<Network> network_;
};

// Jobs that share a fabric of their own within the one engine a process may have. Every stream of a
// job's graph is an actor that runs its nodes in order; all jobs repeat their steps until each has
// done kSteps.
class Scene {
 public:
  Scene(const std::string& name, sg::NetZone* root, const Network& network)
      : zone_(sg::create_full_zone(name)), network_(network) {
    zone_->set_parent(root);
  }

  void add(const Replayed& replayed) {
    const std::string name = zone_->get_name() + std::to_string(jobs_.size());
    Job& job = *jobs_.emplace_back(std::make_unique<Job>());
    job.replayed = &replayed;
    const Graph& graph = replayed.graph;
    std::vector<std::vector<std::uint32_t>> nodes(graph.streams().size());
    job.waiting.resize(graph.size());
    for (std::uint32_t n = 0; n < graph.size(); ++n) {
      nodes[graph.stream(NodeIndex(n)).value()].push_back(n);
      job.done.push_back(sg::Semaphore::create(0));
      for (const std::uint32_t p : graph.predecessors(NodeIndex(n))) ++job.waiting[p];
    }
    std::erase_if(nodes, [](const auto& of_stream) { return of_stream.empty(); });
    job.barrier = sg::Barrier::create(static_cast<unsigned>(nodes.size()));
    for (std::size_t s = 0; s < nodes.size(); ++s) {
      sg::Host* host = zone_->create_host(name + "-" + std::to_string(s), 1e9)->seal();
      if (s == 0) {
        for (const auto& [operation, ring] : replayed.ring_of) {
          if (ring && job.ends.empty()) job.ends = ends_of(name, *ring);
        }
      }
      sg::Actor::create(host->get_name(), host, [this, &job, of_stream = nodes[s], first = s == 0] {
        run(job, of_stream, first);
      });
    }
  }
  void seal() { zone_->seal(); }

  // The mean time of the steps of a job that ended before all had done theirs.
  [[nodiscard]] double mean_step(std::size_t job) const {
    const std::vector<double>& ended = jobs_[job]->ended;
    return ended.back() / static_cast<double>(ended.size());
  }

 private:
  struct Job {
    const Replayed* replayed = nullptr;
    std::vector<sg::SemaphorePtr> done;  // by node
    std::vector<std::size_t> waiting;    // nodes that wait for it
    sg::BarrierPtr barrier;              // of the streams
    std::vector<std::pair<sg::Host*, sg::Host*>> ends;
    std::vector<double> ended;  // when its steps did
  };

  void run(Job& job, const std::vector<std::uint32_t>& nodes, bool first) {
    while (!over_) {
      for (const std::uint32_t n : nodes) run_node(job, n);
      job.barrier->wait();
      if (first) {
        job.ended.push_back(sg::Engine::get_clock());
        over_ = std::ranges::all_of(jobs_, [](const auto& j) { return j->ended.size() >= kSteps; });
      }
      job.barrier->wait();
    }
  }

  static void run_node(Job& job, std::uint32_t n) {
    const NodeIndex node(n);
    const Graph& graph = job.replayed->graph;
    for (const std::uint32_t p : graph.predecessors(node)) job.done[p]->acquire();
    const auto& ring = job.replayed->ring_of.at(graph.operation_index(node).value());
    sg::this_actor::sleep_for(ring ? ring->latency : job.replayed->durations[n]);
    for (std::uint32_t r = 0; ring && r < ring->rounds; ++r) {
      std::vector<sg::CommPtr> messages;
      for (const auto& [from, to] : job.ends) {
        messages.push_back(sg::Comm::sendto_async(from, to, ring->bytes));
      }
      sg::Comm::wait_all(messages);
    }
    for (std::size_t w = 0; w < job.waiting[n]; ++w) job.done[n]->release();
  }

  std::vector<std::pair<sg::Host*, sg::Host*>> ends_of(const std::string& job, const Ring& ring) {
    std::vector<std::pair<sg::Host*, sg::Host*>> out;
    for (const std::vector<ResourceUse>& path : ring.paths) {
      const std::string flow = job + "-ring" + std::to_string(out.size());
      sg::Host* from = zone_->create_host(flow + "from", 1e9)->seal();
      sg::Host* to = zone_->create_host(flow + "to", 1e9)->seal();
      std::vector<sg::LinkInRoute> route;
      for (const ResourceUse& use : path) {
        sg::Link*& link = links_[use.resource];
        if (link == nullptr) {
          // A spread flow puts its weight on each of equal links: together they are one.
          link = zone_->create_link(zone_->get_name() + std::to_string(use.resource),
                                    network_.links()[use.resource].capacity.value() / use.weight);
          link->set_latency(0)->seal();
        }
        route.emplace_back(link);
      }
      zone_->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
      out.emplace_back(from, to);
    }
    return out;
  }

  sg::NetZone* zone_;
  const Network& network_;
  std::map<std::uint32_t, sg::Link*> links_;
  std::vector<std::unique_ptr<Job>> jobs_;
  bool over_ = false;
};

// Of every third node of four pods, so that each job's ring crosses the spine twice.
std::string three_jobs() {
  std::string jobs;
  for (const auto& [name, sequence, first] :
       {std::tuple("a", 512, 0), std::tuple("b", 1024, 8), std::tuple("c", 2048, 16)}) {
    jobs += (jobs.empty() ? "" : ", ") + std::string("{name: ") + name +
            ", model: llama-3.1-8b, training: {sequence_length: " + std::to_string(sequence) +
            ", global_batch: 32}, plan: {tp: 1, dp: {sharding: zero-3}, micro_batch: 1}, "
            "accelerators: 32, every: 3, first: " +
            std::to_string(first) + "}";
  }
  return "{fabric: '" ORRERY_SOURCE_DIR "/examples/oversubscribed-pods.yaml:256', jobs: [" + jobs +
         "]}";
}

TEST(SimGridOracle, ThreeJobsOnOneSpine) {
  const Catalog& catalog = Catalog::built_in();
  DescribedJobs jobs = *read_jobs(*parse_yaml(three_jobs(), "jobs.yaml"), catalog);
  const CostContext context = *cost_context(jobs.fabric, catalog);
  std::vector<PredictedStep> steps;
  for (const DescribedJob& job : jobs.jobs) steps.push_back(*predict(job.spec.scenario, catalog));
  std::vector<StepOnFabric> all;
  for (std::size_t j = 0; j < steps.size(); ++j)
    all.push_back({&steps[j], jobs.jobs[j].accelerators});
  const auto together = simulate_on_fabric(context.cluster, all, kSteps);
  ASSERT_TRUE(together) << together.error().message;

  std::vector<Replayed> replayed;
  std::optional<Network> network;
  for (const StepOnFabric& on : all) {
    const RingReader ring(context.cluster, context, on);
    Replayed& job = replayed.emplace_back();
    job.graph = step_graph(on.step->costs, Folding::expanded)->graph;
    for (std::uint32_t n = 0; n < job.graph.size(); ++n) {
      job.durations.push_back(job.graph.duration(NodeIndex(n)).seconds().value());
      const std::uint32_t operation = job.graph.operation_index(NodeIndex(n)).value();
      if (!job.ring_of.contains(operation)) {
        job.ring_of[operation] = ring(job.graph.operation(NodeIndex(n)));
      }
    }
    if (!network) network = ring.network();
  }

  int argc = 1;
  std::string name = "oracle";
  std::array<char*, 2> argv = {name.data(), nullptr};
  sg::Engine engine(&argc, argv.data());
  for (const char* setting : {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
                              "network/latency-factor:1", "network/bandwidth-factor:1",
                              "network/weight-S:0", "maxmin/precision:1e-9"}) {
    sg::Engine::set_config(setting);
  }
  sg::NetZone* root = sg::create_full_zone("all");
  std::deque<Scene> scenes;
  for (const Replayed& job : replayed) {
    scenes.emplace_back("alone" + std::to_string(scenes.size()), root, *network).add(job);
  }
  Scene& beside = scenes.emplace_back("together", root, *network);
  for (const Replayed& job : replayed) beside.add(job);
  for (Scene& scene : scenes) scene.seal();
  root->seal();
  engine.run();

  for (std::size_t j = 0; j < replayed.size(); ++j) {
    const auto alone = simulate_on_fabric(context.cluster, std::span(&all[j], 1), kSteps);
    EXPECT_NEAR((*alone)[0].time.value() / scenes[j].mean_step(0), 1, 0.05) << "job " << j;
    const double slow_down = (*together)[j].time / (*alone)[0].time;
    const double by_simgrid = beside.mean_step(j) / scenes[j].mean_step(0);
    EXPECT_GT(slow_down, 1.1) << "job " << j;
    EXPECT_NEAR(slow_down / by_simgrid, 1, 0.05) << "job " << j;
  }
}

}  // namespace
}  // namespace orrery

#endif
