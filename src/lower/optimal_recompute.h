// Which activations to compute again so that a plan fits into memory at the least cost
// (recompute=optimal).
//
// Settings s: none, full, and selective with every set of modules that the model has. A plan
// recomputes by one setting the first n layers of each virtual stage. More layers keep less and
// take longer, so of each setting the least n that fits is found by halving; the plan with the
// lowest bound of its step time (step_costs.h) is taken, of equal ones the first. The search is
// exact in these plans: all settings are tried.
//
// What no mixture of settings can beat, even one of parts of layers, is a linear program for each
// device, with b_s its backward, a_s its activations in flight where all its layers follow s, F the
// least that any setting needs beside activations, and M its memory:
//
//   least sum x_s b_s   with   sum x_s = 1,  F + sum x_s a_s <= M,  x_s >= 0
//
// Two constraints leave at most two settings in its solution, so all pairs are compared. Without a
// mixture that fits there is no bound.
// Compare arXiv 1910.02653 (Checkmate), which solves the same question for single operators as an
// integer program and bounds it by the same relaxation.
#pragma once

#include <optional>

#include "lower/step_costs.h"

namespace orrery {

struct OptimalRecompute {
  Plan plan;                         // with a setting in place of `optimal`; full where none fits
  Picoseconds added;                 // computing of a step that the device with the most does again
  std::optional<Picoseconds> bound;  // of `added`
};

OptimalRecompute optimal_recompute(CostCache& cache, const Plan& plan);

// In words, for those who did not state the setting.
std::string in_words(const OptimalRecompute& chosen);

}  // namespace orrery
