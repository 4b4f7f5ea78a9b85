// Which share of a block's forward the backward runs again.
//
//   none       nothing
//   selective  the attention core (arXiv 2205.05198 s.5)
//   alternate  all but attention and every second matrix product: a checkpoint whose policy keeps
//              their results by the order in which products are called, as torchtitan's default
//              does (torchtitan/parallelisms/parallelize_llama.py of 2024, _get_custom_policy:
//              products are counted, the even ones computed again; attention and reduce-scatters
//              are kept). Queries, keys and values are three products, gate and up two. Grouped
//              products are no such call and run again.
//   full       all of it, or up to the input of the last product where a checkpoint stops early
//
// Shares of a product are shares of its columns. Not modelled: a policy that counts on from block
// to block (an odd number of products would change places every second layer).
#pragma once

#include <cstddef>
#include <vector>

#include "model/model.h"
#include "plan/plan.h"

namespace orrery {

// One share for each operator; `end`: how many operators a whole forward again would run.
std::vector<double> recomputed_shares(const Block& block, Recompute recompute, std::size_t end);

}  // namespace orrery
