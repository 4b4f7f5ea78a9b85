// Edits of the network and of what is sent over it.
//
//   t = a + n / b                    a latency of one communication, n / b the rest
//   bandwidth by f    t' = a + (t - a) / f
//   latency by f      t' = t + (f - 1) a        latency to x: t' = t - a + x
//   bucket S          communications of one group and kind that follow each other are joined until
//                     the next would exceed S, or until the result of one of them is used: the last
//                     takes max a + sum (t - a), and starts when it would have
//   overlap           streams no longer wait for the communication, only the end of its step does
//   dp N, tp N        groups have N ranks:
//                     t' = a log2 N / log2 n + (t - a) share(N) / share(n),
//                     share(n) = (n - 1) / n of all that is moved (rings; an all-reduce has twice
//                     that, before and after); send and receive: as recorded. N = 1: removed,
//                     with their launches, and waiting for nobody.
//                     tp also scales matrix products, attention and softmax with n / N.
//
// The latency of a communication is not recorded: it is taken as the shortest transfer of its kind
// and group in the run, but at most 20 us (the shortest all-reduces recorded on a node take 19 us;
// validation/traces/TraceLens/README.md).
//
// Source of the shares: Thakur, Rabenseifner, Gropp 2005, section 4. Not modelled: that more ranks
// may cross slower links: combine with `bandwidth`.
#pragma once

#include "outcome/result.h"
#include "whatif/edited_run.h"
#include "whatif/known_division.h"
#include "whatif/whatif.h"

namespace orrery {

Result<std::monostate> apply_bandwidth(EditedRun& run, AppliedEdit& edit);
Result<std::monostate> apply_latency(EditedRun& run, AppliedEdit& edit);
Result<std::monostate> apply_bucket(EditedRun& run, AppliedEdit& edit);
Result<std::monostate> apply_overlap(EditedRun& run, AppliedEdit& edit);
// Errors beside those of what is selected: ranks that the layers cannot be divided by.
Result<std::monostate> apply_ranks(EditedRun& run, AppliedEdit& edit, const KnownDivision& known);

// Of a communication over n ranks, the part of its volume that crosses the slowest link of a ring.
double ring_share(std::string_view collective, double ranks);

// By collective and group, the latency that is assumed.
std::map<std::string, std::int64_t> assumed_latencies_ns(const EditedRun& run);

}  // namespace orrery
