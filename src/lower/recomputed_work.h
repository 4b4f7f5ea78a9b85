// Which part of a block's forward the backward runs again, and when.
//
//   none       nothing
//   selective  the plan's modules (plan/recompute_modules.h); by default the attention core
//   alternate  all but attention and every second matrix product: a checkpoint whose policy keeps
//              their results by the order in which products are called, as torchtitan's default
//              does (torchtitan/parallelisms/parallelize_llama.py of 2024, _get_custom_policy:
//              products are counted, the even ones computed again; attention and reduce-scatters
//              are kept). Queries, keys and values are three products, gate and up two. Grouped
//              products are no such call and run again.
//   full       all of it, or up to the input of the last product where a checkpoint stops early
//
// Shares of a product are shares of its columns. Not modelled: a policy that counts on from block
// to block (an odd number of products would change places every second layer); that an activation
// inside a layer that is computed again is made twice where both modules are named.
#pragma once

#include <cstddef>
#include <vector>

#include "model/model.h"
#include "plan/plan.h"

namespace orrery {

// What the modules of selective recomputation discard of the bytes an operator keeps.
enum class Discarded { nothing, input, all_but_input, all };

struct RecomputedOperator {
  double share = 0;  // of its forward that runs again
  Discarded discarded = Discarded::nothing;
  // Both are there again before the backward of the operator of this index begins. Under
  // `alternate` and `full` that is the backward of the block.
  std::size_t before = 0;
};

// What is computed again, and how many operators a whole forward again would run.
struct Recomputation {
  Recompute policy = Recompute::none;
  RecomputeModuleSet modules;
  std::size_t end = 0;
};

// One for each operator of the block.
std::vector<RecomputedOperator> recomputed_work(const Block& block, const Recomputation& what);

}  // namespace orrery
