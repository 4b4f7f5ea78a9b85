#include "forecast/step_samples.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "forecast/time_law.h"
#include "forecast/varying_factor.h"
#include "lower/shard_moves.h"
#include "parallel/random_draws.h"

namespace orrery {
namespace {

constexpr std::size_t kBatchesAtOnce = 8;  // of one set of buffers

// What a draw is for (random_draws.h).
enum StepPurpose : std::uint64_t {
  for_network,         // the state of the network
  for_slow_cell,       // of a stage: its slowest replicas
  for_slow_replica,    // which replicas those are
  for_other_cell,      // of a stage and a replica
  for_slow_node_cell,  // of the slow accelerators of a cell
  for_pass_noise,      // of a node of a replica
  for_communication,   // and one for each kind of work
};

std::optional<VaryingWork> kind_of(Category category) {
  switch (category) {
    case Category::attention_projection:
    case Category::feed_forward:
    case Category::experts:
    case Category::logits:
    case Category::convolution:
    case Category::contention:
    case Category::recompute:
      return VaryingWork::products;
    case Category::attention_core:
      return VaryingWork::attention;
    case Category::router:
    case Category::normalization:
    case Category::elementwise:
    case Category::embedding:
    case Category::loss:
    case Category::optimizer:
      return VaryingWork::memory_bound;
    case Category::exposed_tp:
      return VaryingWork::tp;
    case Category::exposed_cp:
      return VaryingWork::cp;
    case Category::exposed_ep:
      return VaryingWork::ep;
    case Category::exposed_pp:
      return VaryingWork::pp;
    case Category::exposed_dp:
      return VaryingWork::dp;
    case Category::bubble:
    case Category::host:
      break;
  }
  return std::nullopt;
}

std::size_t at(VaryingWork kind) { return static_cast<std::size_t>(kind); }
bool computes(std::size_t kind) { return kind < kComputingKinds; }

std::array<double, kVaryingWork> parts_of(const StepGraph& step, NodeIndex n) {
  std::array<double, kVaryingWork> out{};
  const Operation& operation = step.graph.operation(n);
  const auto add = [&](Category category, Picoseconds time) {
    if (const auto kind = kind_of(category)) out[at(*kind)] += time.count();
  };
  if (operation.kind == NodeKind::block) {
    const Breakdown& breakdown = step.blocks[operation.block];
    for (std::size_t c = 0; c < kCategories; ++c) add(static_cast<Category>(c), breakdown.time[c]);
  } else if (operation.kind == NodeKind::collective &&
             operation.category == index(Category::optimizer)) {
    out[at(VaryingWork::dp)] = step.graph.duration(n).count();  // the gradient norm
  } else {
    add(static_cast<Category>(operation.category), step.graph.duration(n));
  }
  return out;
}

// Whether data-parallel ranks meet within the passes.
bool replicas_meet(const PredictedStep& step) {
  const Plan& plan = step.plan();
  const ShardMoves moves = shard_moves(plan, step.priced->cache.context().software);
  return (plan.zero == 3 && moves.weights != ShardMove::each_step) ||
         (plan.zero >= 2 && moves.gradients != ShardMove::each_step);
}

// The standard normal quantile from a table, linear between its points and exact in the tails: off
// by less than 1e-4 standard deviations, which is more than any spread is known with.
class NormalTable {
 public:
  NormalTable() {
    for (std::size_t i = kTail; i <= kCells - kTail; ++i) {
      quantiles_[i] = normal_quantile(static_cast<double>(i) / kCells);
    }
  }
  double operator()(double u) const {
    const double at = u * kCells;
    const auto i = static_cast<std::size_t>(at);
    if (i < kTail || i >= kCells - kTail) return normal_quantile(u);
    return quantiles_[i] + (at - static_cast<double>(i)) * (quantiles_[i + 1] - quantiles_[i]);
  }

