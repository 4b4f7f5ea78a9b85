// Shares of what ZeRO divides, in sites whose accelerators have different memory.
//
// Even shares leave an accelerator with much memory, or with little work, room that others lack.
// Divided by memory (Cephalo, arXiv 2411.01075 s.4.2: the division of states apart from that of
// compute), a rank of site k holds s_k times the mean share, so that all ranks have as much left:
//
//   c_k - a_k - s_k b_k = h,   sum_k n_k s_k = sum_k n_k,   s_k >= 0
//
// c_k: its capacity, a_k: its peak without such states, b_k: what a mean share adds, n_k: ranks of the
// site. Where s_k would be below 0 the site holds none and the others share its part.
//
// A collective of uneven shards takes as long as one of as many shards of the largest size, and the
// update as long as in the slowest site. Not modelled: shards of a size chosen for each layer.
#pragma once

#include <vector>

#include "lower/step_costs.h"

namespace orrery {

// Sets the shares of the sites of a step whose replicas lie across them, and prices their updates.
void divide_states_by_memory(std::vector<StepCosts>& sites);

}  // namespace orrery
