// How much more the busiest of the ranks that hold experts has to do than the mean, and which part
// of the tokens is dropped.
//
//   p_j     part of the routed tokens that choose expert j of E (plan/expert_load.h), 1/E unless
//           stated. Of T rows that a rank routes the expert gets X_j ~ Normal(T p_j, T p_j), of which
//           it takes at most C = f T / E:
//   kept_j = (T p_j - E[max(0, X_j - C)]) / T,   dropped = 1 - sum of kept_j
//   load_r = ep x sum of kept_j over the experts of rank r
//   busiest = max over r of load_r x (1 + sqrt(2 ln ep / (T load_r)))
//
// The last factor is the leading term of the expected maximum of ep Gaussian loads, a slight
// overestimate. No rank computes more than f of the mean, and with padding every rank does f.
//
// Where experts lie (Plan::expert_placement): `numbered`, neighbours by their number on one rank. The
// places of a power law's experts are not known: the mean of the maximum over fixed shuffles is
// taken. `balanced`: the most popular expert first, always to the rank with the least load that has
// a place, as DeepSeek's EPLB packs them (deepseek-ai/EPLB, eplb.py, balanced_packing). Copies of
// experts (redundant_experts) are made of the expert with the most tokens a copy, one by one
// (replicate_experts), and share its tokens evenly.
//
// Not modelled: that popularity differs between layers and changes during training.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace orrery {

struct ExpertBalance {
  double busiest = 1;  // rows of the busiest rank over the mean of all that are routed
  double dropped = 0;  // part of the routed tokens
};

// Of so many routed rows a rank.
ExpertBalance expert_balance(const ExpertLoad& load, const Plan& plan, std::int64_t experts,
                             double rows);

}  // namespace orrery
