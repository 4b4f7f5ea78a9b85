// No stragglers: no rank takes longer than the ranks do on average.
//
//   even WHERE     t' = t * min(1, mean over ranks of T / T of this rank)
//
// T is what all selected work takes together in one stretch of the run, apart for each class of
// kernels, for threads that launch, and for other threads. Stretches lie between the points that
// ranks have in common: the launches of communications they share, and the ends of steps.
// Communications of groups that do the same (two tensor-parallel groups) are one point: the same
// kind, volume and place in the step. One that a recording lacks, cut off, is none. Ranks are
// compared that came to a point from the same point before it.
//
//   never slower     no time grows, and what starts when all it waits for is done starts no later
//   ranks alike      nothing changes
//   at most          where ranks meet at every point, a stretch takes its mean instead of its
//                    maximum, and max - mean is what ranks wait for each other on average: the
//                    figure of analyze/findings.h
//
// Kept as recorded: transfers, from a launch to its work, how far apart recordings begin, and what
// lies before a rank's first step or after its last. Evens that follow each other compare the same
// run: their order does not matter, and once more changes nothing. `even rank 0; even rank 1` of
// two ranks is `even`, and so is `even host` with `even class NAME` for every class.
//
// Source: ByteDance, "Understanding Stragglers in Large Model Training Using What-if Analysis",
// section 3 (every operation takes the mean over ranks; here as far as it takes longer, and over
// stretches: graphs of profiles have gaps of the host that no operation names).
// One simulation for the points, linear otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "whatif/edited_run.h"
#include "whatif/whatif.h"

namespace orrery {

// The stretches of a run, and the times that evens of it compare.
struct AlignedStretches {
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> of_node;      // threads by their time; kNone: kept
  std::vector<std::uint32_t> of_work;      // by RunGraph::works; by the time of their launch
  std::vector<std::vector<bool>> reached;  // by stretch and trace
  std::vector<std::int64_t> node_ns;       // durations, before any even
  std::vector<bool> launches;              // by lane: a thread that launches work
  std::size_t points = 0;                  // shared by two ranks or more
};
AlignedStretches aligned_stretches(const EditedRun& run);

// `stretches` of the run before the first of the evens that follow each other.
void apply_even(EditedRun& run, AppliedEdit& edit, const AlignedStretches& stretches);

}  // namespace orrery