 private:
  static constexpr std::size_t kCells = 2048, kTail = 24;
  std::array<double, kCells + 1> quantiles_{};
};
const NormalTable& normal_table() {
  static const NormalTable kTable;
  return kTable;
}

// To whole picoseconds; adding 2^52 leaves a double no room for a fraction.
double whole(double picoseconds) { return (picoseconds + 0x1p52) - 0x1p52; }

using LaneValues = std::array<double, kLanes>;

// exp to 1e-8, and exactly at 0, in a form without calls that compilers turn into vector
// instructions: 2^k times the series of the rest. For |x| < 700.
LaneValues exp_of(const LaneValues& x) {
  constexpr double kRound = 0x1.8p52;  // leaves a double no room for a fraction
  LaneValues out;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const double t = x[i] * std::numbers::log2e;
    const double rounded = t + kRound;
    const double r = (t - (rounded - kRound)) * std::numbers::ln2;
    const double series =
        1 +
        r * (1 + r * (1. / 2 +
                      r * (1. / 6 + r * (1. / 24 + r * (1. / 120 + r * (1. / 720 + r / 5040))))));
    out[i] = series * std::bit_cast<double>((std::bit_cast<std::uint64_t>(rounded) + 1023) << 52);
  }
  return out;
}

// A stage of a replica whose uniform is among the largest of the stage.
struct SlowCell {
  std::int64_t replica = 0;
  double log_u = 0;
};

class StepSampler {
 public:
  StepSampler(const VaryingStep& work, const StepDraws& draws)
      : work_(work),
        draws_(draws),
        graph_(work.step().folded.step.graph),
        candidates_(std::min<std::size_t>(draws.candidates,
                                          std::bit_floor(static_cast<std::size_t>(
                                              std::min<std::int64_t>(work.replicas(), kLanes))))),
        slowest_(std::max(kSlowest, candidates_)) {
    if (work.replicas() <= static_cast<std::int64_t>(slowest_)) slowest_ = 0;
    for (std::size_t k = 0; k < kVaryingWork; ++k) {
      const auto kind = static_cast<VaryingWork>(k);
      const CommunicationSpread& c = draws.variability.communication;
      const double variation = work.between_nodes(kind) ? c.between_nodes : c.within_node;
      communication_.emplace_back(
          computes(k) || draws.still[k] ? 0 : variation,
          work.between_nodes(kind) ? c.between_nodes_law : c.within_node_law);
      if (!computes(k)) continue;
      const KernelSpread of_kind = spread(kind);
      spatial_.emplace_back(of_kind.spatial, of_kind.spatial_law);
      temporal_[k] = of_kind.temporal;
      if (of_kind.temporal_law && of_kind.temporal > 0) {
        temporal_form_[k].emplace(*of_kind.temporal_law);
      }
    }
    shared_ = std::sqrt(draws.variability.communication.correlation);
    own_ = std::sqrt(1 - draws.variability.communication.correlation);
  }

  [[nodiscard]] std::size_t kept() const { return candidates_; }
  [[nodiscard]] std::size_t samples_at_once() const { return kLanes / candidates_; }

  // Samples [first, first + samples_at_once()), `kept` times each.
  void sample(std::int64_t first, std::span<double> times) {
    for (std::size_t s = 0; s < samples_at_once(); ++s) {
      choose_replicas(first + static_cast<std::int64_t>(s), s * candidates_);
    }
    draw_nodes();
    const LaneValues makespans = simulate_lanes<kLanes>(graph_, durations_, ends_);
    const LaneValues step = work_.step().plan().overlap.optimizer ? windows() : makespans;
    std::ranges::copy_n(step.begin(), static_cast<std::ptrdiff_t>(times.size()), times.begin());
    for (std::size_t s = 0; s < times.size(); s += candidates_) {
      std::ranges::sort(times.subspan(s, candidates_), std::ranges::greater{});
    }
  }

 private:
  // A replica that is simulated in a lane, or may be.
  struct Candidate {
    std::int64_t replica = 0;
    double rank = 0;
    std::vector<std::array<double, kComputingKinds>> factors;  // by stage
  };

  [[nodiscard]] KernelSpread spread(VaryingWork kind) const {
    return draws_.still[at(kind)] ? KernelSpread() : draws_.variability.of(kind);
  }

  // The slowest replicas of every stage.
  void draw_slow_cells(const RandomDraws& random) {
    const auto replicas = static_cast<double>(work_.replicas());
    slow_cells_.resize(work_.devices() * slowest_);
    for (std::size_t stage = 0; stage < work_.devices(); ++stage) {
      double log_u = 0;
      std::uint64_t tries = 0;
      for (std::size_t j = 0; j < slowest_; ++j) {
        SlowCell* const cells = &slow_cells_[stage * slowest_];
        log_u += std::log(random.uniform(for_slow_cell, (stage << 32) + j)) /
                 (replicas - static_cast<double>(j));
        cells[j].log_u = log_u;
        do {
          cells[j].replica = static_cast<std::int64_t>(
              replicas * random.uniform(for_slow_replica, (stage << 32) + tries++));
        } while (std::any_of(cells, cells + j,
                             [&](const SlowCell& c) { return c.replica == cells[j].replica; }));
      }
    }
  }

