// Time of a collective taken level by level: reduce-scatter outwards, all-gather inwards.
//
//   t(all-gather or reduce-scatter) = sum over levels l of
//                                     (k - 1) a[l] + (k - 1) / k * (n / m[l-1]) / b[l]
//   t(all-reduce)                   = twice that
//
// k = m[l] / m[l-1] units joined at level l, a[l] the latency of one step there (s), b[l] one
// accelerator's bandwidth (B/s). The phases run one after the other, so bandwidth terms add up. At
// the outermost level a tree may replace the ring: depth a[l] instead of (k - 1) a[l]. With the
// phases' chunks pipelined (collectives that overlap level by level) the sum of bandwidth terms
// becomes their greatest plus the fill; see Phases.
//
// Source: two-level all-reduce as in Thakur, Rabenseifner, Gropp 2005 (ring terms) composed over
// levels. Checked in: hierarchical_test.cc (1 GiB over 16 nodes of 8: 10730 us). NCCL does not
// choose this algorithm by itself; software that issues one collective per level does.
#pragma once

#include "cost/collective/collective.h"
#include "cost/collective/communication_path.h"

namespace orrery {

enum class Phases { in_sequence, pipelined };
enum class Outermost { ring, tree };

// Pipelined phases take the greatest bandwidth term and, to fill the pipeline, one chunk
// (n / chunks) through the others.
struct HierarchicalOptions {
  Phases phases = Phases::in_sequence;
  Outermost outermost = Outermost::ring;
  int chunks = 8;  // NCCL's buffer has 8 slots a channel
};

// Returns an infinite time for all-to-all and broadcast.
Seconds hierarchical_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                          Protocol protocol, const CollectiveParameters& parameters);
Seconds hierarchical_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                          Protocol protocol, const CollectiveParameters& parameters,
                          const HierarchicalOptions& options);

}  // namespace orrery
