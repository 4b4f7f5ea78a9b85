// Would ASTRA-sim take this trace? Its feeder (version 3) and its workload layer, rule by rule.
//
//   structure      identifiers are unique; dependencies name nodes of the file, none itself; no
//                  cycle over data and control dependencies; no METADATA node
//   collectives    not on the host; comm_type a known number, and one that is simulated
//                  (all-reduce, all-gather, all-to-all, reduce-scatter) or replayed (broadcast);
//                  comm_size, of an all-gather enough to be split
//   transfers      comm_size, not 0; comm_dst of a send, comm_src of a receive
//   groups         pg_name a number from 1 of a group that is defined (process_groups.h), has more
//                  than one rank, and this rank; none, or "0", only where no collective has another
//   memory nodes   tensor_size
//   attributes     of the kind that is asked for: whole numbers of any width, texts, boolean lists
//
// Whether all ranks call the same collectives is asked of astra_sim_run.h.
//
// Source: astra-sim/chakra, branch feederv3; astra-sim (518bd51), Workload.cc, Statistics.cc,
// CommunicatorGroup.cc and Sys.cc. O(n log n).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "outcome/result.h"
#include "trace/chakra/chakra_trace.h"

namespace orrery {

struct ChakraFinding {
  std::uint64_t node = 0;
  std::string message;
  bool operator==(const ChakraFinding&) const = default;
};

enum class AbsentDependencies : std::uint8_t { report, count_as_done };

enum class ControlDependencies {
  heed,    // as version 3 of the feeder does
  ignore,  // as version 1 did
};

struct ChakraCheckOptions {
  AbsentDependencies absent = AbsentDependencies::report;
  std::vector<std::string> groups = {};  // known besides those of the trace
  std::size_t most = 100;                // findings kept; all are counted
  std::int64_t rank = -1;                // whose trace it is; -1: unknown
  std::int64_t ranks = 0;                // of the job; 0: unknown
};

struct ChakraReport {
  std::vector<ChakraFinding> findings;
  std::size_t total = 0;
  std::int64_t absent = 0;  // dependencies on nodes that are not in the file
  // All-reduces, all-to-alls and reduce-scatters of 0 bytes, which ASTRA-sim takes for a few.
  std::int64_t without_size = 0;
  [[nodiscard]] bool accepted() const { return total == 0; }
  void add(ChakraFinding finding) {
    ++total;
    findings.push_back(std::move(finding));
  }
};

ChakraReport check_chakra(const ChakraTrace& trace, const ChakraCheckOptions& options = {});

// The nodes of a trace as indices: in an order in which each stands behind what it waits for, lower
// identifiers first among those that could go next; and what each waits for, absent nodes left out.
struct ChakraOrder {
  std::vector<std::uint32_t> nodes;
  std::vector<std::uint32_t> before;  // of node n from offsets[n] to offsets[n + 1]
  std::vector<std::uint32_t> offsets = {0};
};

// Errors: two nodes of one identifier, an absent dependency unless it counts as done, a cycle;
// `name` stands in errors.
Result<ChakraOrder> chakra_order(const ChakraTrace& trace, const std::string& name,
                                 AbsentDependencies absent,
                                 ControlDependencies control = ControlDependencies::heed);

}  // namespace orrery
