// SWARM: every stage is served by several peers, and every microbatch takes its own route.
//
//   p peers, `group` (by default 2) per stage on average, p/group stages. A trainer sends its
//   microbatches stage by stage by interleaved weighted round robin: to the peer of the next stage
//   with the smallest key, which then grows by 1/u, where u is the peer's throughput. Each of
//   `group` trainers (microbatch j belongs to trainer j mod group) has its own keys, with random
//   initial values below 1/u given by the seed. A peer runs what has arrived, backwards first; 3p
//   microbatches are in flight at a time. The peers were rebalanced before: they move from the
//   stage with the highest throughput to the one with the lowest as long as this raises the lowest.
//
//   The parameters of a step are updated while the next one runs, one update late.
//
//   With many microbatches, throughput tends to the least, over the stages, of the sum of u of
//   its peers; u = speed/(F + BW).
//
// Source: arXiv 2301.11913 (stochastic wiring, adaptive rebalancing). Not modelled: a peer that
// fails during a pass (the microbatch is sent to another, which costs its transfer and the lost
// pass), the download of a state, compression.
#include <algorithm>
#include <random>

#include "schedule/list_scheduling.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

constexpr int kDefaultPeers = 2;
// Microbatches per peer; with fewer, some peers may get none by chance.
constexpr int kUnderWay = 3;

int peers_of(const ScheduleRequest& request) {
  return request.group > 0 ? request.group : std::min(kDefaultPeers, request.shape.devices);
}

std::vector<std::string> swarm_problems(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  const int peers = peers_of(request);
  std::vector<std::string> out;
  if (peers > shape.devices || shape.devices % peers != 0) {
    out.push_back("swarm has the same number of peers for every stage to begin with: " +
                  std::to_string(shape.devices) + " devices are not a multiple of " +
                  std::to_string(peers));
  }
  if (shape.microbatches > 0xffff) {
    out.push_back("swarm wires at most 65535 microbatches, each its own way, not " +
                  std::to_string(shape.microbatches));
  }
  return out;
}

// Before the swarm settles, with the default number of peers.
int virtual_stage(const PipelineShape& shape, int device, int) {
  return device % std::max(1, shape.devices / std::min(kDefaultPeers, shape.devices));
}

class Swarm {
 public:
  Swarm(const ScheduleRequest& request, const PipelineTimes& times)
      : shape_(request.shape),
        times_(times),
        peers_(static_cast<std::size_t>(peers_of(request))),
        devices_(static_cast<std::size_t>(shape_.devices)),
        stages_(devices_ / peers_),
        serves_(stages_),
        random_(request.seed) {
    for (std::uint32_t d = 0; d < devices_; ++d) serves_[d % stages_].push_back(d);
    settle();
  }

  Pipeline wired() {
    Pipeline out;
    out.shape = shape_;
    out.peers = static_cast<int>(peers_);
    out.weight_versions.assign(devices_, 1);
    out.stage.resize(devices_);
    out.order.resize(devices_);
    for (std::size_t s = 0; s < stages_; ++s) {
      for (const std::uint32_t d : serves_[s]) out.stage[d] = static_cast<std::uint32_t>(s);
    }
    std::vector<Keys> trainers;
    for (std::size_t t = 0; t < peers_; ++t) trainers.push_back(random_keys());
    const auto m = static_cast<std::size_t>(shape_.microbatches);
    for (std::size_t j = 0; j < m; ++j) {
      out.route.push_back(static_cast<std::uint16_t>(j));
      for (std::size_t s = 0; s < stages_; ++s) {
        out.seats.push_back({next(trainers[j % peers_], s), 0});
      }
    }
    return list_scheduled(std::move(out), times_, kUnderWay * shape_.devices);
  }

 private:
  using Keys = std::vector<double>;  // by device

  // What one pass takes there, ps.
  [[nodiscard]] double pass(std::size_t s, std::size_t device) const {
    const StageTimes& stage = times_.stage[s];
    return times_.on(device, stage.forward + stage.backward).count();
  }

  [[nodiscard]] double throughput(std::size_t s) const {
    double sum = 0;
    for (const std::uint32_t d : serves_[s]) sum += 1 / std::max(pass(s, d), 1.0);
    return sum;
  }

  [[nodiscard]] std::vector<double> throughputs() const {
    std::vector<double> out;
    for (std::size_t s = 0; s < stages_; ++s) out.push_back(throughput(s));
    return out;
  }

  void settle() {
    for (;;) {
      const std::vector<double> now = throughputs();
      const auto least = std::ranges::min_element(now);
      const auto most = std::ranges::max_element(now);
      const auto to = static_cast<std::size_t>(least - now.begin());
      const auto from = static_cast<std::size_t>(most - now.begin());
      if (from == to || serves_[from].size() == 1) return;
      const std::uint32_t mover = serves_[from].back();
      serves_[from].pop_back();
      serves_[to].push_back(mover);
      const std::vector<double> then = throughputs();
      if (*std::ranges::min_element(then) > *least) continue;
      serves_[to].pop_back();
      serves_[from].push_back(mover);
      return;
    }
  }

  Keys random_keys() {
    Keys out(devices_);
    for (std::size_t s = 0; s < stages_; ++s) {
      for (const std::uint32_t d : serves_[s]) {
        // 53 bits of the engine: the same number everywhere.
        out[d] = static_cast<double>(random_() >> 11) * 0x1p-53 * pass(s, d);
      }
    }
    return out;
  }

  std::uint32_t next(Keys& keys, std::size_t s) const {
    const auto least = std::ranges::min_element(serves_[s], [&](std::uint32_t a, std::uint32_t b) {
      return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
    });
    keys[*least] += pass(s, *least);
    return *least;
  }

  PipelineShape shape_;
  const PipelineTimes& times_;
  std::size_t peers_, devices_, stages_;
  std::vector<std::vector<std::uint32_t>> serves_;  // the peers of each stage
  std::mt19937_64 random_;
};

Result<Pipeline> swarm_order(const ScheduleRequest& request) {
  const PipelineTimes times = times_or_unit(request);
  return Swarm(request, times).wired();
}

}  // namespace

const Schedule kSwarm{
    .name = "swarm",
    .summary = "several peers a stage, every microbatch on its own way (arXiv 2301.11913)",
    .chunks = 1,
    .made_for_times = true,
    .asynchronous = true,
    .problems = swarm_problems,
    .virtual_stage = virtual_stage,
    .pipeline = swarm_order};

}  // namespace orrery
