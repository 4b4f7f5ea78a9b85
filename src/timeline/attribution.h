// The breakdown of one rank class over a whole simulated graph.
//
// The computing stream of the rank is walked from time zero to the makespan. While it computes,
// time belongs to the category of what it computes (a folded block brings its own breakdown). A gap
// belongs to what ended it: going back from the node that had to wait, each communication that ran
// in the gap takes the part it covers; the rest, in which the rank waited for another rank's
// computing, goes to the graph's idle category (graph/category.h). The parts add up to the makespan
// exactly. O(nodes).
#pragma once

#include <cstdint>
#include <span>

#include "simulate/simulate.h"
#include "timeline/breakdown.h"

namespace orrery {

// `blocks` are the breakdowns that the operations of folded blocks name.
Breakdown attribute(const Graph& graph, const Timeline& timeline, std::uint32_t rank_class,
                    std::span<const Breakdown> blocks);

// The same from one moment to another, between which all that the rank class does must lie.
Breakdown attribute(const Graph& graph, const Timeline& timeline, std::uint32_t rank_class,
                    std::span<const Breakdown> blocks, Picoseconds from, Picoseconds until);

}  // namespace orrery