  // ln u of a stage of a replica, given the slowest.
  [[nodiscard]] double log_u(const RandomDraws& random, std::size_t stage,
                             std::int64_t replica) const {
    const std::span cells = std::span(slow_cells_).subspan(stage * slowest_, slowest_);
    for (const SlowCell& c : cells) {
      if (c.replica == replica) return c.log_u;
    }
    const std::uint64_t cell = static_cast<std::uint64_t>(replica) * work_.devices() + stage;
    return std::log(random.uniform(for_other_cell, cell)) +
           (cells.empty() ? 0 : cells.back().log_u);
  }

  // What an accelerator's state makes of the kernels of a stage, the slowest of the lock-step group.
  [[nodiscard]] std::array<double, kComputingKinds> factors(const RandomDraws& random,
                                                            std::size_t stage,
                                                            std::int64_t replica) const {
    const auto group = static_cast<double>(work_.lock_step());
    double slow_group = 0;
    double slower = 1;
    for (const SlowNodes& slow : draws_.slow) {
      const double left = static_cast<double>(slow.nodes * work_.node_size(stage)) -
                          group * static_cast<double>(replica);
      if (slow.stage != static_cast<std::int64_t>(stage) || left <= 0) continue;
      slow_group = std::min(left, group);
      slower = slow.time;
    }
    const double u = log_u(random, stage, replica);
    const double z = slow_group < group ? slowest_of(u, group - slow_group) : slowest_of(u, group);
    std::array<double, kComputingKinds> out;
    for (std::size_t k = 0; k < kComputingKinds; ++k) {
      out[k] = spatial_[k](z) * (slow_group < group ? 1 : slower);
    }
    if (slow_group > 0 && slow_group < group) {
      const std::uint64_t cell = static_cast<std::uint64_t>(replica) * work_.devices() + stage;
      const double slow_z =
          slowest_of(std::log(random.uniform(for_slow_node_cell, cell)), slow_group);
      for (std::size_t k = 0; k < kComputingKinds; ++k) {
        out[k] = std::max(out[k], spatial_[k](slow_z) * slower);
      }
    }
    return out;
  }

  // Replicas that may be the slowest: with a slow stage or a slow node; all, where they are few.
  [[nodiscard]] std::vector<std::int64_t> replicas_to_rank() const {
    std::vector<std::int64_t> out;
    if (slowest_ == 0) {
      for (std::int64_t r = 0; r < work_.replicas(); ++r) out.push_back(r);
      return out;
    }
    for (const SlowCell& c : slow_cells_) out.push_back(c.replica);
    for (const SlowNodes& slow : draws_.slow) {
      const std::int64_t slowed =
          slow.nodes * work_.node_size(static_cast<std::size_t>(slow.stage));
      const std::int64_t hit = (slowed + work_.lock_step() - 1) / work_.lock_step();
      for (std::int64_t r = 0; r < std::min(hit, work_.replicas()); ++r) out.push_back(r);
    }
    std::ranges::sort(out);
    out.erase(std::ranges::unique(out).begin(), out.end());
    return out;
  }

  void choose_replicas(std::int64_t sample, std::size_t lane) {
    const RandomDraws random(draws_.seed, static_cast<std::uint64_t>(sample));
    draw_slow_cells(random);
    std::vector<Candidate> candidates;
    for (const std::int64_t replica : replicas_to_rank()) {
      Candidate c{replica, 0, {}};
      double longest = 0;
      double through = 0;
      for (std::size_t stage = 0; stage < work_.devices(); ++stage) {
        c.factors.push_back(factors(random, stage, replica));
        double busy = 0;
        for (std::size_t k = 0; k < kComputingKinds; ++k) {
          busy += work_.parts(stage)[k] * c.factors[stage][k];
        }
        longest = std::max(longest, busy);
        through += busy / work_.passes(stage);
      }
      c.rank = longest + through;
      candidates.push_back(std::move(c));
    }
    std::ranges::partial_sort(candidates,
                              candidates.begin() + static_cast<std::ptrdiff_t>(candidates_),
                              std::ranges::greater{}, &Candidate::rank);
    for (std::size_t i = 0; i < candidates_; ++i) {
      random_[lane + i] = random;
      replica_[lane + i] = static_cast<std::uint64_t>(candidates[i].replica);
      network_[lane + i] = shared_ * normal_quantile(random.uniform(for_network, 0));
      factors_[lane + i] = std::move(candidates[i].factors);
    }
  }

