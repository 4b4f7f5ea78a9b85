// Samples of the time of a step: Monte Carlo over the folded graph, several samples a pass.
//
//   time of a node = d + sum over kinds of work k of  b_k (f_k - 1),  in whole picoseconds
//   f_k = (accelerator's factor) x (pass's factor), or the factor of a communication
//
// d and b_k are the node's predicted time and its parts (variability.h has the factors). Without
// spread every f is 1, and a sample is the predicted step to the bit.
//
// Lock step. Ranks that meet in every layer (tensor- and context-parallel ranks, those that
// exchange tokens, and data-parallel ranks where parameters are gathered or gradients reduced in
// every pass) all take the time of the slowest: n accelerators a stage share one factor, whose z is
// drawn as the maximum of n, at u^(1/n). What remains are R replicas of the pipeline, which meet
// only at the end of the step:
//
//   step = max over replicas of (the pipeline of the replica, with communication that all share)
//
// The slowest of R replicas without simulating them all. Every pair of a stage and a replica has a
// uniform u. Of every stage the kSlowest largest of its R uniforms are drawn as order statistics
// (ln U_1 = ln V / R, ln U_(j+1) = ln U_j + ln V / (R - j)) and fall to random replicas; the other
// stages of those replicas are drawn below the smallest of them. This is the joint law of the slow
// ones exactly, for any R. The replicas found are ranked by
//
//   max over stages of W_s + sum over stages of W_s / passes,   W_s = computing time of the stage
//
// and the kCandidates first are simulated, each with noise of its own; the step is their maximum.
// Bias: downwards, where a replica that was not simulated is the slowest, because the noise of its
// passes or its order of stages matters more than its rank says. Replicas up to kCandidates are all
// simulated, so that there is none. Measured against all replicas: step_samples_test.cc.
//
// Left out: communication that is hidden behind computing and would show if it were slower (it is
// not in the folded graph), noise within a pass, which is one draw for all of its kernels, and
// the slowest of a lock-step group changing from layer to layer.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "estimate/predicted_step.h"
#include "forecast/variability.h"
#include "parallel/parallel_for.h"

namespace orrery {

// Nodes that are slower than the others for the whole step, in the first replicas of a stage.
struct SlowNodes {
  std::int64_t stage = 0;
  std::int64_t nodes = 1;
  double time = 1.2;  // of their kernels, over that of others
  bool operator==(const SlowNodes&) const = default;
};
Fields<SlowNodes> fields_of(const SlowNodes*);

inline constexpr std::size_t kCandidates = 2;
inline constexpr std::size_t kSlowest = 4;

// The predicted step as it is drawn from.
class VaryingStep {
 public:
  // Refers to `step`.
  explicit VaryingStep(const PredictedStep& step);

  // A node's time by kinds of work, shared by the nodes that are alike.
  struct Shape {
    std::size_t device = 0;
    double time = 0;                          // picoseconds
    std::array<double, kVaryingWork> part{};  // of it; the rest does not vary
    bool operator==(const Shape&) const = default;
  };
  struct Window {
    double from = 0, until = 0;
  };

  [[nodiscard]] const PredictedStep& step() const { return *step_; }
  [[nodiscard]] std::span<const Shape> shapes() const { return shapes_; }
  [[nodiscard]] std::size_t shape_of(std::size_t node) const { return shape_of_node_[node]; }
  [[nodiscard]] std::size_t devices() const { return parts_.size(); }
  // Of a device in the whole step.
  [[nodiscard]] const std::array<double, kVaryingWork>& parts(std::size_t device) const {
    return parts_[device];
  }
  [[nodiscard]] double passes(std::size_t device) const { return passes_[device]; }
  [[nodiscard]] std::int64_t lock_step() const { return lock_step_; }  // accelerators of a stage
  [[nodiscard]] std::int64_t replicas() const { return replicas_; }
  // Accelerators in a node of the site of a device.
  [[nodiscard]] std::int64_t node_size(std::size_t device) const {
    return step_->costs.at(static_cast<int>(device)).cache->context().cluster.accelerators_per_node;
  }
  [[nodiscard]] bool between_nodes(VaryingWork kind) const {
    return between_nodes_[static_cast<std::size_t>(kind)];
  }

 private:
  const PredictedStep* step_;
  std::vector<Shape> shapes_;
  std::vector<std::uint32_t> shape_of_node_;
  std::vector<std::array<double, kVaryingWork>> parts_;
  std::vector<double> passes_;
  std::int64_t lock_step_ = 1;
  std::int64_t replicas_ = 1;
  std::array<bool, kVaryingWork> between_nodes_{};
};

struct StepDraws {
  Variability variability;
  std::array<bool, kVaryingWork> still{};  // kinds that do not vary after all
  std::vector<SlowNodes> slow = {};
  std::uint64_t seed = 1;
  // How many of the slowest replicas are simulated: 1, 2, 4 or 8. All of them if there are no more.
  std::size_t candidates = kCandidates;
};

// By sample, the times of the simulated replicas, the slowest first: `kept` of each.
struct StepSamples {
  std::size_t kept = 1;
  std::vector<double> times_ps;
};
// Sample i depends on the seed and i alone. Of checked spreads and stages that exist.
StepSamples sample_steps(const VaryingStep& work, const StepDraws& draws, std::int64_t samples,
                         int threads, const Progressed& progressed = {});

}  // namespace orrery
