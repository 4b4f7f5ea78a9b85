#include "forecast/step_moments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "forecast/varying_factor.h"

namespace orrery {
namespace {

constexpr std::size_t kMostTerms = std::size_t{1} << 24;

struct Moments {
  double mean = 0;
  double deviation = 0;
};

// Of f(z), z the largest of n standard normal values: by the midpoint rule over its uniform.
template <typename Function>
Moments moments_of_slowest(double n, const Function& f) {
  constexpr int kSteps = 4096;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double x = f(slowest_of(std::log((i + 0.5) / kSteps), n));
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kSteps;
  return {mean, std::sqrt(std::max(squares / kSteps - mean * mean, 0.0))};
}

// A time in picoseconds, as step_moments.h writes it.
struct VaryingTime {
  double mean = 0;
  double network = 0;          // b
  double own = 0;              // variance of the rest, of this replica
  double shared = 0;           // variance of the rest, of all replicas
  std::vector<double> stages;  // a_s

  [[nodiscard]] double of_stages() const {
    double sum = 0;
    for (const double a : stages) sum += a * a;
    return sum;
  }
  [[nodiscard]] double variance() const { return of_stages() + network * network + own + shared; }
};

double covariance(const VaryingTime& a, const VaryingTime& b) {
  double sum = a.network * b.network;
  for (std::size_t s = 0; s < a.stages.size(); ++s) sum += a.stages[s] * b.stages[s];
  return sum;
}

// The larger of both into `a`. Of several times, the first one is where this begins: none is waited for
// from a zero, below which the law of a time with a large deviation has a part.
void wait_for(VaryingTime& a, const VaryingTime& b) {
  const double variance_a = a.variance();
  const double variance_b = b.variance();
  const double spread = variance_a + variance_b - 2 * covariance(a, b);
  const double apart = a.mean - b.mean;
  // Where they differ by six standard deviations or in nothing that varies, one of them is larger.
  if (spread <= 0 || apart * apart > 36 * spread) {
    if (apart < 0) a = b;
    return;
  }
  const double t = std::sqrt(spread);
  const double x = apart / t;
  const double p = std::erfc(-x / std::numbers::sqrt2) / 2;
  const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
  // Of the maximum less the mean of b.
  const double mean = apart * p + t * density;
  const double square =
      (apart * apart + variance_a) * p + variance_b * (1 - p) + apart * t * density;
  a.mean = b.mean + mean;
  const double own = p * a.own + (1 - p) * b.own;
  const double shared = p * a.shared + (1 - p) * b.shared;
  a.network = p * a.network + (1 - p) * b.network;
  for (std::size_t s = 0; s < a.stages.size(); ++s) {
    a.stages[s] = p * a.stages[s] + (1 - p) * b.stages[s];
  }
  const double rest = std::max(square - mean * mean - a.of_stages() - a.network * a.network, 0.0);
  const double share = own + shared > 0 ? own / (own + shared) : 1;
  a.own = rest * share;
  a.shared = rest - a.own;
}

// `latest` so far with one more; `waits` is whether there was one before.
void latest(VaryingTime& so_far, const VaryingTime& one, bool& waits) {
  if (waits) {
    wait_for(so_far, one);
  } else {
    so_far = one;
  }
  waits = true;
}

class MomentPass {
 public:
  MomentPass(const VaryingStep& work, const StepDraws& draws) : work_(work), draws_(draws) {
    for (std::size_t k = 0; k < kComputingKinds; ++k) {
      if (draws.still[k]) continue;
      const KernelSpread& spread = draws.variability.of(static_cast<VaryingWork>(k));
      factor_[k] = moments_of_slowest(static_cast<double>(work.lock_step()),
                                      VaryingFactor(spread.spatial, spread.spatial_law));
      temporal_[k] = spread.temporal;
    }
  }