  // Of every shape in every lane: its time without noise, and how much a standard deviation adds, of
  // the kinds whose noise is normal and of each kind that has a form.
  void draw_shapes() {
    const auto shapes = work_.shapes();
    fixed_.resize(shapes.size());
    noise_.resize(shapes.size());
    for (std::size_t k = 0; k < kComputingKinds; ++k) {
      if (temporal_form_[k]) formed_noise_[k].resize(shapes.size());
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const VaryingStep::Shape& shape = shapes[i];
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        double fixed = shape.time;
        double noise = 0;
        for (std::size_t k = 0; k < kComputingKinds; ++k) {
          const double factor = factors_[lane][shape.device][k];
          fixed += shape.part[k] * (factor - 1);
          const double of_kind = shape.part[k] * factor * temporal_[k];
          if (temporal_form_[k]) {
            formed_noise_[k][i][lane] = of_kind;
          } else {
            noise += of_kind;
          }
        }
        fixed_[i][lane] = fixed;
        noise_[i][lane] = noise;
      }
    }
  }

  void draw_nodes() {
    draw_shapes();
    const std::uint64_t nodes = graph_.size();
    const NormalTable& normal = normal_table();
    durations_.resize(nodes * kLanes);
    ends_.resize(nodes * kLanes);
    for (std::size_t n = 0; n < nodes; ++n) {
      const std::size_t i = work_.shape_of(n);
      const VaryingStep::Shape& shape = work_.shapes()[i];
      LaneValues time = fixed_[i];
      if (is_noisy(i)) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          const double u = random_[lane].uniform(for_pass_noise, replica_[lane] * nodes + n);
          const double z = normal(u);
          time[lane] += noise_[i][lane] * z;
          for (std::size_t k = 0; k < kComputingKinds; ++k) {
            if (temporal_form_[k])
              time[lane] += formed_noise_[k][i][lane] * (*temporal_form_[k])(z);
          }
        }
      }
      for (std::size_t k = kComputingKinds; k < kVaryingWork; ++k) {
        const VaryingFactor& varies = communication_[k];
        const double s = varies.log_normal.s;
        if (shape.part[k] <= 0 || s <= 0) continue;
        const bool all_replicas = static_cast<VaryingWork>(k) == VaryingWork::dp;
        LaneValues z;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          const std::uint64_t member = all_replicas ? 0 : replica_[lane];
          const double u = random_[lane].uniform(for_communication + k, member * nodes + n);
          z[lane] = network_[lane] + own_ * normal(u);
        }
        LaneValues factor;
        if (varies.has_form()) {
          for (std::size_t lane = 0; lane < kLanes; ++lane) factor[lane] = varies(z[lane]);
        } else {
          for (std::size_t lane = 0; lane < kLanes; ++lane) z[lane] = s * (z[lane] - s / 2);
          factor = exp_of(z);
        }
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          time[lane] += shape.part[k] * (factor[lane] - 1);
        }
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        durations_[kLanes * n + lane] = whole(std::max(time[lane], 0.0));
      }
    }
  }

  [[nodiscard]] bool is_noisy(std::size_t shape) const {
    if (noise_[shape][0] > 0) return true;
    return std::ranges::any_of(formed_noise_, [shape](const std::vector<LaneValues>& noise) {
      return !noise.empty() && noise[shape][0] > 0;
    });
  }

  // As step_time(windows()) of lower/step_window.h, of every lane.
  [[nodiscard]] LaneValues windows() const {
    std::vector<std::array<VaryingStep::Window, kLanes>> window(work_.devices());
    std::vector<char> seen(work_.devices());
    for (std::size_t n = 0; n < graph_.size(); ++n) {
      const Stream& stream = graph_.stream_of(NodeIndex(n));
      if (!in_window(stream)) continue;
      auto& of_device = window[stream.rank_class];
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        VaryingStep::Window& w = of_device[lane];
        const double end = ends_[kLanes * n + lane];
        const double start = end - durations_[kLanes * n + lane];
        w.from = seen[stream.rank_class] != 0 ? std::min(w.from, start) : start;
        w.until = std::max(w.until, end);
      }
      seen[stream.rank_class] = 1;
    }
    LaneValues longest{};
    for (const auto& of_device : window) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        longest[lane] = std::max(longest[lane], of_device[lane].until - of_device[lane].from);
      }
    }
    return longest;
  }

  const VaryingStep& work_;
  const StepDraws& draws_;
  const Graph& graph_;
  std::vector<VaryingFactor> spatial_;  // of the kinds that compute
  std::array<double, kComputingKinds> temporal_{};
  std::array<std::optional<StandardForm>, kComputingKinds> temporal_form_;
  std::vector<VaryingFactor> communication_;
  double shared_ = 0, own_ = 1;
  std::size_t candidates_;
  std::size_t slowest_;
  std::vector<SlowCell> slow_cells_;
  // By lane.
  std::vector<RandomDraws> random_ = std::vector<RandomDraws>(kLanes, RandomDraws(0, 0));
  std::array<std::uint64_t, kLanes> replica_{};
  LaneValues network_{};
  std::array<std::vector<std::array<double, kComputingKinds>>, kLanes> factors_;
  // By shape, and by node and lane.
  std::vector<LaneValues> fixed_, noise_;
  std::array<std::vector<LaneValues>, kComputingKinds> formed_noise_;  // empty: without a form
  std::vector<double> durations_, ends_;
};

}  // namespace

