// Which communication nodes of different ranks are one communication.
//
//   collective   the k-th of each rank in a group, which is its name and its ranks: pg_name names a
//                group of the rank (process_groups.h); none, "" and "0" are all ranks
//   transfer     the k-th send from comm_src to comm_dst with comm_tag, and the k-th receive of the
//                same; the rank itself where comm_src of a send or comm_dst of a receive is absent
//
// k counts in the order of recorded start times, or of dependencies where none are recorded. Ranks
// that were not given are missing from their meetings; so are those that call fewer (recordings are
// cut at different moments).
//
// Nodes that a group of communication would not take are computation: older converters called
// operators of the host COMM_COLL, without a comm_type.
//
// Source: astra-sim, Workload.cc. Errors: ranks of one group that call different collectives at one
// place, a rank that is in none of the group's ranks, a negative size. O(n log n).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "outcome/result.h"
#include "trace/chakra/chakra_check.h"
#include "trace/chakra/chakra_run.h"
#include "trace/chakra/process_groups.h"

namespace orrery {

// A node of a rank: indices into the run, and into the nodes of its trace.
struct ChakraMember {
  std::uint32_t rank = 0;
  std::uint32_t node = 0;
  bool operator==(const ChakraMember&) const = default;
};

struct ChakraMeeting {
  bool transfer = false;  // of two ranks
  ChakraCollective collective = ChakraCollective::all_reduce;
  std::uint32_t group = 0;  // of a collective, into ChakraMeetings::groups
  std::int64_t from = 0;    // of a transfer: ranks of the job
  std::int64_t to = 0;
  std::int64_t bytes = 0;                  // comm_size, the largest of its members
  std::vector<ChakraMember> members = {};  // by rank; of a transfer the sender before the receiver
};

struct ChakraMeetings {
  std::vector<NamedGroup> groups;  // ranks ascending; none: all
  std::vector<ChakraMeeting> meetings;
  std::vector<std::string> undefined;  // names of groups no node defines, taken for all ranks
};

// Whether the node communicates on a device, and says what.
bool communicates(const ChakraNode& node);

// `orders`: of each rank.
Result<ChakraMeetings> chakra_meetings(const ChakraRun& run, std::span<const ChakraOrder> orders);

}  // namespace orrery
