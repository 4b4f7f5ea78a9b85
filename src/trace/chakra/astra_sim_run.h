// Does every rank of a job finish in ASTRA-sim? The traces of its ranks, each accepted by itself
// (chakra_check.h), run as ASTRA-sim runs them:
//
//   lanes         one operation of the host, one computation and one communication of a rank at a
//                 time; receives wait beside them. What is ready goes by its identifier
//   collectives   the k-th that a rank begins in a numbered group meets the k-th of the others; the
//                 k-th without a group counts all collectives of the rank. All must be of one kind
//                 and size, or nobody leaves. A broadcast waits for nobody
//   transfers     the k-th receive of one source, tag and size meets the k-th such send, which
//                 waits for nobody
//
// Operations take their recorded times, a nanosecond at least; transfers nothing more, a collective
// the shortest of its ranks. Which collective a rank begins first may depend on these times: a job
// that finishes here could still hang at other times, if its ranks begin the collectives of
// two groups in orders that depend on them. Ranks that were not given are waited for by nobody.
//
// Source: astra-sim (518bd51), Workload.cc, HardwareResource.cc, Sys.cc. O(n log n).
#pragma once

#include <vector>

#include "trace/chakra/chakra_check.h"
#include "trace/chakra/chakra_run.h"

namespace orrery {

struct AstraSimStop {
  std::size_t rank = 0;  // an index into the run
  ChakraFinding finding;
  bool operator==(const AstraSimStop&) const = default;
};

// Where ranks hang, at most one place a rank; none if all finish. Errors: as chakra_order.
Result<std::vector<AstraSimStop>> astra_sim_run(
    const ChakraRun& run, AbsentDependencies absent = AbsentDependencies::report);

}  // namespace orrery