Fields<SlowNodes> fields_of(const SlowNodes*) {
  return Fields<SlowNodes>("slow node")
      .required<&SlowNodes::stage>("pipeline stage, from 0")
      .optional<&SlowNodes::nodes>("how many, in the first replicas of the stage")
      .optional<&SlowNodes::time>("of their kernels, over that of other nodes");
}

VaryingStep::VaryingStep(const PredictedStep& step)
    : step_(&step),
      parts_(static_cast<std::size_t>(step.costs.shape.devices)),
      passes_(parts_.size()) {
  const StepGraph& folded = step.folded.step;
  for (std::size_t i = 0; i < folded.graph.size(); ++i) {
    const NodeIndex n(i);
    const Shape shape{folded.graph.stream_of(n).rank_class, folded.graph.duration(n).count(),
                      parts_of(folded, n)};
    const auto known = std::ranges::find(shapes_, shape);
    shape_of_node_.push_back(static_cast<std::uint32_t>(known - shapes_.begin()));
    if (known == shapes_.end()) shapes_.push_back(shape);
    if (folded.graph.kind(n) == NodeKind::block) passes_[shape.device] += 0.5;
    for (std::size_t k = 0; k < kVaryingWork; ++k) parts_[shape.device][k] += shape.part[k];
  }
  for (double& passes : passes_) passes = std::max(passes, 1.0);
  const RankLayout& layout = *step.costs.layout;
  const auto see = [this](const RankLayout& seen) {
    const auto leaves_node = [](const GroupShape& g) { return g.members.front() < g.size; };
    between_nodes_[at(VaryingWork::tp)] |= leaves_node(seen.tp);
    between_nodes_[at(VaryingWork::cp)] |= leaves_node(seen.cp);
    between_nodes_[at(VaryingWork::ep)] |= leaves_node(seen.ep);
    between_nodes_[at(VaryingWork::pp)] |= leaves_node(seen.pp);
    between_nodes_[at(VaryingWork::dp)] |= leaves_node(seen.world);
  };
  see(layout);
  for (const StepCosts& site : step.costs.sites) see(*site.layout);
  const Plan& plan = step.plan();
  const std::int64_t ranks = step.cluster().accelerators / static_cast<std::int64_t>(devices());
  lock_step_ = replicas_meet(step) && step.costs.replicated()
                   ? ranks
                   : std::max(plan.tp * plan.cp, std::int64_t{layout.etp.size} * layout.ep.size);
  replicas_ = std::max<std::int64_t>(ranks / lock_step_, 1);
}

StepSamples sample_steps(const VaryingStep& work, const StepDraws& draws, std::int64_t samples,
                         int threads, const Progressed& progressed) {
  const StepSampler first(work, draws);
  const std::size_t kept = first.kept();
  const std::size_t at_once = first.samples_at_once() * kBatchesAtOnce;
  const auto count = static_cast<std::size_t>(samples);
  StepSamples out{kept, std::vector<double>(count * kept)};
  const auto sample_job = [&](std::size_t job) {
    StepSampler sampler = first;
    const std::size_t last = std::min((job + 1) * at_once, count);
    for (std::size_t i = job * at_once; i < last; i += sampler.samples_at_once()) {
      const std::size_t some = std::min(sampler.samples_at_once(), last - i);
      sampler.sample(static_cast<std::int64_t>(i),
                     std::span(out.times_ps).subspan(i * kept, some * kept));
    }
  };
  parallel_for((count + at_once - 1) / at_once, threads_to_use(threads), sample_job, progressed);
  return out;
}

}  // namespace orrery