  // The latest end of the nodes that no other waits for.
  VaryingTime makespan() {
    const Graph& graph = work_.step().folded.step.graph;
    constexpr std::size_t kNone = ~std::size_t{0};
    std::vector<VaryingTime> end(graph.size());
    std::vector<char> waited_for(graph.size());
    std::vector<std::size_t> last(graph.streams().size(), kNone);  // node of a stream
    auto rendezvous = graph.rendezvous().begin();
    std::vector<std::size_t> before;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const NodeIndex n(i);
      std::vector<StreamIndex> streams = {graph.stream(n)};
      if (rendezvous != graph.rendezvous().end() && rendezvous->first == n) {
        streams.insert(streams.end(), rendezvous->second.begin(), rendezvous->second.end());
        ++rendezvous;
      }
      before.assign(graph.predecessors(n).begin(), graph.predecessors(n).end());
      for (const StreamIndex s : streams) before.push_back(last[s.value()]);
      // A node that is waited for twice is the same time, and no maximum of two.
      std::ranges::sort(before);
      before.erase(std::ranges::unique(before).begin(), before.end());
      VaryingTime time{.stages = std::vector<double>(work_.devices())};
      bool waits = false;
      for (const std::size_t p : before) {
        if (p == kNone) continue;
        waited_for[p] = 1;
        latest(time, end[p], waits);
      }
      add(time, work_.shapes()[work_.shape_of(i)]);
      for (const StreamIndex s : streams) {
        if (graph.streams()[s.value()].role != StreamRole::wire) last[s.value()] = i;
      }
      end[i] = std::move(time);
    }
    VaryingTime out{.stages = std::vector<double>(work_.devices())};
    bool waits = false;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (waited_for[i] == 0) latest(out, end[i], waits);
    }
    return out;
  }

 private:
  void add(VaryingTime& time, const VaryingStep::Shape& shape) const {
    time.mean += shape.time;
    double noise = 0;
    for (std::size_t k = 0; k < kComputingKinds; ++k) {
      time.mean += shape.part[k] * (factor_[k].mean - 1);
      time.stages[shape.device] += shape.part[k] * factor_[k].deviation;
      noise += shape.part[k] * factor_[k].mean * temporal_[k];
    }
    time.own += noise * noise;
    const CommunicationSpread& c = draws_.variability.communication;
    for (std::size_t k = kComputingKinds; k < kVaryingWork; ++k) {
      const auto kind = static_cast<VaryingWork>(k);
      if (draws_.still[k] || shape.part[k] <= 0) continue;
      const double varies =
          shape.part[k] * (work_.between_nodes(kind) ? c.between_nodes : c.within_node);
      time.network += varies * std::sqrt(c.correlation);
      (kind == VaryingWork::dp ? time.shared : time.own) += varies * varies * (1 - c.correlation);
    }
  }

  const VaryingStep& work_;
  const StepDraws& draws_;
  std::array<Moments, kComputingKinds> factor_ = {Moments{1, 0}, Moments{1, 0}, Moments{1, 0}};
  std::array<double, kComputingKinds> temporal_{};
};

}  // namespace

std::optional<StepMoments> step_moments(const VaryingStep& work, const StepDraws& draws) {
  const Graph& graph = work.step().folded.step.graph;
  if (!draws.slow.empty() || work.step().plan().overlap.optimizer ||
      graph.size() > kMostTerms / work.devices()) {
    return std::nullopt;
  }
  const VaryingTime one = MomentPass(work, draws).makespan();
  const double replica = std::sqrt(one.of_stages() + one.own);
  const Moments slowest =
      work.replicas() == 1
          ? Moments{0, 1}
          : moments_of_slowest(static_cast<double>(work.replicas()), [](double z) { return z; });
  const double deviation = std::sqrt(one.network * one.network + one.shared +
                                     replica * replica * slowest.deviation * slowest.deviation);
  return StepMoments{Picoseconds(std::round(one.mean + replica * slowest.mean)).seconds(),
                     Picoseconds(std::round(deviation)).seconds()};
}

}  // namespace orrery
