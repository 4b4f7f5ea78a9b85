// Which features share a tower: the tower partitioner of disaggregated multi-tower models
// (arXiv 2403.00877), from given similarities of features.
//
//   d(i, j) = 1 - |s(i, j)|   coherent: similar features share a tower
//           = |s(i, j)|       diverse: features that are unlike share one
//   points    in the plane, whose distances come near d: classical scaling (Torgerson 1952), the
//             two largest eigenvalues of -J d^2 J / 2 with J = I - 1/n, by subspace iteration
//   towers    k-means on the points where each tower has n / T features, rounded down or up
//             (constrained k-means: Bradley, Bennett, Demiriz, MSR-TR-2000-65)
//
// Centres begin as the point farthest from the mean and, again and again, the one farthest from all
// centres. Features are assigned nearest first; then single moves and exchanges of two features are
// made while one brings points nearer to their centres. At last features of different towers are
// exchanged while that lessens the sum of d within towers, because few similarities fit into a
// plane. Each sum falls until nothing helps: a local optimum, the same for the same input.
// O(n^2) a pass.
//
// The paper learns the points by gradient descent and has loads of features beside sizes as
// constraints; here loads are reported. Similarities are the cosines of feature vectors, averaged
// over samples of a trained model; they are not computed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/comma_separated.h"
#include "outcome/enum_names.h"
#include "outcome/result.h"

namespace orrery {

enum class TowerStrategy { coherent, diverse };
inline EnumNames<TowerStrategy> names_of(TowerStrategy) {
  static constexpr auto kNames = std::to_array<EnumName<TowerStrategy>>(
      {{TowerStrategy::coherent, "coherent"}, {TowerStrategy::diverse, "diverse"}});
  return kNames;
}

// Of n features, row by row; symmetric, -1 to 1.
struct Similarities {
  std::vector<std::string> features;
  std::vector<double> values;
  [[nodiscard]] double at(std::size_t i, std::size_t j) const {
    return values[i * features.size() + j];
  }
};

struct TowerPartition {
  std::vector<std::int64_t> tower;  // of each feature
  // Mean |similarity| of two features of a tower, and of different towers; empty: there are no two.
  std::optional<double> inside;
  std::optional<double> across;
};

// A header that names the features, then a row of each in that order. Errors, all at once: rows
// that are missing or too many, text that is no number, values outside -1 to 1, a matrix that is
// not symmetric, a feature that is unlike itself. Both hold within 1e-6; what is returned is exact.
Result<Similarities> similarities_of(const CommaSeparated& table);

// Errors: fewer than two towers, more than features.
Result<TowerPartition> partition_towers(const Similarities& similarities, std::int64_t towers,
                                        TowerStrategy strategy);

}  // namespace orrery
