// How unevenly tokens choose their experts, and what becomes of tokens that are too many.
//
//   expert_load: {file: loads.csv}          columns expert and tokens, experts from 0 in any order
//   expert_load: {tokens: [120, 80, ...]}   the same, written out
//   expert_load: {power_law: 0.5}           the i-th most popular expert gets a share proportional to
//                                           i^-0.5
//   expert_load: {max_violation: 0.04}      the most popular one gets 1.04 times the mean (MaxVio of
//                                           arXiv 2408.15664 s.4.1)
//
// With `capacity_factor` an expert takes at most so many times the mean of each rank's tokens, and
// the others are dropped (GShard, arXiv 2006.16668 s.2.2; Switch, arXiv 2101.03961 s.2.2);
// with `padded` it always computes that many. What follows for the ranks: lower/expert_balance.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "document/fields.h"
#include "outcome/result.h"

namespace orrery {

struct Model;

struct ExpertLoad {
  std::vector<double> tokens = {};  // of each expert; only ratios matter; empty: equally many
  std::string file = {};            // instead, until it is read
  double power_law = 0;
  double max_violation = 0;
  double capacity_factor = 0;  // 0: no token is dropped
  bool padded = false;
  bool operator==(const ExpertLoad&) const = default;
};
Fields<ExpertLoad> fields_of(const ExpertLoad*);

inline constexpr std::int64_t kMostExperts = 1 << 16;

// The tokens of each expert, by its number. Errors: a missing column; a row whose expert is no
// number below kMostExperts or is named twice, or whose tokens are no number from 0, named by its
// line; experts that have no row.
Result<std::vector<double>> read_expert_tokens(std::string_view text, std::string name);

// Why experts of the model cannot be loaded so; empty if they can.
std::vector<std::string> expert_load_problems(const ExpertLoad& load, const Model& model);

}  // namespace orrery
