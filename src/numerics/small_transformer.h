// A transformer small enough to be trained on a CPU in seconds, to see how far a numeric change
// moves its weights (arXiv 2405.02803, section 4).
//
//   x = E[token] + P[position];  per layer  x += A(n(x) Wq, n(x) Wk, n(x) Wv) Wo;
//   x += relu(n(x) W1) W2;       logits = n(x) U;   n(x) = x / sqrt(mean x^2 + 1e-5)
//
// A is causal attention by one of the ways of numerics/attention.h. In a format narrower than fp32,
// weights and inputs of products, their results and the gradients of activations are rounded to
// it; sums within products, gradients of weights, Adam's moments and the weights themselves stay in
// fp32, and the loss is multiplied by 1,024 where the format has less than 8 exponent bits. Tokens
// are drawn: with probability 0.9 the one that a random table gives for the two before it, else any.
//
// Adam with b1 = 0.9, b2 = 0.95, eps = 1e-8 and a fixed learning rate. Everything runs in a fixed
// order, so that a run is the same on every machine and with any number of threads, up to the last
// bits of the exponential function. Left out: dropout, clipping, learning rate schedules, biases.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "numerics/attention.h"
#include "numerics/tensor_file.h"
#include "parallel/parallel_for.h"

namespace orrery {

struct SmallTransformer {
  std::size_t vocabulary = 32;
  std::size_t positions = 32;
  std::size_t width = 32;
  std::size_t heads = 2;
  std::size_t layers = 2;
  std::size_t batch = 8;  // sequences
  double learning_rate = 3e-3;
};

struct TrainingNumerics {
  FloatFormat format = kFloat32;
  AttentionNumerics attention;
};

// Is told the weights after each step, the loss of the step, and the gradients of the weights.
struct TrainingStep {
  int step;  // from 1
  double loss;
  const std::vector<WrittenTensor>& weights;
  const std::vector<WrittenTensor>& gradients;
};
// Trains from weights drawn with `seed`; tokens are drawn with `data_seed`. Gives the weights. Error:
// a step after which the loss or a weight is infinite or NaN, which ends the training.
Result<std::vector<WrittenTensor>> train(
    const SmallTransformer& model, const TrainingNumerics& numerics, int steps, std::uint64_t seed,
    std::uint64_t data_seed, const std::function<void(const TrainingStep&)>& after_step = {});

// The loss of the first step if element `at` of a weight's initial values were larger by `moved`: for
// finite differences.
double training_loss(const SmallTransformer& model, const TrainingNumerics& numerics,
                     std::uint64_t seed, std::uint64_t data_seed, std::size_t weight,
                     std::size_t at, float moved);

// How far two sets of finite weights are apart, over all tensors as one.
struct WeightDistance {
  double largest = 0;
  double mean = 0;
  double wasserstein = 0;  // means over the tensors' elements of the distances of each tensor
};
WeightDistance weight_distance(const std::vector<WrittenTensor>& a,
                               const std::vector<WrittenTensor>& b);

struct TrainingQuestion {
  SmallTransformer model;
  FloatFormat format = kFp16;
  std::size_t tile = 8;  // keys
  int steps = 200;
  std::uint64_t seed = 1;
  int seeds = 3;
};
// Distances at the last step of the training, at half of it, a quarter and so on. Attention alone is in `format`, and everything else in
// fp32, in the first and the last: where two runs round all they compute, any difference soon makes
// their roundings independent, and their distance is that of the format.
struct TrainedPair {
  std::uint64_t seed = 0;
  int step = 0;
  WeightDistance flash;       // baseline and flash attention as kernels compute it
  WeightDistance fp32;        // everything in the format, and everything in fp32
  WeightDistance other_seed;  // baseline attention, and the same from other initial weights
};
struct TrainingStudy {
  TrainingQuestion question;
  std::vector<TrainedPair> pairs;  // by seed, then step
  std::vector<double> first_loss;  // of each seed, with baseline attention
  std::vector<double> last_loss;
  // Of the first seed: the runs by name, and the gradients of a part of each tensor at each step.
  std::vector<std::pair<std::string, std::vector<WrittenTensor>>> runs;
  std::vector<WrittenTensor> gradients;
};
// Error: a training that ends before its last step; the first one, by seed.
Result<TrainingStudy> training_study(const TrainingQuestion& question, int threads,
                                     const Progressed& progressed = {});

}  // namespace orrery
