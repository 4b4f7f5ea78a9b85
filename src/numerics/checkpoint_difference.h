// How far the weights of two checkpoints are from each other, tensor by tensor (arXiv 2405.02803,
// section 4):
//
//   largest, mean   of |a_i - b_i|
//   W1              Wasserstein distance of the two sets of values, the integral of |F(x) - G(x)|, F
//                   and G the shares of values up to x
//
// Values are counted by their bits in ascending order, so that memory does not grow with the tensors.
// For types of 8 and 16 bits every code has a count, and W1 is exact. fp32 is counted by its highest
// 20 bits, with the sum of the rest: a bin is 2^-11 of its values wide. Where F - G has one sign
// throughout a bin, its share of W1 is exact too; elsewhere it lies between the absolute value of
// the integral of F - G and
//
//   min(width max(|F - G| that is possible), |F - G| at its beginning width + distances to its end)
//
// W1 is also at most the mean of |a_i - b_i|: moving every weight to its partner is one way to move
// them all. The two bounds are reported; sums of bits are whole numbers, so that no figure depends
// on the number of threads.
//
// Pairs of which one is infinite or NaN are counted and take part in nothing else. Left out:
// fp64, and tensors of whole numbers, which are named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "numerics/tensor_file.h"
#include "parallel/parallel_for.h"

namespace orrery {

struct TensorDifference {
  std::string name;
  std::string type;
  std::int64_t elements = 0;
  double largest = 0;
  double mean = 0;
  double wasserstein = 0;          // at least
  double wasserstein_at_most = 0;  // equal to it for types of 16 bits
  double rms = 0;                  // of the first tensor, for scale
  std::int64_t not_finite_first = 0;
  std::int64_t not_finite_second = 0;
};

struct CheckpointDifference {
  std::string first;
  std::string second;
  std::vector<TensorDifference> tensors;  // in the order of the first file
  std::vector<std::string> left_out;      // names of tensors that are not compared
  // Of all tensors: the largest, and means over the elements.
  TensorDifference all;
};

// Errors: files that cannot be read; tensors that only one of them has; other shapes or types.
Result<CheckpointDifference> checkpoint_difference(const std::string& first,
                                                   const std::string& second, int threads,
                                                   const Progressed& progressed = {});

}  // namespace orrery
